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

struct Clerk;

#[agent(prompt = "You are a clerk.", purpose = agents::PurposeKey::AgentTurn)]
impl Clerk {
    /// Rates a text.
    #[skill(purpose = "scoring")]
    async fn rate(&self, text: String) -> u32;

    /// Counts the bytes.
    #[skill(purpose = agents::PurposeKey::Scoring)]
    async fn count(&self, text: String) -> Result<u32, Error> {
        Ok(text.len() as u32)
    }
}

fn main() {}
