use agents::prelude::*;

/// You diagnose.
#[agent(purpose = "reasoning")]
async fn diagnose(scan: String) -> String;

/// You score.
#[agent(model = ollama("qwen3:4b"), purpose = agents::PurposeKey::Scoring)]
async fn score(text: String) -> u32;

/// Adds.
#[agent(purpose = agents::PurposeKey::Scoring)]
async fn add(text: String) -> Result<u32, Error> {
    Ok(text.len() as u32)
}

fn main() {}
