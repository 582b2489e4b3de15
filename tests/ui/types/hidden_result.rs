use agents::{prelude::*, tool};

type Found = Result<String, std::fmt::Error>;

/// Finds.
#[tool(none)]
async fn find() -> Found {
    Ok(String::new())
}

/// Shouts.
#[agent]
fn shout(text: String) -> Found {
    Ok(text)
}

fn main() {}
