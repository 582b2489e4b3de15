use agents::{AgentBuilder, prelude::*, tool};

/// Searches.
#[tool(reads)]
async fn search(#[inject] pool: String) -> String {
    pool
}

/// You look for things.
#[agent(tools = [Search])]
async fn seeker(what: String) -> String;

fn main() {
    let _ = AgentBuilder::<String, String>::new("builder").tool(Search);
}
