//! Language models: the [`Model`] trait, messages, requests and replies.
//!
//! ```text
//! Request { history, tools, format } ─► Model::chat ─► Reply { content, thinking, calls, usage }
//! ```
//!
//! The history grows and is never rewritten, so a client can keep the messages that it has already
//! encoded: see [`History::wire`]. A conversation that is shortened is another history.
//!
//! ```
//! # use agents_core as agents;
//! use agents::model::{History, Message, Model, Request};
//! # use agents::testing::{Script, ScriptedModel};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), agents::model::ModelError> {
//! # let (model, _) = ScriptedModel::new([Script::text("Light scatters.")]);
//! // A model without an agent:
//! let mut history = History::new();
//! history.push(Message::User { content: "Why is the sky blue?".into() });
//! let reply = model.chat(Request::new(&history)).await?;
//! assert_eq!(reply.content, "Light scatters.");
//! # Ok(())
//! # }
//! ```

mod capabilities;
mod distinct;
mod error;
mod fallback;
mod history;
mod message;
mod overflow;
pub mod prompted;
mod purpose;
mod reply;
mod request;
mod retry;
mod shorten;
mod streamed;
mod thinking;
mod wording;

#[doc(hidden)]
pub use crate::media::is_reference;
pub use crate::media::{Content, Media, Table};
pub use capabilities::Capabilities;
pub use distinct::DistinctCalls;
pub(crate) use distinct::normal;
pub use error::{ModelError, ModelErrorKind};
pub use fallback::Fallback;
pub use history::History;
pub use message::{Message, ToolCall};
pub use overflow::ContextOverflow;
pub use purpose::{PurposeKey, Purposes};
pub use reply::{FinishReason, RateLimits, Reply, Usage};
pub(crate) use request::OfRun;
pub use request::{Delta, Patience, Request};
pub use retry::Retry;
pub(crate) use shorten::{Halves, Trim, check_results, estimated, last_exchanges, mended};
pub use shorten::{KeepLast, Shorten};
pub use thinking::Thinking;
pub(crate) use wording::REFUSED;

use async_trait::async_trait;
use std::sync::Arc;

/// A language model, or a client of one.
///
/// Implement the trait to connect another server; `agents-ollama` is the reference. One value serves any number of
/// runs at once.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{Model, ModelError, Reply, Request};
/// use agents::{Agent, AgentBuilder, async_trait};
///
/// /// Says how many messages it was shown.
/// struct Counting;
///
/// #[async_trait]
/// impl Model for Counting {
///     fn id(&self) -> &str {
///         "mine/counting"
///     }
///
///     async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
///         Ok(Reply { content: request.messages().len().to_string(), ..Reply::default() })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// let agent = AgentBuilder::<String, u32>::new("counter").prompt("Count.").model(Counting).build();
/// assert_eq!(agent.run("How many?").await?, 2);
/// # Ok(())
/// # }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a model",
    label = "expected a model here",
    note = "a model is `ollama(\"qwen3:4b\")`, or any type that implements `Model`; a name alone does not say who runs it",
    note = "in a test, `ScriptedModel::new(..)` gives a model and what sees its requests: `let (model, handle) = ..`"
)]
pub trait Model: Send + Sync + 'static {
    /// Returns a stable name for logs, receipts and recordings, such as `ollama/qwen3:4b`. A model with fallbacks has their
    /// names behind its own, each after a `|`. A stored run goes on if the first name is still the same.
    fn id(&self) -> &str;

    /// Returns the provider's name as in the OpenTelemetry GenAI conventions, such as `ollama`; by default, the part of
    /// the [`id`](Model::id) before its first `/`, or all of an id without one.
    fn provider(&self) -> &str {
        self.id().split('/').next().unwrap_or_default()
    }

    /// Returns the abilities of the model, such as reading images. By default, the model has all abilities but reading
    /// images and files.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// Returns `true` if each reply has its [cost](Reply::cost_nanos), so that the run needs no price for the model;
    /// `false` by default.
    fn knows_cost(&self) -> bool {
        false
    }

    /// Sends a request and returns the model's reply.
    ///
    /// # Errors
    /// When the model gives no complete reply; the [kind](ModelErrorKind) of the error says why.
    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError>;

    /// Wraps the model so that transient failures are retried, up to `max_attempts` requests in all, and at least one;
    /// see [`Retry`].
    ///
    /// Without this wrapper, every request is made once.
    fn retry(self, max_attempts: u32) -> Retry<Self>
    where
        Self: Sized,
    {
        Retry::new(self, max_attempts)
    }

    /// Wraps the model so that `other` gets the requests that this model fails to answer; see [`Fallback`].
    fn or<M: Model>(self, other: M) -> Fallback<Self, M>
    where
        Self: Sized,
    {
        Fallback::new(self, other)
    }
}

#[async_trait]
impl<M: Model + ?Sized> Model for Arc<M> {
    fn id(&self) -> &str {
        (**self).id()
    }

    fn provider(&self) -> &str {
        (**self).provider()
    }

    fn capabilities(&self) -> Capabilities {
        (**self).capabilities()
    }

    fn knows_cost(&self) -> bool {
        (**self).knows_cost()
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        (**self).chat(request).await
    }
}

/// Returns the name of a model without those of its fallbacks.
pub(crate) fn name_of(id: &str) -> &str {
    id.split('|').next().unwrap_or_default()
}
