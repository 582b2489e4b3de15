use super::wording;
use crate::model::{Shorten, Trim};
use std::{fmt, sync::Arc};

/// Policy that shortens the conversation of an agent at work, made by [`trim`](crate::agent::trim()) or
/// [`compact`](crate::agent::compact()): see [`AgentBuilder::context`](crate::agent::AgentBuilder::context).
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{ContextPolicy, KeepLast, trim};
///
/// let early = trim().at(0.5);
/// // A policy of your own, for a model whose client does not know the window.
/// let own = ContextPolicy::by(KeepLast::exchanges(3)).window(32_768);
/// # let _ = (early, own);
/// ```
#[derive(Clone)]
pub struct ContextPolicy {
    share: f64,
    window: Option<u32>,
    policy: Arc<dyn Shorten>,
}

impl ContextPolicy {
    /// Shortens the conversation with this policy. Of the messages that it returns, the last reply and what follows it have
    /// to stay.
    #[must_use]
    pub fn by(policy: impl Shorten + 'static) -> Self {
        ContextPolicy {
            share: 0.75,
            window: None,
            policy: Arc::new(policy),
        }
    }

    pub(crate) fn trim() -> Self {
        ContextPolicy::by(Trim)
    }

    /// Sets the share of the model's window from which on the conversation is shortened; 0.75 by default. It is more than
    /// 0, and at most 1. The rest is for the reply.
    #[must_use]
    pub fn at(mut self, share: f64) -> Self {
        self.share = share;
        self
    }

    /// Sets the size of the model's window in tokens, in place of the one that its client knows.
    #[must_use]
    pub fn window(mut self, tokens: u32) -> Self {
        self.window = Some(tokens);
        self
    }

    /// Returns the window, if it is set here.
    pub(crate) fn own_window(&self) -> Option<u32> {
        self.window
    }

    /// Returns the policy.
    pub(crate) fn policy(&self) -> &dyn Shorten {
        &*self.policy
    }

    /// Returns the number of tokens that a conversation may have in a window of this size.
    pub(crate) fn bound(&self, window: u32) -> u64 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let bound = (f64::from(window) * self.share) as u64;
        bound
    }

    /// Returns the reason why the agent of this name cannot have the policy.
    pub(crate) fn defect(&self, of: &str) -> Option<String> {
        let is_share = self.share > 0.0 && self.share <= 1.0;
        (!is_share).then(|| wording::no_share(of, self.share))
    }
}

impl fmt::Debug for ContextPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextPolicy")
            .field("at", &self.share)
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}
