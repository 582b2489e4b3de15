//! Ends of a run from within it.

use super::{PassedLimit, RunContext, wording};
use crate::{
    Error,
    journal::{Fact, JournalError},
    recovery::FixError,
    run::Stop,
};
use std::{convert::Infallible, future::pending};

impl RunContext {
    /// Stores all facts so far. If storing fails, the run ends, and this call never returns.
    pub(crate) async fn store(&self) {
        if let Err(error) = self.node.machine().store().await {
            let reason = wording::journal_unwritable(&error);
            match self.stop(Stop::Journal { reason }).await {}
        }
    }

    /// Ends the run in this process only, because this process has another model or another version of a tool than the
    /// stored run. Later facts are not stored, so the stored run stays as it was. The call never returns.
    pub(crate) async fn put_down(&self, reason: String) -> Infallible {
        let machine = self.node.machine();
        machine.refuse(JournalError::new(&*reason));
        self.stop(Stop::Journal { reason }).await
    }

    /// Ends the whole run, or the repair to which the bound belongs, because a bound was passed.
    pub(crate) async fn exceed(&self, passed: PassedLimit) -> Infallible {
        match self
            .enclosing_repair()
            .and_then(|scope| scope.of_level(passed.level))
        {
            Some(scope) => {
                let why = format!("{}: {}", passed.agent, passed.limit);
                scope.finish(FixError::Failed(why)).await
            }
            _ => self.stop_at(passed.level, passed.stop()).await,
        }
    }

    /// Ends the run because an agent here has returned [`Error::thrown`].
    ///
    /// If the agent is a repair agent, the throw goes to the caller of the repair, which ends the run as well and
    /// learns the reason.
    pub(crate) async fn thrown(&self, agent: &str, error: &Error) -> Infallible {
        match self.repair() {
            Some(scope) => {
                let reason = error.message().to_owned();
                scope.finish(FixError::Thrown(reason)).await
            }
            None => self.stop(Stop::thrown(agent, error)).await,
        }
    }

    /// Ends the whole run. The call never returns, so no code between here and the root can swallow the end.
    pub(crate) async fn stop(&self, stop: Stop) -> Infallible {
        self.stop_at(self.node.level(), stop).await
    }

    /// Ends the whole run because of the agent at this level of the tree, which is here or above.
    async fn stop_at(&self, level: u32, stop: Stop) -> Infallible {
        self.node.add(Fact::Stopped { level, stop });
        self.root.notify.notify_one();
        pending().await
    }
}
