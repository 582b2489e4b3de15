//! Deep trees of agents: their levels are on the heap, so that no run overflows the stack.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// Number of bytes of stack that one level of recursion may need: in a build without optimisation it is about 80 kB.
const LEVEL: usize = 256 * 1024;

/// Size, in bytes, of a stretch of stack that is put on the heap.
const PIECE: usize = 2 * 1024 * 1024;

/// Runs `work`, which may call itself for each level of a tree. If the stack is nearly used up, more stack is put on
/// the heap.
pub(crate) fn deep<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(LEVEL, PIECE, work)
}

/// Work of an agent within another agent's work. Agents may run each other as deep as their budget allows, however
/// small the stack is.
pub(crate) struct Deep<F>(Option<Pin<Box<F>>>);

impl<F: Future> Deep<F> {
    /// Wraps the work in a box, so that it does not lie on the caller's stack.
    pub(crate) fn of(work: F) -> Self {
        Deep(Some(Box::pin(work)))
    }
}

impl<F: Future> Future for Deep<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match &mut self.0 {
            Some(work) => deep(|| work.as_mut().poll(cx)),
            None => Poll::Pending,
        }
    }
}

impl<F> Drop for Deep<F> {
    fn drop(&mut self) {
        // Work within this work is dropped with it, level by level.
        deep(|| self.0 = None);
    }
}
