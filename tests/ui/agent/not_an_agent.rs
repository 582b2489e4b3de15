use agents::prelude::*;

/// An agent?
#[agent]
struct Manager;

fn main() {}
