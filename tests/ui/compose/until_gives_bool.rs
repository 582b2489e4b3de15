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
    let _ = Shout.until(|text| text.len() > 3);
    let _ = Shout.until(|text| if text.len() > 3 { Done(text) } else { Again(3) });
    let _ = Shout.until(|text: u32| if text > 3 { Done(text) } else { Again(String::new()) });
}
