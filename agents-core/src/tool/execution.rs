//! What one execution of a tool has to itself.

use crate::{Code, secret::SecretScope};
use std::sync::{
    Mutex, MutexGuard, OnceLock, PoisonError,
    atomic::{AtomicBool, Ordering::SeqCst},
};
use tokio_util::sync::CancellationToken;

/// One execution: what its tool has asked for. Most ask for nothing, and cost nothing.
#[derive(Default)]
pub(crate) struct Execution {
    cancellation: OnceLock<CancellationToken>,
    ended: AtomicBool,
    asked: Mutex<Asked>,
}

/// What came of asking for secrets.
#[derive(Default)]
struct Asked {
    given: Vec<(String, SecretScope)>,
    /// The code of the first that could not be had.
    lacked: Option<Code>,
}

impl Execution {
    /// Triggered when the execution ends, or the run; made when somebody asks for it. Of several tokens of the run, the
    /// first reaches it at once, and the others by the run, which drops its executions.
    pub(super) fn cancellation(&self, run: &[CancellationToken]) -> &CancellationToken {
        let token = self.cancellation.get_or_init(|| match run.first() {
            Some(run) => run.child_token(),
            None => CancellationToken::new(),
        });
        // It may have ended just before the token was there to be triggered.
        if self.ended.load(SeqCst) {
            token.cancel();
        }
        token
    }

    /// What the tool has spawned and handed the token to ends now.
    fn end(&self) {
        self.ended.store(true, SeqCst);
        if let Some(token) = self.cancellation.get() {
            token.cancel();
        }
    }

    /// Ends the execution when what is returned is dropped.
    pub(crate) fn ends_with_scope(&self) -> impl Drop + '_ {
        Ends(self)
    }

    pub(super) fn was_given(&self, name: &str, scope: SecretScope) {
        self.asked().given.push((name.to_owned(), scope));
    }

    pub(super) fn given(&self) -> Vec<(String, SecretScope)> {
        self.asked().given.clone()
    }

    pub(super) fn lacks(&self, code: Code) {
        self.asked().lacked.get_or_insert(code);
    }

    /// The code of the first secret that could not be had.
    pub(crate) fn lacked(&self) -> Option<Code> {
        self.asked().lacked
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Ends<'a>(&'a Execution);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
