//! Deep trees of agents: levels that do not fit on the thread's stack are put on the heap, so that no run overflows the
//! stack.

use corosensei::{on_stack, stack::DefaultStack};
use std::{
    cell::Cell,
    io,
    pin::Pin,
    task::{Context, Poll},
};

/// Number of bytes that levels may use of a thread's own stack, whose size is not known, before the next level is put
/// on the heap.
const OWN: usize = 64 * 1024;

/// Number of bytes of stack that one level of recursion may need: in a build without optimisation it is about 100 kB.
const LEVEL: usize = 256 * 1024;

/// Size, in bytes, of a stretch of stack that is put on the heap.
const PIECE: usize = 2 * 1024 * 1024;

thread_local! {
    /// Address below which the next level is put on the heap; `None` outside of any level.
    static FLOOR: Cell<Option<usize>> = const { Cell::new(None) };
    /// Stretch of stack on the heap that was used last, for the next level that needs one.
    static SPARE: Cell<Option<DefaultStack>> = const { Cell::new(None) };
}

/// Sets the floor of this thread, and sets it back when dropped.
struct Floor(Option<usize>);

impl Floor {
    /// Sets the floor this number of bytes below the current place on the stack.
    fn below_here(bytes: usize) -> Floor {
        Floor(FLOOR.replace(Some(here().saturating_sub(bytes))))
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        FLOOR.set(self.0);
    }
}

/// Returns the address of the current place on the stack.
#[inline(never)]
fn here() -> usize {
    let mark = 0_u8;
    (&raw const mark).addr()
}

/// Runs `work`, which may call itself for each level of a tree. If the levels have used up their part of the stack, the
/// next one is put on the heap; if the system gives no memory, it stays on the stack.
pub(crate) fn deep<R>(work: impl FnOnce() -> R) -> R {
    match FLOOR.get() {
        None => {
            let _floor = Floor::below_here(OWN);
            work()
        }
        Some(floor) if here() >= floor => work(),
        Some(_) => match spare() {
            Ok(mut piece) => {
                let done = on_stack(&mut piece, || {
                    let _floor = Floor::below_here(PIECE - LEVEL);
                    work()
                });
                // A thread that ends keeps none.
                SPARE.try_with(|spare| spare.set(Some(piece))).ok();
                done
            }
            // The system gives no memory: the level takes what is left of the stack.
            Err(_) => work(),
        },
    }
}

/// Returns the spare stretch of stack of this thread, or a new one.
fn spare() -> io::Result<DefaultStack> {
    let spare = SPARE.try_with(Cell::take).ok().flatten();
    spare.map_or_else(|| DefaultStack::new(PIECE), Ok)
}

/// Work of an agent within another agent's work. Agents may run each other as deep as their budget allows, on any stack
/// that holds the outermost ones.
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
