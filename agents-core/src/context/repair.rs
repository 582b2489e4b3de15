use super::RunContext;
use crate::{
    Error, ErrorKind,
    model::ModelError,
    recovery::FixError,
    run::{Limit, Stop},
};
use std::{
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::Notify;

/// How many repairs may be within each other.
const DEEPEST: u32 = 4;

/// While a repair agent works: what it may do beside repairing, and what its ending does not end.
///
/// Its own budget ends the repair and nothing else; the budget of whoever called it, a throw and a
/// cancellation end the run as they always do.
#[derive(Debug)]
pub(crate) struct RepairScope {
    /// Nodes at this level of the tree and below belong to the repair.
    level: u32,
    nested: u32,
    outer: Option<Arc<RepairScope>>,
    end: Mutex<Option<FixError>>,
    notify: Notify,
}

impl RepairScope {
    /// A repair that begins at `cx`, unless too many have begun around it.
    pub(crate) fn within(cx: &RunContext) -> Option<Arc<RepairScope>> {
        let outer = cx.shield().cloned();
        let nested = outer.as_ref().map_or(0, |outer| outer.nested + 1);
        let level = cx.node.level() + 1;
        let (end, notify) = (Mutex::default(), Notify::new());
        (nested < DEEPEST).then(|| {
            Arc::new(RepairScope {
                level,
                nested,
                outer,
                end,
                notify,
            })
        })
    }

    /// The repair to which a bound at this level of the tree belongs: this one, one around it, or
    /// none of them.
    pub(crate) fn of_level(&self, level: u32) -> Option<&RepairScope> {
        let mut scope = Some(self);
        while let Some(here) = scope {
            if level >= here.level {
                return Some(here);
            }
            scope = here.outer.as_deref();
        }
        None
    }

    /// Nodes at this level of the tree and below belong to the repair.
    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    /// Ends the repair, and says whether this is what ends it.
    pub(crate) fn end(&self, end: FixError) -> bool {
        let mut ended = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = ended.is_none();
        ended.get_or_insert(end);
        self.notify.notify_one();
        is_first
    }

    /// Ends the repair. It never returns to the repair agent.
    pub(crate) async fn finish(&self, end: FixError) -> Infallible {
        self.end(end);
        std::future::pending().await
    }

    /// Waits until somebody has ended the repair.
    pub(crate) async fn ended(&self) -> FixError {
        loop {
            if let Some(end) = self
                .end
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
            {
                return end;
            }
            self.notify.notified().await;
        }
    }
}

impl From<Error> for FixError {
    /// What a repair agent returned as `Err`: an escalation and a throw are meant, the rest happened. What
    /// would happen at every try is told from what may pass.
    fn from(error: Error) -> Self {
        let is_lasting = || {
            let mut cause: Option<&dyn std::error::Error> = Some(&error);
            while let Some(error) = cause {
                if let Some(model) = error.downcast_ref::<ModelError>() {
                    return !model.is_transient();
                }
                cause = error.source();
            }
            false
        };
        match error.kind() {
            ErrorKind::Escalated => FixError::Escalated {
                reason: error.message().to_owned(),
                severity: error.severity().unwrap_or_default(),
            },
            ErrorKind::Thrown => FixError::Thrown(error.message().to_owned()),
            ErrorKind::Build => FixError::Unable(error.to_string()),
            _ if is_lasting() => FixError::Unable(error.to_string()),
            _ => FixError::Failed(error.to_string()),
        }
    }
}

/// A bound that was passed: whose, which, and where in the tree.
#[derive(Clone, Debug)]
pub(crate) struct Passed {
    pub(crate) agent: Arc<str>,
    pub(crate) limit: Limit,
    pub(crate) level: u32,
}

impl Passed {
    pub(crate) fn stop(self) -> Stop {
        Stop::Budget {
            agent: self.agent,
            limit: self.limit,
        }
    }
}
