use serde::{Deserialize, Serialize};
use std::fmt;

/// Severity of an escalation, ordered `Low < Medium < High < Critical`.
///
/// ```
/// # use agents_core as agents;
/// use agents::Severity;
///
/// assert!(Severity::Low < Severity::Critical);
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Severity {
    /// Low: a more capable model may succeed.
    Low,
    /// Medium: another approach to the work is needed.
    Medium,
    /// High: the work cannot be completed; the default.
    #[default]
    High,
    /// Critical: the run cannot go on and has to end.
    Critical,
}

impl Severity {
    /// All severities, from the least to the greatest.
    pub(crate) const ALL: [Severity; 4] = [
        Severity::Low,
        Severity::Medium,
        Severity::High,
        Severity::Critical,
    ];
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Low => "LOW",
            Severity::Medium => "MEDIUM",
            Severity::High => "HIGH",
            Severity::Critical => "CRITICAL",
        })
    }
}
