use agents::prelude::*;

/// Merges two texts.
#[agent]
fn merge(left: String, right: String) -> String {
    left + &right
}

/// Merges two texts.
#[agent]
fn merge_in(cx: &ToolContext, text: String, other: &ToolContext) -> String {
    format!("{text}{}{}", cx.call_id(), other.call_id())
}

fn main() {}
