use crate::{Error, ErrorKind, model::ModelError, recovery::FixError, shared::Shared};
use std::{
    convert::Infallible,
    sync::{Mutex, PoisonError},
};
use tokio::sync::Notify;

/// Maximum number of repairs that may run within each other.
const DEEPEST: u32 = 4;

/// Scope of a repair while its repair agent works: the places that belong to the repair, and the way in which it ended.
///
/// If the budget of the repair agent or of an agent below it is passed, the repair ends and nothing else does. The
/// budget of an agent around the repair, a throw and a cancellation end the run as they always do.
#[derive(Debug)]
pub(crate) struct RepairScope {
    /// Level of the tree at which the repair begins: nodes at this level and below belong to it.
    level: u32,
    nested: u32,
    outer: Option<Shared<RepairScope>>,
    end: Mutex<Option<FixError>>,
    notify: Notify,
}

impl RepairScope {
    /// Creates the scope of a repair that begins at this level of the tree. `outer` is the scope of the repair around
    /// it. Returns `None` if too many repairs are nested.
    pub(super) fn within(
        outer: Option<Shared<RepairScope>>,
        level: u32,
    ) -> Option<Shared<RepairScope>> {
        let nested = outer.as_ref().map_or(0, |outer| outer.nested + 1);
        let (end, notify) = (Mutex::default(), Notify::new());
        (nested < DEEPEST).then(|| {
            Shared::new(RepairScope {
                level,
                nested,
                outer,
                end,
                notify,
            })
        })
    }

    /// Returns the repair to which a bound of an agent at this level belongs: this repair, or one around it. `None` if
    /// the bound belongs to the run.
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

    /// Returns the level of the tree at which the repair begins: nodes at this level and below belong to it.
    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    /// Ends the repair. Returns `true` if the repair had not ended before; a later end is ignored.
    pub(crate) fn end(&self, end: FixError) -> bool {
        let mut ended = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = ended.is_none();
        ended.get_or_insert(end);
        self.notify.notify_one();
        is_first
    }

    /// Ends the repair, for this reason. The call never returns, since the repair agent's work is dropped.
    pub(crate) async fn finish(&self, end: FixError) -> Infallible {
        self.end(end);
        std::future::pending().await
    }

    /// Waits until the repair is ended before the repair agent has answered, for instance by an escalation or a bound;
    /// returns the reason.
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
    /// Converts the error of a repair agent into the reason why the repair failed. An escalation and a throw are
    /// decisions; any other error is a mishap. An error that would occur at every try is told apart from one that may
    /// pass.
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
