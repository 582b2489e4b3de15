use agents::prelude::*;

/// Shouts.
#[agent]
fn shout(text: &str) -> String {
    text.to_uppercase()
}

/// You whisper.
#[agent]
async fn whisper(text: &str) -> &'static str;

fn main() {}
