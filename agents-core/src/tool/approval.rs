use serde::{Deserialize, Serialize};

/// Rule for whether calls of a tool need a person's approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeedsApproval {
    /// No call of the tool needs approval.
    Never,
    /// Every call of the tool needs approval.
    Always,
    /// A function decides for each call by its arguments: that of a [policy](super::ToolPolicy::confirm_when), or
    /// [`Tool::needs_approval`](super::Tool::needs_approval).
    When,
}
