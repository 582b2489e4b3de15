use super::Timestamp;
use crate::model::Usage;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};
use tracing::Span;

/// What happened in a run, and when: every agent, every turn of a model, every call.
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
    /// The trace's id, as it stands in log lines, and in OpenTelemetry if that is set up; else it is
    /// made of the run's.
    pub id: String,
    /// The steps, in the order in which they ended.
    pub steps: Vec<Step>,
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Where in the run; the place of what went on within it begins with this one. Empty for the run
    /// itself.
    pub place: String,
    /// The agent whose step it is.
    pub agent: Arc<str>,
    /// How deep that agent is nested; 0 for the one that was run.
    pub depth: u32,
    /// When it began.
    pub t_start: Timestamp,
    /// When it ended.
    pub t_end: Timestamp,
    /// What it was.
    pub kind: StepKind,
}

/// What a step was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// An agent worked.
    Agent {
        /// It gave an answer.
        ok: bool,
    },
    /// A model was asked.
    Turn {
        /// Which turn of the agent, from 1.
        turn: u32,
        /// Which model.
        model: String,
        /// How many calls it asked for; `None` if it did not answer.
        calls: Option<usize>,
        /// What the answer cost.
        usage: Usage,
        /// It was asked which of the agent's skills answers.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        choosing: bool,
    },
    /// A call was made.
    Call {
        /// The id of its receipt.
        call_id: Arc<str>,
    },
}

impl Step {
    /// How long it took.
    pub fn duration(&self) -> std::time::Duration {
        self.t_end.since(self.t_start)
    }
}

/// How spans are known to whoever traces them: what the feature `otel` of `agents` says.
#[derive(Clone, Copy, Debug)]
pub struct Tracing {
    /// The place of a span among all traces, in the form of the W3C's `traceparent`; `None` if nobody
    /// traces it.
    pub place: fn(&Span) -> Option<String>,
    /// Hangs a new span in the trace of such a place, below it.
    pub hang: fn(&Span, &str),
}

/// Says how spans are known to whoever traces them. The first word counts.
pub fn trace_with(tracing: Tracing) {
    let _ = TRACING.set(tracing);
}

static TRACING: OnceLock<Tracing> = OnceLock::new();

/// The place of the span among all traces, if somebody traces it.
pub(super) fn place(span: &Span) -> Option<String> {
    (TRACING.get()?.place)(span)
}

/// Hangs a new span in the trace that the run had before it was put down.
pub(crate) fn hang(span: &Span, place: &str) {
    if let Some(tracing) = TRACING.get() {
        (tracing.hang)(span, place);
    }
}

/// The id of the trace in which the span lies; without a tracer, the run's own id in the same form.
pub(super) fn trace_id(span: &Span, run_id: &str) -> String {
    let traced = place(span);
    let id = traced.as_deref().and_then(|place| place.split('-').nth(1));
    id.map_or_else(|| run_id.replace('-', ""), str::to_owned)
}
