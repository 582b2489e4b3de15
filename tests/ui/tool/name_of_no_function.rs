use agents::prelude::*;

/// Searches.
#[agents::tool(reads, name = "Web Search")]
async fn search() {}

/// Asks.
#[agent(name = 3)]
async fn ask(question: String) -> String;

fn main() {
    let _: (Search, Ask);
}
