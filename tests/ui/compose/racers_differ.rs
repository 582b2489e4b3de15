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
    let _ = first_of((Shout, Count));
    let _ = first_of(Shout);
}
