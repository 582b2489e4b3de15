use agents::prelude::*;

/// You count.
#[agent(on_tool_use = "count.log")]
async fn count(text: String) -> u32;

/// You guess.
#[agent(on_tool_use = |name, result| println!("{name} {result:?}"))]
async fn guess(text: String) -> u32;

/// You sum up.
#[agent(on_tool_us = |name, _, _| println!("{name}"))]
async fn sum_up(text: String) -> String;

/// Shouts.
#[agent(on_tool_use = |name, _, _| println!("{name}"))]
fn shout(text: String) -> String {
    text.to_uppercase()
}

fn main() {}
