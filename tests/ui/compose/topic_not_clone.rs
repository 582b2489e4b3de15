use agents::{compose::{Transcript, forum}, prelude::*};

/// Not to be had twice.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Once(String);

/// Speaks.
#[agent]
fn critic(heard: Transcript<Once>) -> String {
    heard.topic.0
}

/// Decides.
#[agent]
fn decide(all: Transcript<Once>) -> String {
    all.topic.0
}

fn main() {
    let _ = forum((Critic, Critic)).captain(Decide);
}
