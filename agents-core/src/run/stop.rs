use super::{Limit, Passed, RunContext, Stopped, journal::Fact};
use crate::{Error, ErrorKind, error::escalation::Escalation, recovery::FixError};
use serde::{Deserialize, Serialize};
use std::{convert::Infallible, future::pending, sync::Arc};

/// Why the whole run ends, now. It is not an error that travels: whoever calls for it never
/// returns, and the root drops everything.
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
    /// What was done, or was about to be, cannot be stored.
    Journal {
        reason: String,
    },
    /// The run was to repeat a recorded one, and is another.
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
    /// An agent has given back [`Error::thrown`].
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

impl RunContext {
    /// Stores all facts so far. If that fails, the run ends, and this never returns.
    pub(crate) async fn store(&self) {
        if let Err(error) = self.node.machine().store().await {
            let reason = format!("the journal cannot be written: {error}");
            match self.stop(Stop::Journal { reason }).await {}
        }
    }

    /// A bound was passed: that ends the whole run, or the repair to which the bound belongs.
    pub(crate) async fn exceed(&self, passed: Passed) -> Infallible {
        match self.shield().and_then(|scope| scope.of_level(passed.level)) {
            Some(scope) => {
                let why = format!("{}: {}", passed.agent, passed.limit);
                scope.finish(FixError::Failed(why)).await
            }
            _ => self.stop_at(passed.level, passed.stop()).await,
        }
    }

    /// An agent here has given back [`Error::thrown`]: nothing may go on. One that repairs says so to whoever has asked
    /// it, which ends the run as well and is told why.
    pub(crate) async fn thrown(&self, agent: &str, error: &Error) -> Infallible {
        match self.repair() {
            Some(scope) => {
                let reason = error.message().to_owned();
                scope.finish(FixError::Thrown(reason)).await
            }
            None => self.stop(Stop::thrown(agent, error)).await,
        }
    }

    /// Ends the whole run. It never returns, so nothing between here and the root can swallow it.
    pub(crate) async fn stop(&self, stop: Stop) -> Infallible {
        self.stop_at(self.node.level(), stop).await
    }

    /// The same, by what is here or above, at this level of the tree.
    async fn stop_at(&self, level: u32, stop: Stop) -> Infallible {
        self.node.add(Fact::Stopped { level, stop });
        self.root.notify.notify_one();
        pending().await
    }
}
