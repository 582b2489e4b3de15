//! Ends of a run from within it.

use super::{Passed, RunContext};
use crate::{
    Error,
    journal::{Fact, JournalError},
    recovery::FixError,
    run::Stop,
};
use std::{convert::Infallible, future::pending};

impl RunContext {
    /// Stores all facts so far. If that fails, the run ends, and this never returns.
    pub(crate) async fn store(&self) {
        if let Err(error) = self.node.machine().store().await {
            let reason = format!("the journal cannot be written: {error}");
            match self.stop(Stop::Journal { reason }).await {}
        }
    }

    /// What is to happen now is no part of the stored run: this process ends it here, and nothing of that is stored, so
    /// that it can go on as it was.
    pub(crate) async fn put_down(&self, reason: String) -> Infallible {
        let machine = self.node.machine();
        machine.refuse(JournalError::new(&*reason));
        self.stop(Stop::Journal { reason }).await
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
