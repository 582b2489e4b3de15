use serde::{Deserialize, Serialize};

/// Effects of a tool on the outside world, ordered `None < Reads < Writes`.
///
/// A tool has to declare its effects: there is no default. A listed tool whose effects are not known counts as one that
/// writes.
///
/// ```
/// # use agents_core as agents;
/// use agents::Effects;
///
/// assert!(Effects::None < Effects::Reads && Effects::Reads < Effects::Writes);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effects {
    /// The tool is a pure function: it neither reads nor changes the outside world.
    None,
    /// The tool reads from the outside world.
    Reads,
    /// The tool changes the outside world.
    Writes,
}
