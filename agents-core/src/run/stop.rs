use super::{Limit, Stopped};
use crate::{Error, ErrorKind, escalation::Escalation};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Reason for which the whole run ends at once.
///
/// A stop is not an error that travels up: code within the run that requests it never returns, and the root drops all
/// work.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stop {
    Budget {
        agent: Arc<str>,
        limit: Limit,
    },
    Denied {
        agent: Arc<str>,
        reason: String,
    },
    Unfit {
        agent: Arc<str>,
        reason: String,
    },
    /// The journal of the run cannot be written, or the stored run may not go on in this process.
    Journal {
        reason: String,
    },
    /// The run was to repeat a recorded run, and differs from it: it needs a reply, a result or a decision that the
    /// recording does not have, or keeps work that the recorded run has dropped.
    Diverged {
        reason: String,
    },
    Cancelled,
    Thrown {
        source: Arc<str>,
        reason: String,
    },
    Escalated(Box<Escalation>),
}

impl Stop {
    /// Creates the stop for an agent that has returned [`Error::thrown`].
    pub(crate) fn thrown(agent: &str, error: &Error) -> Self {
        Stop::Thrown {
            source: agent.into(),
            reason: error.message().to_owned(),
        }
    }

    pub(crate) fn error(&self) -> Error {
        match self {
            Stop::Budget { agent, limit } => {
                Error::new(ErrorKind::Budget, limit.to_string()).context(format!("agent `{agent}`"))
            }
            Stop::Denied { agent, reason } => {
                Error::new(ErrorKind::Denied, reason).context(format!("agent `{agent}`"))
            }
            Stop::Unfit { agent, reason } => {
                Error::new(ErrorKind::Build, reason).context(format!("agent `{agent}`"))
            }
            Stop::Journal { reason } => Error::new(ErrorKind::Journal, reason),
            Stop::Diverged { reason } => Error::new(ErrorKind::Replay, reason),
            Stop::Cancelled => Error::new(ErrorKind::Cancelled, "the run was cancelled"),
            Stop::Thrown { source, reason } => {
                Error::thrown(reason).context(format!("`{source}` threw"))
            }
            Stop::Escalated(escalation) => Error::of_escalation((**escalation).clone(), false),
        }
    }

    pub(crate) fn reason(&self) -> Stopped {
        match self {
            Stop::Budget { agent, limit } => Stopped::Budget {
                agent: agent.to_string(),
                limit: *limit,
            },
            Stop::Denied { agent, reason } => Stopped::Denied {
                agent: agent.to_string(),
                reason: reason.clone(),
            },
            Stop::Unfit { agent, reason } => Stopped::Unfit {
                agent: agent.to_string(),
                reason: reason.clone(),
            },
            Stop::Journal { reason } => Stopped::Journal {
                reason: reason.clone(),
            },
            Stop::Diverged { reason } => Stopped::Diverged {
                reason: reason.clone(),
            },
            Stop::Cancelled => Stopped::Cancelled,
            Stop::Thrown { source, reason } => Stopped::Thrown {
                source: source.to_string(),
                reason: reason.clone(),
            },
            Stop::Escalated(escalation) => Stopped::Escalated {
                source: escalation.source.clone(),
                reason: escalation.reason.clone(),
                severity: escalation.severity,
                raised: escalation.raised.clone(),
            },
        }
    }
}
