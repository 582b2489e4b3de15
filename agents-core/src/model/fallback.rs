use super::{Capabilities, Model, ModelError, Reply, Request, streamed::Streamed};
use async_trait::async_trait;

/// Two models, of which the second gets the requests that the first one fails to answer; made by [`Model::or`].
///
/// Every request is made to the first model. If the request fails for any reason, the second model gets the same
/// request, unless a part of the first reply was streamed already. The change is a log line and a fact of the run. If
/// the second model fails as well, its error includes that of the first one.
///
/// In all other respects the two are one model, with one name: `first|second`. One [price](crate::agent::Run::price) is
/// therefore set for this name, for example that of the dearer model. If the run has a price for the name of the model
/// that answered, that price applies.
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

    /// Returns the abilities that at least one of the two models has, and the smaller of the two windows.
    fn capabilities(&self) -> Capabilities {
        let (first, second) = (self.first.capabilities(), self.second.capabilities());
        Capabilities {
            tools: first.tools || second.tools,
            parallel_calls: first.parallel_calls || second.parallel_calls,
            structured_output: first.structured_output || second.structured_output,
            streaming: first.streaming || second.streaming,
            images: first.images || second.images,
            files: first.files || second.files,
            // What one model can read, the other one has to read as well.
            window: first.window.into_iter().chain(second.window).min(),
        }
    }

    fn knows_cost(&self) -> bool {
        self.first.knows_cost() && self.second.knows_cost()
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let streamed = Streamed::default();
        let error = match streamed.ask(&self.first, request).await {
            Ok(reply) => return Ok(by(reply, &self.first)),
            Err(error) => error,
        };
        if streamed.anything() {
            return Err(error);
        }
        tracing::warn!(
            model = self.first.id(),
            instead = self.second.id(),
            error = request.masked(&error),
            "the model did not answer, and another one is asked"
        );
        request.failed(self.first.id(), &error);
        let last = self.second.chat(request).await;
        let last = last.map(|reply| by(reply, &self.second));
        last.map_err(|last| last.followed(format_args!("`{}` before it: {error}", self.first.id())))
    }
}

/// Adds the name of the model that answered to the reply, unless that model stands for several and has named one
/// already.
fn by(mut reply: Reply, model: &impl Model) -> Reply {
    reply.model.get_or_insert_with(|| model.id().to_owned());
    reply
}
