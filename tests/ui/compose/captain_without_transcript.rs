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

use agents::compose::forum;

fn main() {
    let _ = forum((Shout, Shout)).captain(Shout);
    let _ = forum((Shout, Shout)).captain("me");
}
