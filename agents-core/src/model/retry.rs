use super::{
    Capabilities, Model, ModelError, ModelErrorKind, Reply, Request, streamed::Streamed, wording,
};
use crate::recovery::{Backoff, exponential};
use async_trait::async_trait;
use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};
use tokio::time::sleep;

/// A model whose transient failures are retried, made by [`Model::retry`].
///
/// A request is repeated after a failure that is [transient](ModelError::is_transient), and if the server could not be
/// reached, as while it restarts. A request is not repeated once a part of its reply was streamed. Each wait is logged,
/// ends if the run ends, and counts as working time of the run. If the server says how long to wait, that time is kept,
/// up to the longest wait that the [back-off](Backoff) permits.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Agent, AgentBuilder, Model, recovery::exponential};
/// use agents::model::{ModelError, ModelErrorKind};
/// # use agents::testing::{Script, ScriptedModel};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), agents::Error> {
/// # let busy = || Script::Fail(ModelError::new(ModelErrorKind::Overloaded, "busy").with_status(503));
/// # let (model, handle) = ScriptedModel::new([busy(), busy(), Script::text("Oslo")]);
/// // Three requests in all, at most.
/// let model = model.retry(3).backoff(exponential().base(Duration::from_secs(1)));
/// let agent = AgentBuilder::<String, String>::new("geographer").model(model).build();
/// assert_eq!(agent.run("Norway").await?, "Oslo");
/// # assert_eq!(handle.count(), 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "it is a model, and asks nobody by itself"]
pub struct Retry<M> {
    model: M,
    max_attempts: u32,
    backoff: Backoff,
}

impl<M: Model> Retry<M> {
    /// Wraps a model, so that at most `max_attempts` requests are made in all, and at least one.
    pub(super) fn new(model: M, max_attempts: u32) -> Self {
        Retry {
            model,
            max_attempts,
            backoff: exponential(),
        }
    }

    /// Sets how long to wait between attempts; [`exponential`] by default.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Returns how long to wait after this attempt has failed; `None` if no further attempt is made.
    fn wait(&self, attempt: u32, error: &ModelError, streamed: &Streamed) -> Option<Duration> {
        let starting = error.kind() == ModelErrorKind::Unreachable;
        let passing = error.is_transient() || starting;
        let again = attempt < self.max_attempts && passing && !streamed.anything();
        again.then(|| self.backoff.wait(attempt, error.retry_after(), chance()))
    }
}

/// Returns a random number from 0 to 1, for the length of a wait. A stored run has the reply and does not wait again,
/// so the number need not be repeatable.
fn chance() -> f64 {
    RandomState::new().hash_one(()) as f64 / u64::MAX as f64
}

#[async_trait]
impl<M: Model> Model for Retry<M> {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn provider(&self) -> &str {
        self.model.provider()
    }

    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }

    fn knows_cost(&self) -> bool {
        self.model.knows_cost()
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let streamed = Streamed::default();
        let mut attempt = 1;
        loop {
            let error = match streamed.ask(&self.model, request).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let Some(wait) = self.wait(attempt, &error, &streamed) else {
                return Err(match attempt {
                    1 => error,
                    asked => error.followed(wording::asked_often(asked)),
                });
            };
            tracing::warn!(
                model = self.id(),
                attempt,
                ?wait,
                error = request.masked(&error),
                "the model did not answer, and is asked again"
            );
            request.failed(self.id(), &error);
            sleep(wait).await;
            attempt += 1;
        }
    }
}
