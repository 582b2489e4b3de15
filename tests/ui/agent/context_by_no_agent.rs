use agents::prelude::*;

/// Reads a lot.
#[agent(context = compact(at = 0.75, by = "summariser"))]
async fn reader(task: String) -> String;

fn main() {}
