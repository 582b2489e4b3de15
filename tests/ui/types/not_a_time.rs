use agents::{run::tokens, tool};

/// Pays.
#[tool(writes, idempotent(for = tokens(24)))]
async fn pay() {}

fn main() {}
