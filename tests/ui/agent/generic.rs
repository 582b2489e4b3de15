use agents::prelude::*;

/// Shouts.
#[agent]
fn shout<T: ToString>(text: T) -> String {
    text.to_string()
}

fn main() {}
