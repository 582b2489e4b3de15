use serde::{Deserialize, Serialize};

/// Risk of a tool's calls, for the people who approve them, ordered `Low < Medium < High`.
///
/// A tool that does not declare a risk has the one that follows from its effects; see
/// [`ToolSpec::risk_level`](super::ToolSpec::risk_level).
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::{Effects, Risk, ToolSpec};
/// # #[derive(schemars::JsonSchema)] struct Mail { to: String }
///
/// let send = ToolSpec::of::<Mail>("send", "Sends a mail.", Effects::Writes);
/// assert_eq!(send.risk_level(), Risk::Medium);
/// assert_eq!(send.external().risk_level(), Risk::High);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Low risk: a mistake of such a call costs little.
    Low,
    /// Medium risk: a mistake of such a call can be mended.
    Medium,
    /// High risk: a mistake of such a call may cost a lot, or cannot be mended.
    High,
}
