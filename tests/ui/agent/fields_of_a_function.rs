use agents::{prelude::*, tool};

/// Searches.
#[tool(reads)]
async fn search(/** For what. */ words: String, #[inject] shelf: Vec<String>) -> usize {
    shelf.iter().filter(|book| **book == words).count()
}

/// You search.
#[agent(model = self.model.clone(), tools = [Search { shelf: self.shelf.clone() }])]
async fn searcher(request: String) -> String;

fn main() {
    let _ = Searcher;
}
