use agents::prelude::*;

/// You read.
#[agent(model = ollama("qwen3:4b"))]
async fn reader(request: String) -> String;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let answer: String = Reader.run("What is in a.txt?");
    println!("{answer}");
}
