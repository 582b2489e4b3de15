use agents::prelude::*;

/// You read.
#[agent(budget(tokens(500), max_turns = 3))]
async fn reader(request: String) -> String;

/// You write.
#[agent(budget(max_turns))]
async fn writer(request: String) -> String;

async fn work() -> Result<(), Error> {
    Reader.run("What is in a.txt?").budget(max_turns = 3).await?;
    Writer.run("What is in a.txt?").budget(3).await?;
    Ok(())
}

fn main() {}
