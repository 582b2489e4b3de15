//! A tool and an agent whose functions' names would leave types that are there already.

use agents::{Agent as _, prelude::*};

/// A search of the user's.
#[derive(Debug)]
struct Search;

/// An agent of the user's.
#[derive(Debug)]
struct Clerk;

/// Searches.
#[agents::tool(reads, name = "web_search")]
async fn search() -> String {
    String::new()
}

/// You file.
#[agent(name = "first_clerk", tools = [WebSearch])]
async fn clerk(question: String) -> String;

/// You file with keys.
struct Filer;

#[agent(name = "second_clerk", prompt = "You file.")]
impl Filer {
    /// Files.
    #[skill]
    async fn file(&self, what: String) -> String;
}

pub(super) fn main() {
    assert_eq!(FirstClerk.name(), "first_clerk");
    assert_eq!(Filer.name(), "second_clerk");
    println!("{Search:?} {Clerk:?} {WebSearch:?}");
}
