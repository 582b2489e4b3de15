//! State of one execution of a tool.

use crate::Code;
use std::sync::{
    Mutex, MutexGuard, OnceLock, PoisonError,
    atomic::{AtomicBool, Ordering::SeqCst},
};
use tokio_util::sync::CancellationToken;

/// State of one execution: its cancellation token and the first secret that its tool lacked. The state of a tool
/// that asks for neither costs next to nothing.
#[derive(Default)]
pub(crate) struct Execution {
    cancellation: OnceLock<CancellationToken>,
    ended: AtomicBool,
    asked: Mutex<Asked>,
}

/// Results of the requests for secrets.
#[derive(Default)]
struct Asked {
    /// Code of the first secret that could not be obtained.
    lacked: Option<Code>,
}

impl Execution {
    /// Returns the token that is cancelled when the execution or the run ends; the first call creates it. If the
    /// run has several tokens, the first of them cancels it at once. The others end the run, which drops its
    /// executions.
    pub(super) fn cancellation(&self, run: &[CancellationToken]) -> &CancellationToken {
        let token = self.cancellation.get_or_init(|| match run.first() {
            Some(run) => run.child_token(),
            None => CancellationToken::new(),
        });
        // The execution may have ended just before the token was stored.
        if self.ended.load(SeqCst) {
            token.cancel();
        }
        token
    }

    /// Ends the execution: cancels the token that the tool may have handed to tasks that it spawned.
    fn end(&self) {
        self.ended.store(true, SeqCst);
        if let Some(token) = self.cancellation.get() {
            token.cancel();
        }
    }

    /// Returns a guard that ends the execution when it is dropped.
    pub(crate) fn ends_with_scope(&self) -> impl Drop + '_ {
        Ends(self)
    }

    pub(super) fn lacks(&self, code: Code) {
        self.asked().lacked.get_or_insert(code);
    }

    /// Returns the code of the first secret that could not be obtained.
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
