use super::Timestamp;
use crate::model::Usage;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};
use tracing::Span;

/// Timed steps of a run: every agent, every model turn and every tool call.
///
/// ```
/// # use agents_core as agents;
/// use agents::testing::{Script, ScriptedModel};
/// use agents::{Agent, AgentBuilder};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// let (model, _) = ScriptedModel::new([Script::text("42")]);
/// let agent = AgentBuilder::<String, u32>::new("oracle").model(model).build();
///
/// let trace = agent.run("?").outcome().await?.trace;
/// for step in &trace.steps {
///     println!("{} {:?} {:?}", step.agent, step.kind, step.duration());
/// }
/// assert!(!trace.steps.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Id of the trace, as in log lines and, where it is set up, OpenTelemetry; otherwise derived from the run's id.
    pub id: String,
    /// Steps of the run, in the order in which they ended.
    pub steps: Vec<TraceStep>,
}

impl Trace {
    /// Returns the name of the agent that made the call with this `call_id`; `None` if there was no such call.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("dark") });
    /// # let (model, _) = ScriptedModel::new([Script::call("look", "{}"), Script::text("dark")]);
    /// # let agent = AgentBuilder::<String, String>::new("watcher").tool(look).model(model).build();
    /// let outcome = agent.run("What is there?").outcome().await?;
    /// for receipt in outcome.outputs.receipts() {
    ///     assert_eq!(outcome.trace.caller(&receipt.call_id), Some("watcher"));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn caller(&self, call_id: &str) -> Option<&str> {
        let is_it = |step: &&TraceStep| matches!(&step.kind, StepKind::Call { call_id: id } if **id == *call_id);
        self.steps.iter().find(is_it).map(|step| &*step.agent)
    }
}

/// Step of a run, with its place and its times.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// use agents::observe::StepKind;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, _) = ScriptedModel::new([Script::text("42")]);
/// # let agent = AgentBuilder::<String, u32>::new("oracle").model(model).build();
/// let trace = agent.run("?").outcome().await?.trace;
/// let turns = trace.steps.iter().filter(|step| matches!(step.kind, StepKind::Turn { .. }));
/// assert_eq!(turns.count(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceStep {
    /// Place of the step in the run, a prefix of the places of all steps within it. For the run itself it is empty or,
    /// in a [run of its own](crate::agent::Run) within another run, the run's place in that run.
    pub place: String,
    /// Name of the agent whose step it is.
    pub agent: Arc<str>,
    /// Nesting depth of that agent; 0 for the one that was run.
    pub depth: u32,
    /// Time at which the step began.
    pub t_start: Timestamp,
    /// Time at which the step ended.
    pub t_end: Timestamp,
    /// Kind of the step, with its details.
    pub kind: StepKind,
}

/// Kind of a [`TraceStep`]: an agent's work, a request to a model, or a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Work of an agent, from its begin until it has answered, failed or been dropped.
    Agent {
        /// Is `true` if the agent gave an answer, and `false` if it failed or was dropped.
        ok: bool,
    },
    /// Request to a model, from its begin until its reply or its failure, or until nobody waits for the reply any
    /// more.
    Turn {
        /// Number of the agent's turn, from 1.
        turn: u32,
        /// Id of the model that was asked.
        model: Arc<str>,
        /// Number of tool calls in the reply; `None` if the model did not reply.
        calls: Option<usize>,
        /// Tokens that the reply used; none if the model did not reply.
        usage: Usage,
        /// Is `true` if the model was asked to choose one of the agent's skills.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        choosing: bool,
        /// Is `true` if the reply was an answer that did not fit and was not used.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        refused: bool,
    },
    /// Tool call, from its begin until its result was final.
    Call {
        /// Id of the receipt of the call, where its arguments and output are.
        call_id: Arc<str>,
    },
}

impl TraceStep {
    /// Returns the duration of the step.
    pub fn duration(&self) -> std::time::Duration {
        self.t_end.since(self.t_start)
    }
}

/// Functions by which a tracing backend connects spans to its traces; the feature `otel` of `agents` installs them.
#[derive(Clone, Copy, Debug)]
pub struct Tracing {
    /// Returns a span's position in its trace as a W3C `traceparent`, or `None` if the span is not traced.
    pub place: fn(&Span) -> Option<String>,
    /// Makes a new span a child of the position that this `traceparent` describes.
    pub set_parent: fn(&Span, &str),
}

/// Installs the functions of a tracing backend; only the first call of a process has an effect.
pub fn trace_with(tracing: Tracing) {
    let _ = TRACING.set(tracing);
}

static TRACING: OnceLock<Tracing> = OnceLock::new();

/// Returns the position of the span in its trace, as a W3C `traceparent`; `None` if it is not traced.
pub(crate) fn place(span: &Span) -> Option<String> {
    (TRACING.get()?.place)(span)
}

/// Attaches a new span to the trace that the run had in an earlier process.
pub(crate) fn set_parent(span: &Span, place: &str) {
    if let Some(tracing) = TRACING.get() {
        (tracing.set_parent)(span, place);
    }
}

/// Returns the id of the span's trace; without a tracer, the run's own id in the same form.
pub(crate) fn trace_id(span: &Span, run_id: &str) -> String {
    let traced = place(span);
    let id = traced.as_deref().and_then(|place| place.split('-').nth(1));
    id.map_or_else(|| run_id.replace('-', ""), str::to_owned)
}
