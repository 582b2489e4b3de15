use agents::{run::hours, tool};

/// Pays.
#[tool(writes, idempotent(for = 24))]
async fn pay() {}

/// Books.
#[tool(writes, idempotent(for = "a day"))]
async fn book() {}

/// Sends.
#[tool(writes, idempotent(hours(24)))]
async fn send() {}

/// Signs.
#[tool(writes, idempotent = true)]
async fn sign() {}

/// Wires.
#[tool(writes, for = hours(24))]
async fn wire() {}

/// Looks.
#[tool(reads, idempotent(for = hours(24)))]
async fn look() {}

/// Stamps.
#[tool(writes, idempotent(for: hours(24)))]
async fn stamp() {}

fn main() {}
