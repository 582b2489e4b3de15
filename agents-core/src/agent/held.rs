//! Agent of a run or of a conversation: borrowed from the caller, or owned.

use std::ops::Deref;

/// Agent of a run or of a conversation: borrowed from the caller, or owned.
pub(super) enum Held<'a, A> {
    Borrowed(&'a A),
    Owned(Box<A>),
}

impl<A: Clone> Held<'_, A> {
    /// Returns the agent as an owned copy.
    pub(super) fn owned(self) -> Held<'static, A> {
        Held::Owned(match self {
            Held::Borrowed(agent) => Box::new(agent.clone()),
            Held::Owned(agent) => agent,
        })
    }
}

impl<A> Deref for Held<'_, A> {
    type Target = A;

    fn deref(&self) -> &A {
        match self {
            Held::Borrowed(agent) => agent,
            Held::Owned(agent) => agent,
        }
    }
}
