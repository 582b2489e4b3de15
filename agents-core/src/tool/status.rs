use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Status of a version of a tool: active, deprecated or blocked.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::Status;
///
/// let blocked = Status::Blocked { reason: "it paid twice".into() };
/// assert_eq!(blocked.blocked(), Some("it paid twice"));
/// assert!(Status::default().is_active());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// The tool is in use, and is offered to models.
    #[default]
    Active,
    /// The tool runs, but [`Registry::list`](super::Registry::list) leaves it out, and a name
    /// without a version stands for an active version if there is one.
    Deprecated {
        /// Note on what to use instead of the deprecated tool.
        note: Cow<'static, str>,
    },
    /// The tool does not run: its calls are refused with `POLICY_DENIED`, and no model is offered
    /// the tool.
    Blocked {
        /// Reason why the tool is blocked, in words for people and models.
        reason: Cow<'static, str>,
    },
}

impl Status {
    /// Returns `true` if the tool is neither deprecated nor blocked.
    pub fn is_active(&self) -> bool {
        *self == Status::Active
    }

    /// Returns the reason why the tool is blocked; `None` if the tool is not blocked.
    pub fn blocked(&self) -> Option<&str> {
        match self {
            Status::Blocked { reason } => Some(reason),
            Status::Active | Status::Deprecated { .. } => None,
        }
    }
}
