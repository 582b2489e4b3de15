use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Whether a version of a tool is still to be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// Yes.
    #[default]
    Active,
    /// It runs, but something better is there; nobody is offered it who does not ask for it.
    Deprecated {
        /// What to use instead.
        note: Cow<'static, str>,
    },
    /// It does not run: a call is refused with `POLICY_DENIED`, and no model is offered it.
    Blocked {
        /// Why.
        reason: Cow<'static, str>,
    },
}

impl Status {
    /// Whether it is neither deprecated nor blocked.
    pub fn is_active(&self) -> bool {
        *self == Status::Active
    }

    /// Why it does not run, if it does not.
    pub fn blocked(&self) -> Option<&str> {
        match self {
            Status::Blocked { reason } => Some(reason),
            Status::Active | Status::Deprecated { .. } => None,
        }
    }
}
