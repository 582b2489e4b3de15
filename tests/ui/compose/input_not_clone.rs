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

/// Not to be had twice.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Once(String);

/// Opens it.
#[agent]
fn open(once: Once) -> String {
    once.0
}

fn main() {
    let _ = first_of((Open, Open));
    let _ = (Open, Open).then(Count);
}
