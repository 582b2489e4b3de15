use agents::prelude::*;

/// You whisper.
#[agent]
fn whisper(text: String) -> Result<String, Error>;

/// You hum.
#[agent]
async fn hum(text: String);

fn main() {}
