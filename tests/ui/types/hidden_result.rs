use agents::{prelude::*, tool};

type Found = Result<String, String>;
type Told = Result<String, std::fmt::Error>;

/// Finds.
#[tool(none)]
async fn find() -> Found {
    Ok(String::new())
}

/// Tells.
#[tool(none)]
async fn tell() -> Told {
    Ok(String::new())
}

/// Shouts.
#[agent]
fn shout(text: String) -> Found {
    Ok(text)
}

/// Whispers.
#[agent]
fn whisper(text: String) -> Told {
    Ok(text)
}

fn main() {}
