//! Stage 0: the model is asked, and its reply becomes calls or an answer.

use crate::{
    Error, ErrorKind,
    agent::Brain,
    model::{Delta, Model, ModelError, Reply, Request, ToolCall},
    reader::printed::{self, Declared},
    run::{Cx, EventKind},
};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};
use tracing::{Instrument, field};

/// Asks the model for the next message. `schema` is that of the answer, `must_fit` says that the
/// last answer did not fit: then nothing but an answer is asked for.
pub(crate) async fn ask(
    brain: &Brain<'_>,
    cx: &Cx,
    turn: u32,
    schema: Option<&Value>,
    must_fit: bool,
) -> Result<Reply, Error> {
    let own = cx
        .node
        .given()
        .or_else(|| brain.model.as_ref().or(cx.model()).cloned());
    let model = match &cx.root.settings.tape {
        Some(tape) => tape.model(own),
        None => own,
    };
    let model = &model.ok_or_else(|| no_model(brain))?;
    if let Some(passed) = cx.node.overspent().or_else(|| cx.node.step()) {
        match cx.exceed(passed).await {}
    }
    cx.root.emit(&cx.node, || EventKind::Asked {
        turn,
        model: model.id().to_owned(),
    });
    let reply = send(brain, cx, model, schema, must_fit)
        .await
        .map_err(|error| {
            Error::from(error).context(format!("agent `{}`, turn {turn}", brain.name))
        })?;
    cx.root.charge(reply.usage);
    cx.node.spend(reply.usage.tokens());
    let before = cx.node.with_frame(|frame| frame.before);
    let reply = with_ids(with_printed_calls(brain, reply, must_fit), before + turn);
    cx.root.emit(&cx.node, || EventKind::Replied {
        turn,
        calls: reply.calls.len(),
        finish: reply.finish.clone(),
        usage: reply.usage,
    });
    Ok(reply)
}

async fn send(
    brain: &Brain<'_>,
    cx: &Cx,
    model: &Arc<dyn Model>,
    schema: Option<&Value>,
    must_fit: bool,
) -> Result<Reply, ModelError> {
    let (history, choosing) = cx
        .node
        .with_frame(|frame| (frame.history.clone(), frame.choosing));
    let mut request = Request::new(&history);
    // A model that must follow a schema cannot call, so the two are never asked for together.
    match schema {
        Some(schema) if must_fit || brain.tools.offered().next().is_none() => {
            request = request.with_format(schema)
        }
        _ => request = request.with_tools(&brain.tools),
    }
    // Which skill a model names is no text of its answer.
    let streamed = cx.root.settings.subscriber.is_some() && !choosing;
    let declared = if streamed {
        declared(brain, must_fit)
    } else {
        Vec::new()
    };
    let shown = Mutex::new(printed::Stream::new(&declared));
    let show = |text: String| {
        if !text.is_empty() {
            cx.root.emit(&cx.node, || EventKind::Text(text));
        }
    };
    let sink = |delta: Delta<'_>| match delta {
        // What may turn out to be a printed call is held back until it is known.
        Delta::Text(text) => show(
            shown
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(text),
        ),
        Delta::Thinking(text) => cx
            .root
            .emit(&cx.node, || EventKind::Thinking(text.to_owned())),
    };
    if streamed {
        request = request.with_sink(&sink);
    }
    let span = tracing::info_span!(
        "chat",
        otel.name = %format_args!("chat {}", model.id()),
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = model.provider(),
        gen_ai.request.model = model.id(),
        gen_ai.usage.input_tokens = field::Empty,
        gen_ai.usage.output_tokens = field::Empty,
        gen_ai.input.messages = field::Empty,
        gen_ai.output.messages = field::Empty,
        error.type = field::Empty,
    );
    let content = cx.root.settings.record_content;
    if content && !span.is_disabled() {
        span.record(
            "gen_ai.input.messages",
            serde_json::to_string(history.messages()).unwrap_or_default(),
        );
    }
    let reply = model.chat(request).instrument(span.clone()).await;
    if streamed {
        show(
            shown
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner)
                .finish()
                .content,
        );
    }
    match &reply {
        Ok(reply) => {
            span.record("gen_ai.usage.input_tokens", reply.usage.input_tokens);
            span.record("gen_ai.usage.output_tokens", reply.usage.output_tokens);
            if content && !span.is_disabled() {
                span.record(
                    "gen_ai.output.messages",
                    serde_json::to_string(reply).unwrap_or_default(),
                );
            }
        }
        Err(error) => {
            span.record("error.type", field::debug(error.kind()));
        }
    }
    reply
}

/// A server that cannot read a model's call hands it on as text; here it is read.
fn with_printed_calls(brain: &Brain<'_>, mut reply: Reply, must_fit: bool) -> Reply {
    if !reply.calls.is_empty() || brain.tools.is_empty() || must_fit {
        return reply;
    }
    let declared = declared(brain, must_fit);
    let printed = printed::read(&reply.content, &declared);
    if !printed.calls.is_empty() {
        reply.content = printed.content;
        reply.thinking = reply.thinking.or(printed.thinking);
        reply.calls = printed
            .calls
            .into_iter()
            .map(|call| ToolCall {
                id: String::new(),
                name: call.name,
                arguments: call.arguments,
            })
            .collect();
    }
    reply
}

/// The tools that a printed call can be for: those that were offered.
fn declared<'a>(brain: &'a Brain<'_>, must_fit: bool) -> Vec<Declared<'a>> {
    let offered = brain.tools.offered().filter(|_| !must_fit);
    offered
        .map(|spec| Declared {
            name: &spec.name,
            schema: &spec.input_schema,
        })
        .collect()
}

/// Every call gets an id that is its own: what the model gave, if it gave one and only once.
fn with_ids(mut reply: Reply, turn: u32) -> Reply {
    let mut seen = BTreeSet::new();
    for (index, call) in reply.calls.iter_mut().enumerate() {
        if call.id.is_empty() || !seen.insert(call.id.clone()) {
            call.id = format!("call_{turn}_{index}");
            while !seen.insert(call.id.clone()) {
                call.id.push('_');
            }
        }
    }
    reply
}

fn no_model(brain: &Brain<'_>) -> Error {
    let name = &brain.name;
    Error::new(
        ErrorKind::Build,
        format!(
            "agent `{name}` has no model; name one with `#[agent(model = ..)]` or `.model(..)` on the agent, or with `.run(..).model(..)`"
        ),
    )
}
