use agents::{prelude::*, tool};

/// Finds.
#[tool(none)]
async fn find() -> String {
    String::new()
}

/// You look for things.
#[agent(tools = [find, "find"])]
async fn seeker(what: String) -> String;

fn main() {}
