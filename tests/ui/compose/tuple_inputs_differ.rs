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

/// Doubles.
#[agent]
fn double(number: u32) -> u32 {
    2 * number
}

async fn all() {
    let _ = (Shout, Count, Double).run("x").await;
}

fn main() {
    let _ = Shout.then((Shout, Double));
    let _ = (Shout, Double).then(Count);
    let _ = agents::compose::settled((Shout, Double));
    let _ = agents::compose::settled(Shout);
}
