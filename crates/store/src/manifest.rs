//! Manifests: what workers say of their agents.

use agents_core::run::Timestamp;

/// Number of manifests that are kept for each agent: the last one, and the ones of earlier versions of its code.
pub(crate) const KEPT: u32 = 8;

/// Manifest of an agent that is to be stored, by a process that has the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewManifest {
    /// Name of the agent that the manifest describes.
    pub agent: String,
    /// Description of the agent. It holds no contents of runs, so it is not encrypted.
    pub contents: Vec<u8>,
}

/// Manifest of an agent (its tools, its answer's type, its chart), as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredManifest {
    /// Name of the agent that the manifest describes.
    pub agent: String,
    /// Description of the agent, encoded; it is not encrypted.
    pub contents: Vec<u8>,
    /// Time at which a process has stored this description for the first time, by the clock of the store.
    pub first_seen_at: Timestamp,
    /// Time at which a process has last stored this description, by the clock of the store.
    pub seen_at: Timestamp,
}

impl NewManifest {
    /// Returns the digest by which equal descriptions are recognised.
    pub(crate) fn digest(&self) -> [u8; 32] {
        hmac_sha256::Hash::hash(&self.contents)
    }
}
