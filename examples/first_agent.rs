//! The first program of the front page: a tool, and an agent that uses it.
//!
//! `cargo run --example first_agent` asks the model `qwen3:4b` of an Ollama.

use agents::prelude::*;

/// Say how many copies of a book are on the shelf.
#[agents::tool(reads)]
async fn copies(
    /// Title of the book.
    title: String,
) -> u32 {
    if title == "Emma" { 3 } else { 0 }
}

/// You look after a shelf of books. Look before you answer.
#[agent(model = ollama("qwen3:4b"), tools = [Copies])]
async fn librarian(question: String) -> bool;

#[tokio::main]
async fn main() -> Result<(), Error> {
    println!("{}", Librarian.run("Do you have Emma?").await?);
    Ok(())
}
