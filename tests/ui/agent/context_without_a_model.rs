use agents::prelude::*;

/// Doubles a number; no model is asked.
#[agent(context = trim(at = 0.75))]
async fn double(number: u32) -> u32 {
    number * 2
}

fn main() {}
