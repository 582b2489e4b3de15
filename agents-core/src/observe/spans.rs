//! Spans of a run. Attributes are only computed for spans that are recorded.

use crate::{
    Error, Json, ToolError,
    context::{Root, RunContext},
    definition::AgentDefinition,
    error::{Cause, Origin},
    model::{Model, ModelError, Reply},
    run::Outcome,
    secret::Masker,
    tool::{ToolContext, ToolSpec},
};
use serde_json::Value;
use std::sync::Arc;
use tracing::{Span, field, info_span};

use super::messages;

/// Creates the `tracing` span that covers the whole run.
pub(super) fn run(agent: &str, root: &Root) -> Span {
    info_span!(
        "invoke_workflow",
        otel.name = %format_args!("invoke_workflow {agent}"),
        gen_ai.operation.name = "invoke_workflow",
        gen_ai.workflow.name = agent,
        gen_ai.conversation.id = &*root.run_id,
        agents.tenant = root.settings.scope.tenant_id(),
        gen_ai.usage.input_tokens = field::Empty,
        gen_ai.usage.output_tokens = field::Empty,
        error.type = field::Empty,
        otel.status_code = field::Empty,
    )
}

pub(super) fn ran<T>(span: &Span, outcome: &Outcome<T>) {
    span.record("gen_ai.usage.input_tokens", int(outcome.usage.input_tokens));
    span.record(
        "gen_ai.usage.output_tokens",
        int(outcome.usage.output_tokens),
    );
    if let Err(error) = &outcome.result {
        failed(span, &error.kind());
    }
}

/// Creates the `tracing` span of a model-driven agent at work.
pub(crate) fn agent(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
    schema: Option<&Value>,
) -> Span {
    let model = cx.model();
    info_span!(
        "invoke_agent",
        otel.name = %format_args!("invoke_agent {}", definition.name),
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = %definition.name,
        gen_ai.agent.description = (!definition.description.is_empty()).then_some(&*definition.description),
        gen_ai.conversation.id = cx.run_id(),
        gen_ai.provider.name = model.map(Model::provider),
        gen_ai.request.model = model.map(Model::id),
        gen_ai.output.type = output_type(schema),
        error.type = field::Empty,
        otel.status_code = field::Empty,
    )
}

pub(crate) fn worked<O>(span: &Span, result: &Result<O, Error>) {
    if let Err(error) = result {
        failed(span, &error.kind());
    }
}

/// Creates the `tracing` span of one request to a model.
pub(crate) fn chat(
    cx: &RunContext,
    model: &Arc<dyn Model>,
    turn: u32,
    format: Option<&Value>,
) -> Span {
    info_span!(
        "chat",
        otel.name = %format_args!("chat {}", model.id()),
        otel.kind = "client",
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = model.provider(),
        gen_ai.request.model = model.id(),
        gen_ai.conversation.id = cx.run_id(),
        gen_ai.output.type = output_type(format),
        agents.turn = i64::from(turn),
        agents.choosing = field::Empty,
        agents.finish = field::Empty,
        gen_ai.usage.input_tokens = field::Empty,
        gen_ai.usage.output_tokens = field::Empty,
        gen_ai.input.messages = field::Empty,
        gen_ai.output.messages = field::Empty,
        error.type = field::Empty,
        otel.status_code = field::Empty,
    )
}

/// Records in the span that the model is asked to choose one of these skills.
pub(crate) fn choosing(span: &Span, skills: &[String]) {
    span.record("agents.choosing", skills.join(", "));
}

/// Records the messages of the request in its span, if the run is set to record content.
pub(crate) fn asked(span: &Span, cx: &RunContext, conversation: &[crate::model::Message]) {
    if cx.root.settings.record_content && !span.is_disabled() {
        let messages = messages::input(conversation).to_string();
        span.record("gen_ai.input.messages", &*cx.masker().json_text(&messages));
    }
}

pub(crate) fn replied(span: &Span, cx: &RunContext, reply: &Result<Reply, ModelError>) {
    match reply {
        Ok(reply) => {
            span.record("gen_ai.usage.input_tokens", int(reply.usage.input_tokens));
            span.record("gen_ai.usage.output_tokens", int(reply.usage.output_tokens));
            if span.is_disabled() {
                return;
            }
            span.record("agents.finish", messages::finish(reply));
            if cx.root.settings.record_content {
                let message = messages::output(reply).to_string();
                let message = cx.masker().json_text(&message);
                span.record("gen_ai.output.messages", &*message);
            }
        }
        Err(error) => failed(span, &format_args!("{:?}", error.kind())),
    }
}

