use agents::prelude::*;

/// Repeats.
#[agent]
fn repeat(text: String) -> String {
    text
}

fn main() {
    let _ = branch!(match verdict { text => Repeat.run(text) });
    let _ = branch!();
}
