use agents::prelude::*;

/// Finds.
#[agents::tool(none)]
async fn find() -> String {
    String::new()
}

/// Repairs.
#[agent]
fn json_fixer(broken: String) -> String {
    broken
}

/// You look for things.
#[agent(tools = [find, "find"], fixers = [json_fixer])]
async fn seeker(what: String) -> String;

fn main() {}
