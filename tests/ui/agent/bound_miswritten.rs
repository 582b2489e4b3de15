use agents::prelude::*;

/// You read.
#[agent(budget(turns = 3, time = 5))]
async fn reader(request: String) -> String;

fn main() {}
