use agents::prelude::*;

/// You are a clerk.
#[agent(memory = String::new())]
async fn clerk(request: String) -> String;

fn main() {}
