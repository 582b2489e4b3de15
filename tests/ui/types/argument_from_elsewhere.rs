//! Of an argument it is said how it is read, or how it is described: its type brings the other.
use agents::tool;
use serde::{Deserialize, Deserializer};

/// As another crate might have it.
struct Stamp(u64);

fn stamp<'de, D: Deserializer<'de>>(from: D) -> Result<Stamp, D::Error> {
    u64::deserialize(from).map(Stamp)
}

/// Waits.
#[tool(none)]
async fn wait(
    /// Until.
    #[serde(deserialize_with = "stamp")]
    until: Stamp,
) -> u64 {
    until.0
}

/// Sleeps.
#[tool(none)]
async fn sleep(
    /// Until.
    #[schemars(with = "u64")]
    until: Stamp,
) -> u64 {
    until.0
}

/// Rests.
#[tool(none)]
async fn rest(
    /// Until.
    until: Stamp,
) -> u64 {
    until.0
}

fn main() {}
