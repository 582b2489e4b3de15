use agents::prelude::*;

/// You read.
#[agent(model = ollama("qwen3:4b"))]
async fn reader(request: String) -> String;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let answer = Reader.run("What is in a.txt?")?;
    println!("{}", Reader.run("What is in a.txt?"));
    Reader.run("What is in a.txt?");
    println!("{answer}");
    Ok(())
}
