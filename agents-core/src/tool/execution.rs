//! State of one execution of a tool.

use crate::{Code, media::Collected};
use std::sync::{
    Mutex, MutexGuard, OnceLock, PoisonError,
    atomic::{AtomicBool, Ordering::SeqCst},
};
use tokio_util::sync::CancellationToken;

/// State of one execution of a tool: its cancellation token, the first secret that it lacked, and the images, files and
/// tables of its output. The state of a tool that has none of them costs next to nothing.
#[derive(Default)]
pub(crate) struct Execution {
    cancellation: OnceLock<CancellationToken>,
    ended: AtomicBool,
    asked: Mutex<Asked>,
}

/// Data about an execution beside its output: the secrets that it lacked, and its images, files and tables.
#[derive(Default)]
struct Asked {
    /// Error code of the first secret that the tool did not get; `None` if it got all.
    lacked: Option<Code>,
    /// Images, files and tables that were taken out of the output.
    collected: Vec<Collected>,
}

impl Execution {
    /// Returns the token that is cancelled when the execution or the run ends; the first call creates it. If the run
    /// has several tokens, the first of them cancels it directly. The others end the run, which drops its executions.
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

    /// Ends the execution: cancels its token, which the tool may have handed to tasks that it spawned.
    fn end(&self) {
        self.ended.store(true, SeqCst);
        if let Some(token) = self.cancellation.get() {
            token.cancel();
        }
    }

    /// Returns a guard that ends the execution (see [`end`](Self::end)) when it is dropped.
    pub(crate) fn ends_with_scope(&self) -> impl Drop + '_ {
        Ends(self)
    }

    pub(super) fn lacks(&self, code: Code) {
        self.asked().lacked.get_or_insert(code);
    }

    /// Returns the error code of the first secret that the tool did not get; `None` if it got all.
    pub(crate) fn lacked(&self) -> Option<Code> {
        self.asked().lacked
    }

    /// Keeps the images, files and tables that were taken out of the output.
    pub(crate) fn collect(&self, collected: Vec<Collected>) {
        if !collected.is_empty() {
            self.asked().collected = collected;
        }
    }

    /// Takes the images, files and tables of the output, for the facts of the run.
    pub(crate) fn take_collected(&self) -> Vec<Collected> {
        std::mem::take(&mut self.asked().collected)
    }

    /// Returns `true` if the output has images, files or tables.
    pub(crate) fn has_collected(&self) -> bool {
        !self.asked().collected.is_empty()
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
