//! Runners: how an agent of one context asks an agent of another, without naming its types.

use super::wording;
use crate::{
    Effects, Error,
    error::{Cause, Code},
    tool::{FnTool, ToolSpec, schema_of},
};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use std::{sync::Arc, time::Duration};

/// Time limit for a call of a bridge tool, in place of the limit for tools: the agent behind it may wait for people.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Runner: the agent of a context, as other contexts may call it.
///
/// The contract of the callee's context names the runner, for example as `dyn AgentRunner<About = World>`. The callee
/// implements it. A program that knows both gives the caller a [bridge tool](AgentRunner#method.tool), so that neither
/// context names the other. Within the bridge tool, the callee's run is a part of the caller's run, unless it is [a run
/// of its own](super::Run): it has the scope, the budget, the cancellation and the trace of that run.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Agent, AgentBuilder, Error, agent::AgentRunner, async_trait};
/// # use agents::testing::{Script, ScriptedModel};
/// use std::sync::Arc;
///
/// // The contract: what the callee has to know besides the words.
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// pub struct World {
///     /// Id of the world that is meant.
///     pub world_id: String,
/// }
///
/// // The callee.
/// struct WorldRunner<A>(A);
///
/// #[async_trait]
/// impl<A: Agent<In = String, Out = String> + 'static> AgentRunner for WorldRunner<A> {
///     type About = World;
///
///     async fn ask(&self, question: &str, about: &World) -> Result<String, Error> {
///         self.0.run(format!("In world {}: {question}", about.world_id)).await
///     }
///
///     async fn chat(&self, message: &str, _session_id: &str, about: &World) -> Result<String, Error> {
///         self.ask(message, about).await // this world has no memory
///     }
/// }
///
/// // The program.
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// # let (model, _) = ScriptedModel::new([Script::text("Two suns.")]);
/// let world = AgentBuilder::<String, String>::new("world").model(model).build();
/// let runner: Arc<dyn AgentRunner<About = World>> = Arc::new(WorldRunner(world));
/// let ask_world = runner.tool("ask_world", "Asks the agent that knows the worlds.");
/// # let (model, _) = ScriptedModel::new([
/// #     Script::call("ask_world", r#"{"question": "How many suns?", "world_id": "w1"}"#),
/// #     Script::text("It has two suns."),
/// # ]);
/// let clerk = AgentBuilder::<String, String>::new("clerk").model(model).tool(ask_world).build();
/// assert_eq!(clerk.run("How many suns has w1?").await?, "It has two suns.");
/// # Ok(())
/// # }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a runner",
    label = "expected a runner",
    note = "a runner has two methods, `ask` and `chat`, and a type `About` for what the callee has to know besides the words"
)]
pub trait AgentRunner: Send + Sync + 'static {
    /// Data that the callee needs besides the words. Its fields are arguments of the bridge tool beside `question`.
    type About: Send + Sync + 'static;

    /// Asks the agent a question outside of any session: the agent knows of no earlier question, and keeps nothing of
    /// this one.
    ///
    /// # Errors
    /// When the agent has no answer.
    async fn ask(&self, question: &str, about: &Self::About) -> Result<String, Error>;

    /// Sends a message in a session. The agent knows the messages before it in the same session.
    ///
    /// # Errors
    /// When the agent has no answer.
    async fn chat(
        &self,
        message: &str,
        session_id: &str,
        about: &Self::About,
    ) -> Result<String, Error>;
}

/// Arguments of a bridge tool.
#[derive(Deserialize, JsonSchema)]
struct Asked<A> {
    /// The question, with all that is needed to answer it.
    question: String,
    #[serde(flatten)]
    about: A,
}

impl<A: DeserializeOwned + JsonSchema + Send + Sync + 'static> dyn AgentRunner<About = A> {
    /// Makes a bridge tool of the runner, which asks the agent a question: see [`AgentRunner`]. The tool counts as a part of
    /// the run, as a delegate does: calls of the callee's tools are judged themselves.
    ///
    /// # Panics
    /// When `About` has a field named `question`.
    pub fn tool(
        self: &Arc<Self>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> FnTool {
        let has_question = schema_of::<A>().pointer("/properties/question").is_some();
        assert!(!has_question, "{}", wording::QUESTION_IS_TAKEN);
        let schema = schema_of::<Asked<A>>();
        let (name, runner) = (name.into(), self.clone());
        // The callee has bounds of its own, and may have to wait for a person.
        let spec =
            ToolSpec::new(name.clone(), description.into(), Effects::Reads, schema).timeout(A_DAY);
        let tool = FnTool::with_causes(spec, move |args, _| {
            let (name, runner) = (name.clone(), runner.clone());
            async move {
                let asked: Asked<A> = serde_json::from_value(args)
                    .map_err(|error| Cause::text(Code::ValidationError, error.to_string()))?;
                let answer = runner.ask(&asked.question, &asked.about).await;
                answer.map_err(|error| Cause::of_agent(&name, error))
            }
        });
        tool.part_of_the_run()
    }
}
