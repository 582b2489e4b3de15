use agents::prelude::*;

#[agent]
fn shout(text: String) -> String {
    text.to_uppercase()
}

#[agent]
async fn whisper(text: String) -> String;

fn main() {}
