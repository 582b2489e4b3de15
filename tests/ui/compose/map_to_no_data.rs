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

fn main() {
    let _ = Shout.map(|text| std::time::Instant::now());
    let _ = Shout.map(|text: usize| text);
}
