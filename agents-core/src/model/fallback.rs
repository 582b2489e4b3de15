use super::{Model, ModelError, Reply, Request, told::Told};
use async_trait::async_trait;

/// A model with another one for requests that it fails, made by [`Model::or`].
///
/// Every request is made to the first. Whatever it fails with, the second is asked the same, unless a
/// piece of the first one's answer was shown already to whoever watches it being written. That the
/// second was asked is a log line; if it fails as well, its error says what the first one failed with.
///
/// For all else they are one model, with one name: `first|second`. So one
/// [price](crate::agent::Run::price) is set for both: that of the dearer one, say.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Agent, AgentBuilder, Model};
/// # use agents::testing::{Script, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (large, _) = ScriptedModel::new([Script::fail("out of memory")]);
/// # let (small, _) = ScriptedModel::new([Script::text("Oslo")]);
/// let model = large.retry(3).or(small);
/// let agent = AgentBuilder::<String, String>::new("geographer").model(model).build();
/// assert_eq!(agent.run("Norway").await?, "Oslo");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "it is a model, and asks nobody by itself"]
pub struct Fallback<A, B> {
    first: A,
    second: B,
    id: String,
}

impl<A: Model, B: Model> Fallback<A, B> {
    pub(super) fn new(first: A, second: B) -> Self {
        Fallback {
            id: format!("{}|{}", first.id(), second.id()),
            first,
            second,
        }
    }
}

#[async_trait]
impl<A: Model, B: Model> Model for Fallback<A, B> {
    fn id(&self) -> &str {
        &self.id
    }

    fn provider(&self) -> &str {
        self.first.provider()
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let told = Told::default();
        let error = match told.ask(&self.first, request).await {
            Ok(reply) => return Ok(reply),
            Err(error) => error,
        };
        if told.anything() {
            return Err(error);
        }
        tracing::warn!(
            model = self.first.id(),
            instead = self.second.id(),
            error = error.shown(&request),
            "the model did not answer, and another one is asked"
        );
        let last = self.second.chat(request).await;
        last.map_err(|last| last.followed(format_args!("`{}` before it: {error}", self.first.id())))
    }
}
