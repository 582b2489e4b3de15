//! Observability of a run: `tracing` spans, log lines, and a timed [`Trace`].
//!
//! # Spans
//!
//! Every run is one tree of `tracing` spans, with all of its parts. A run in a tool's body belongs to the tree
//! of the run around it, and a resumed run continues in its earlier trace. Names and attributes follow
//! OpenTelemetry's [semantic conventions for generative AI], version 1.41, where these define one:
//!
//! | span | attributes | what |
//! |-|-|-|
//! | `invoke_workflow {agent}` | `gen_ai.workflow.name`, `gen_ai.conversation.id` (the run's id), `gen_ai.usage.*` | the run |
//! | `invoke_agent {agent}` | `gen_ai.agent.name`, `.description`, `gen_ai.provider.name`, `gen_ai.request.model`, `gen_ai.output.type` | an agent that a model drives |
//! | `chat {model}` | `gen_ai.provider.name`, `gen_ai.request.model`, `gen_ai.usage.input_tokens`, `.output_tokens` | one request; its kind is `CLIENT` |
//! | `call {tool}` | `gen_ai.tool.name`, `gen_ai.tool.call.id` | one call, from being taken up to its receipt; a call in the background has one span until its ticket, and another one from there |
//! | `policy {tool}` | `agents.verdict`, `agents.reason` | the decision whether the call may be made |
//! | `execute_tool {tool}` | `gen_ai.tool.name`, `.type`, `.description`, `gen_ai.tool.call.id`, `agents.attempt` | one execution |
//!
//! A span that ends in a failure has `error.type` and the status `ERROR`. If a call or an execution was cut off,
//! because its run ended or its work was given up, the type is `cut_off`. Events between two spans belong to the span
//! around them: `arguments repaired`, `call failed`, `backing off`, `asking a repair agent`, `escalated`. With
//! [`Run::record_content`](crate::agent::Run::record_content) spans also have `gen_ai.input.messages`,
//! `gen_ai.output.messages`, `gen_ai.tool.call.arguments` and `.result`, as JSON in the form that the conventions
//! define. Without that setting, no span has a prompt, an argument or a result as an attribute. The messages of errors,
//! which some events have, may quote parts of them.
//!
//! # Log lines
//!
//! Every call is one line with the target `observed_tool`, including calls that were cut off. Its fields are
//! `tool_name`, `agent_name`, `latency_ms`, `ok`, `error_class`, `trace_id`, `started_at`, `ended_at`, `call_id`,
//! `attempts`, `cached`, and the `tokens` and the `cost` of the models that were asked within the call.
//!
//! [semantic conventions for generative AI]: https://github.com/open-telemetry/semantic-conventions/tree/v1.41.0/docs/gen-ai

mod log_line;
mod messages;
pub(crate) mod spans;

pub use crate::run::trace::{StepKind, Trace, TraceStep, Tracing, trace_with};
pub(crate) use log_line::settled;

use crate::{
    context::Root,
    journal::Fact,
    run::{Outcome, trace::set_parent},
    shared::Shared,
};
use std::future::Future;
use tracing::Instrument;

/// Polls the future `run` within the span of its run, records the run's begin and end, and returns its outcome.
pub(crate) async fn observed<T>(
    root: &Shared<Root>,
    agent: &str,
    run: impl Future<Output = Outcome<T>>,
) -> Outcome<T> {
    let span = spans::run(agent, root);
    if let Some(before) = &root.trace_before {
        set_parent(&span, before);
    }
    root.place_in_trace(&span);
    let since = span.in_scope(|| root.begins());
    let outcome = run.instrument(span.clone()).await;
    spans::ran(&span, &outcome);
    let ok = outcome.result.is_ok();
    root.node.add(Fact::Worked { ok, since });
    let trace = root.trace();
    let mut outputs = outcome.outputs;
    outputs.traces_url = root.traces_url();
    Outcome {
        trace,
        outputs,
        ..outcome
    }
}
