use agents::{prelude::*, tool::ToolSet};

/// You count.
#[agent]
async fn counter(text: String) -> u32;

struct Clock {
    zone: String,
}

/// You tell the time.
#[agent(tools = [Counter, Clock { zone: "UTC".to_owned() }, ToolSet::new()])]
async fn speaker(question: String) -> String;

fn main() {}