/// Creates the `tracing` span of one call, from the moment at which the agent begins to handle it until its receipt, or
/// until it is left for the background.
pub(crate) fn call(masker: &Masker, tool: &str) -> Span {
    let tool = masker.text(tool);
    info_span!(
        "call",
        otel.name = %format_args!("call {tool}"),
        gen_ai.tool.name = %tool,
        gen_ai.tool.call.id = field::Empty,
        agents.cached = field::Empty,
        error.type = field::Empty,
        otel.status_code = field::Empty,
    )
}

/// Guard that marks a span as failed if the work that the span stands for is dropped.
pub(crate) struct Open<'a>(Option<&'a Span>);

impl<'a> Open<'a> {
    pub(crate) fn of(span: &'a Span) -> Self {
        Open(Some(span))
    }

    /// Releases the guard, since the span's work has ended by itself.
    pub(crate) fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let Some(span) = self.0 {
            failed(span, &"cut_off");
        }
    }
}

pub(crate) fn settled(span: &Span, receipt: &crate::run::ToolEnvelope) {
    span.record("gen_ai.tool.call.id", &*receipt.call_id);
    span.record("agents.cached", receipt.cached);
    if let Some(error) = &receipt.error {
        failed(span, &error.code);
    }
}

/// Creates the `tracing` span of the decision whether a call may be made.
pub(crate) fn policy(masker: &Masker, tool: &str) -> Span {
    let tool = masker.text(tool);
    info_span!(
        "policy",
        otel.name = %format_args!("policy {tool}"),
        gen_ai.tool.name = %tool,
        agents.verdict = field::Empty,
        agents.reason = field::Empty,
    )
}

pub(crate) fn judged<T>(span: &Span, masker: &Masker, verdict: &Result<T, ToolError>) {
    match verdict {
        Ok(_) => span.record("agents.verdict", "allow"),
        Err(_) if span.is_disabled() => span,
        Err(error) => {
            let reason = error.to_string();
            span.record("agents.verdict", "deny")
                .record("agents.reason", &*masker.text(&reason))
        }
    };
}

/// Creates the `tracing` span of one execution of a tool.
pub(crate) fn attempt(context: &ToolContext, spec: &ToolSpec) -> Span {
    let span = info_span!(
        "execute_tool",
        otel.name = %format_args!("execute_tool {}", context.tool),
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = %context.tool,
        gen_ai.tool.description = &*spec.description,
        gen_ai.tool.call.id = %context.call_id,
        gen_ai.tool.type = "function",
        gen_ai.tool.call.arguments = field::Empty,
        gen_ai.tool.call.result = field::Empty,
        agents.attempt = i64::from(context.attempt),
        error.type = field::Empty,
        otel.status_code = field::Empty,
    );
    if context.cx.root.settings.record_content
        && !span.is_disabled()
        && let Some(arguments) = context.cx.arguments()
    {
        let arguments = context.masker().json_text(arguments.as_str()).into_owned();
        span.record("gen_ai.tool.call.arguments", arguments);
    }
    span
}

/// Records in the span of an execution how it ended: the code of its error, or its output if the run records contents,
/// with names in place of secrets.
pub(crate) fn executed(span: &Span, context: &ToolContext, result: &Result<Json, Cause>) {
    match result {
        Ok(output) if context.cx.root.settings.record_content => {
            let seen = context.masker().seen(output);
            span.record("gen_ai.tool.call.result", seen.as_str());
        }
        Ok(_) => {}
        Err(cause) => {
            failed(span, &cause.code());
            if cause.origin() == Origin::Panicked {
                span.in_scope(|| tracing::warn!(tool = %context.tool, "the tool panicked"));
            }
        }
    }
}

fn failed(span: &Span, kind: &dyn std::fmt::Display) {
    span.record("error.type", field::display(kind));
    span.record("otel.status_code", "ERROR");
}

/// Converts a count to an `i64`, as OpenTelemetry's conventions have it. A count that is too large becomes the largest
/// `i64`.
pub(crate) fn int(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn output_type(schema: Option<&Value>) -> &'static str {
    match schema {
        Some(_) => "json",
        None => "text",
    }
}
