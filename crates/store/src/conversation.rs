//! Conversations, as a store keeps them.

use agents_core::run::Timestamp;

/// Stored conversation: runs of one agent for one tenant. Each run begins with what was said before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Tenant (organisation) that the conversation belongs to.
    pub tenant: String,
    /// Id of the conversation, which no other conversation of the tenant has.
    pub id: String,
    /// Name of the agent that answers in the conversation.
    pub agent: String,
    /// Id of the run that stored the messages last; `None` if no run has stored messages yet, or if the run that stored
    /// them last was erased.
    pub run: Option<String>,
    /// Messages so far, encoded and encrypted; empty if `run` is `None`.
    pub contents: Vec<u8>,
    /// Time at which the first run of the conversation was stored.
    pub created_at: Timestamp,
    /// Time at which a run of the conversation was last stored, or its messages were last stored or erased.
    pub updated_at: Timestamp,
}
