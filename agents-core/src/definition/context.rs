use super::wording;
use crate::model::{Shorten, Trim};
use std::{fmt, sync::Arc};

/// Rule by which the conversation of an agent at work is shortened before it is too long for the model.
///
/// [`trim`](crate::agent::trim()), [`compact`](crate::agent::compact()) and [`ContextPolicy::by`] make such a rule, and
/// [`AgentBuilder::context`](crate::agent::AgentBuilder::context) takes the rule.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{ContextPolicy, KeepLast, trim};
///
/// let early = trim().at(0.5);
/// // A rule of your own, for a model whose client does not know the window.
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
    /// Shortens the conversation by a [`Shorten`] of your own. The messages that it returns have to keep the last
    /// reply, and everything that follows that reply.
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

    /// Sets the share of the model's window from which on the conversation is shortened; 0.75 by default. The rest of
    /// the window is for the reply. A share that is not more than 0, or is more than 1, is an error before anything
    /// runs.
    #[must_use]
    pub fn at(mut self, share: f64) -> Self {
        self.share = share;
        self
    }

    /// Sets the size of the model's window in tokens, in place of the size that the model's client knows. If neither is
    /// known, the agent's work fails before its first request.
    #[must_use]
    pub fn window(mut self, tokens: u32) -> Self {
        self.window = Some(tokens);
        self
    }

    /// Returns the size of the window that [`window`](Self::window) has set; `None` if none was set.
    pub(crate) fn own_window(&self) -> Option<u32> {
        self.window
    }

    /// Returns the code that shortens the conversation.
    pub(crate) fn policy(&self) -> &dyn Shorten {
        &*self.policy
    }

    /// Returns the number of tokens that a conversation may have in a window of this size.
    pub(crate) fn bound(&self, window: u32) -> u64 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let bound = (f64::from(window) * self.share) as u64;
        bound
    }

    /// Returns the message about a share that is not valid, for the agent `of`; `None` if the share is valid.
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
