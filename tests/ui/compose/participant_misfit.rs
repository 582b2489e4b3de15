use agents::prelude::*;

/// Counts.
#[agent]
fn count(text: String) -> usize {
    text.len()
}

/// Shouts.
#[agent]
fn shout(text: String) -> String {
    text.to_uppercase()
}

use agents::compose::{Transcript, forum};

/// Knows about cities alone.
#[agent]
fn expert(heard: Transcript<u64>) -> String {
    heard.to_string()
}

/// Decides.
#[agent]
fn decide(all: Transcript<String>) -> String {
    all.topic
}

fn main() {
    let _ = forum((Shout, Count)).captain(Decide);
    let _ = forum((Shout, Expert)).captain(Decide);
    let _ = forum(Shout).captain(Decide);
}
