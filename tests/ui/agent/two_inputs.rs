use agents::prelude::*;

/// Merges two texts.
#[agent]
fn merge(left: String, right: String) -> String {
    left + &right
}

/// Merges two texts.
#[agent]
fn merge_in(cx: &ToolContext, text: String, other: &ToolContext) -> String {
    text
}

fn main() {}
