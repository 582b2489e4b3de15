//! Requests to the model, whose reply becomes calls or an answer.

use super::{attach, shorten, wording};
use crate::{
    Error, ErrorKind,
    context::{Activity, RunContext},
    definition::AgentDefinition,
    digits::push_number,
    engine::admit,
    journal::Fact,
    model::{
        Delta, DistinctCalls, FinishReason, Model, ModelError, ModelErrorKind, Reply, Request,
        ToolCall, Usage, prompted,
    },
    observe::spans,
    reader::{
        self, Changes,
        printed::{self, Declared, PrintedCall},
    },
    run::{Cost, EventKind, Stop},
    secret,
};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};
use tracing::Instrument;

/// Asks the model for the next message. `schema` is the schema of the answer; with `must_fit`, the model may only
/// answer and not call.
///
/// If the agent has a policy for shortening its conversation, a conversation that is too long for the model is
/// shortened and sent once more.
pub(crate) async fn ask(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
    turn: u32,
    schema: Option<&Value>,
    must_fit: bool,
) -> Result<(), Error> {
    match asked(definition, cx, turn, schema, must_fit, true).await? {
        Asked::Replied => Ok(()),
        // A second refusal is an error.
        Asked::Shortened => {
            let again = asked(definition, cx, turn, schema, must_fit, false);
            Box::pin(again).await.map(|_| ())
        }
    }
}

/// End of a request.
enum Asked {
    Replied,
    /// The model refused the conversation, which is shorter now.
    Shortened,
}

async fn asked(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
    turn: u32,
    schema: Option<&Value>,
    must_fit: bool,
    may_shorten: bool,
) -> Result<Asked, Error> {
    let model = &driving(definition, cx).await?;
    // A model that must follow a schema cannot call, so the two are never asked for together.
    let format = schema.filter(|_| must_fit || definition.tools.offered().next().is_none());
    let offered = match format {
        Some(_) => "[]",
        None => definition.tools.declarations(),
    };
    if may_shorten {
        let size = offered.len();
        Box::pin(shorten::before_request(
            definition, cx, &**model, turn, size,
        ))
        .await?;
    }
    if let Some(passed) = cx.node.overspent().or_else(|| cx.node.one_more_step()) {
        match cx.exceed(passed).await {}
    }
    if let Some(stop) = admit::ask_model(definition, cx, turn, model.id()) {
        match cx.stop(stop).await {}
    }
    let offer = cx.node.offer(offered, format);
    let id = model.id();
    let name = cx.node.machine().look(|state| state.model_name(id));
    cx.node.add(Fact::Asked {
        model: name.clone(),
        offer,
    });
    cx.node.machine().flush();
    let asking = cx.asking(name, !definition.open.is_empty());
    let activity = cx.root.settings.activity.as_ref();
    let working = activity.map(Activity::work);
    let reply = send(definition, cx, model, turn, schema, must_fit, format).await;
    drop(working);
    let mut reply = match reply {
        Ok(reply) => reply,
        Err(error) => {
            let at = format!("agent `{}`, turn {turn}", definition.name);
            // A difference from the recorded run is no failure that an agent could handle.
            if error.kind() == ModelErrorKind::NotRecorded {
                let reason = format!("{at}: {error}");
                match cx.stop(Stop::Diverged { reason }).await {}
            }
            asking.failed(error.clone());
            if may_shorten {
                let shortened = shorten::after_overflow(definition, cx, &**model, turn, &error);
                if Box::pin(shortened).await? {
                    return Ok(Asked::Shortened);
                }
            }
            let is_long = error.kind() == ModelErrorKind::TooLong;
            let error = Error::from(error);
            let error = match is_long && definition.context.is_none() {
                true => error.context(wording::SHORTEN_CONTEXT),
                false => error,
            };
            return Err(error.context(at));
        }
    };
    // A client of one's own may report no usage; the request was made all the same.
    reply.usage.requests = reply.usage.requests.max(1);
    let by = reply.model.as_deref().unwrap_or(model.id());
    let prices = &cx.root.settings.executor.prices;
    let cost = reply
        .cost_nanos
        .map(Cost::of_nanos)
        .or_else(|| prices.of(by, &reply.usage))
        .or_else(|| prices.of(model.id(), &reply.usage));
    let before = cx.node.frame(|frame| frame.before);
    let reply = with_ids(
        with_printed_calls(definition, cx, reply, schema, must_fit),
        before.saturating_add(turn),
    );
    if reply.finish == FinishReason::Length {
        let (agent, model) = (&definition.name, model.id());
        tracing::warn!(%agent, turn, model, "a reply was cut off at the limit of the model's output tokens");
    }
    asking.replied(reply, cost, cx.root.settings.max_argument_bytes);
    Ok(Asked::Replied)
}

/// Returns the model that drives the agent. An agent of a stored run that was driven by another model is put down, unless
/// somebody allowed the change. So is a run that was stored, before it carries out a call: see [`drive`](super::drive).
///
/// # Errors
/// When there is no model, it is not admitted, or it has no price and the cost is bounded.
pub(super) async fn driving(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
) -> Result<Arc<dyn Model>, Error> {
    let settings = &cx.root.settings;
    let own = cx
        .node
        .given()
        .or_else(|| definition.own_model(settings))
        .or_else(|| cx.model().cloned());
    let model = settings.model_for(own);
    let model = model.ok_or_else(|| Error::new(ErrorKind::Build, definition.undriven()))?;
    if let Some(name) = settings.refused(&*model) {
        return Err(Error::new(ErrorKind::Build, wording::not_admitted(name))
            .context(wording::of_agent(&definition.name)));
    }
    if let Some(before) = cx.node.frame(|frame| frame.model.clone())
        && cx.node.given().is_none()
        && !settings.may_change(&before, model.id())
    {
        let reason = wording::another_model(&definition.name, &before, model.id());
        match cx.put_down(reason).await {}
    }
    let prices = &settings.executor.prices;
    if cx.node.has_cost_bound()
        && !model.knows_cost()
        && prices.of(model.id(), &Usage::default()).is_none()
    {
        return Err(no_price(definition, model.id()));
    }
    Ok(model)
}

async fn send(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
    model: &Arc<dyn Model>,
    turn: u32,
    schema: Option<&Value>,
    must_fit: bool,
    format: Option<&Value>,
) -> Result<Reply, ModelError> {
    let history = cx.node.frame(|frame| frame.history.clone());
    let masker = &**cx.masker();
    let place = cx.node.turn_path(turn);
    let mut request = Request::new(&history)
        .with_masker(masker)
        .with_place(&place)
        .of_run(cx);
    request.check_media(&**model)?;
    let has_media = history.has_images() || history.has_files();
    // A replay shows nothing to a real model.
    if has_media && cx.root.settings.replay.is_none() {
        Box::pin(attach::load(cx, &history)).await?;
    }
    request = match format {
        Some(format) => request.with_format(format),
        None => request.with_tools(&definition.tools),
    };
    let failed = |model: &str, error: &ModelError| {
        cx.node.add(Fact::Tried {
            model: model.into(),
            error: error.clone(),
        });
    };
    request = request.with_failures(&failed);
    // The name of a skill that a model chooses is no text of its answer.
    let streamed = !cx.root.settings.subscribers.is_empty() && definition.open.is_empty();
    let declared = streamed.then(|| declared(definition, must_fit));
    let show = declared.as_deref().map(|declared| Show::new(cx, declared));
    let sink = |delta: Delta<'_>| show.iter().for_each(|show| show.delta(delta));
    if streamed {
        request = request.with_sink(&sink);
    }
    let span = spans::chat(cx, model, turn, request.format());
    if !definition.open.is_empty() {
        spans::choosing(&span, &definition.open);
    }
    spans::asked(&span, cx, history.messages());
    #[cfg(any(test, feature = "testing"))]
    crate::checks::oracle::asked(cx.run_id(), &request);
    // The model itself is called, not the pointer to it: that would be a future around its future.
    let reply = (**model).chat(request).instrument(span.clone()).await;
    if let Some(show) = show {
        let is_call = |reply: &Reply| whole_call(definition, cx, reply, schema, must_fit).is_some();
        show.finish(reply.as_ref().is_ok_and(is_call));
    }
    spans::replied(&span, cx, &reply);
    reply
}

/// Passes an answer on to subscribers while it is written. Text that may turn out to be a printed call or a secret is
/// held back until that is known.
struct Show<'a> {
    cx: &'a RunContext,
    text: Mutex<Shown<'a>>,
    thinking: Mutex<secret::Stream>,
}

struct Shown<'a> {
    /// Text so far, as long as the whole text may turn out to be one printed call.
    whole: Option<String>,
    printed: printed::Stream<'a>,
    hidden: secret::Stream,
}

impl Shown<'_> {
    fn push(&mut self, piece: &str) -> String {
        let Some(mut whole) = self.whole.take() else {
            return self.hidden.push(self.printed.push(piece));
        };
        whole.push_str(piece);
        if prompted::may_be_call(&whole) {
            self.whole = Some(whole);
            return String::new();
        }
        self.hidden.push(self.printed.push(&whole))
    }
}

impl<'a> Show<'a> {
    fn new(cx: &'a RunContext, declared: &'a [Declared<'a>]) -> Self {
        let hidden = || secret::Stream::new(cx.masker());
        Show {
            cx,
            text: Mutex::new(Shown {
                whole: Some(String::new()),
                printed: printed::Stream::new(declared),
                hidden: hidden(),
            }),
            thinking: Mutex::new(hidden()),
        }
    }

    fn delta(&self, delta: Delta<'_>) {
        match delta {
            Delta::Text(piece) => {
                let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
                emit(self.cx, EventKind::Text, text.push(piece));
            }
            Delta::Thinking(piece) => {
                let mut thinking = self.thinking.lock().unwrap_or_else(PoisonError::into_inner);
                emit(
                    self.cx,
                    EventKind::Thinking,
                    thinking.push(piece.to_owned()),
                );
            }
        }
    }

    fn finish(self, is_call: bool) {
        let Show { cx, text, thinking } = self;
        let thinking = thinking.into_inner();
        let thinking = thinking.unwrap_or_else(PoisonError::into_inner);
        emit(cx, EventKind::Thinking, thinking.finish());
        let Shown {
            whole,
            mut printed,
            mut hidden,
        } = text.into_inner().unwrap_or_else(PoisonError::into_inner);
        let whole = whole.filter(|_| !is_call).unwrap_or_default();
        let said = printed.push(&whole) + &printed.finish().content;
        emit(cx, EventKind::Text, hidden.push(said));
        emit(cx, EventKind::Text, hidden.finish());
    }
}

fn emit(cx: &RunContext, kind: fn(String) -> EventKind, piece: String) {
    if !piece.is_empty() {
        cx.root.stream(&cx.node, kind(piece));
    }
}

/// Reads calls that are printed in the text of a reply, as a server leaves them that cannot read its model's calls.
///
/// A call of an unknown tool counts as a call as well, so that the model can be told that there is no such tool. In a
/// repair, such a text does not count as a call, since it may be the text that is asked for.
fn with_printed_calls(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
    mut reply: Reply,
    schema: Option<&Value>,
    must_fit: bool,
) -> Reply {
    if !reply.calls.is_empty() || definition.tools.is_empty() || must_fit {
        return reply;
    }
    let declared = declared(definition, must_fit);
    let mut printed = printed::read(&reply.content, &declared);
    if cx.repair().is_none() {
        printed.calls.append(&mut printed.undeclared);
    }
    if printed.calls.is_empty()
        && let Some(call) = whole_call(definition, cx, &reply, schema, must_fit)
    {
        reply.content.clear();
        reply.calls.push(call);
    } else if !printed.calls.is_empty() {
        reply.content = printed.content;
        reply.thinking = reply.thinking.or(printed.thinking.map(Into::into));
        let as_made = |call: PrintedCall| {
            let made = ToolCall {
                id: String::new(),
                name: call.name,
                arguments: call.arguments,
            };
            (made, call.changes)
        };
        (reply.calls, reply.changes) = printed.calls.into_iter().map(as_made).unzip();
        if reply.changes.iter().all(Changes::is_empty) {
            reply.changes.clear();
        }
    }
    reply
}

/// Returns the call of an unknown tool, if the reply is one printed call and nothing else. It counts as a call if the
/// model was told in its prompt to print calls, or if the name is close to that of a tool. A text that fits the schema
/// of the agent's answer counts as an answer.
fn whole_call(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
    reply: &Reply,
    schema: Option<&Value>,
    must_fit: bool,
) -> Option<ToolCall> {
    if !reply.calls.is_empty() || must_fit || cx.repair().is_some() {
        return None;
    }
    definition.tools.offered().next()?;
    let call = prompted::read_call(&reply.content)?;
    let is_meant = reply.prompted || definition.tools.suggest(&call.name).is_some();
    let is_answer = schema.is_some_and(|schema| {
        let text = reader::strip_fences(&reply.content);
        reader::fits(&text, schema).is_ok()
    });
    (is_meant && !is_answer).then_some(call)
}

/// Returns the tools that a printed call can be for: the tools that the request offered.
fn declared<'a>(definition: &'a AgentDefinition<'_>, must_fit: bool) -> Vec<Declared<'a>> {
    let offered = definition.tools.offered().filter(|_| !must_fit);
    offered
        .map(|spec| Declared {
            name: &spec.name,
            schema: &spec.input_schema,
        })
        .collect()
}

/// Gives each call of the reply an id that no other call of the reply has: the id that the model gave, or a new one if
/// the model gave none, or gave it to another call. A call that stands in the reply again under its id is left out.
fn with_ids(mut reply: Reply, turn: u32) -> Reply {
    if let [call] = &mut reply.calls[..] {
        if call.id.is_empty() {
            call.id = minted(turn, 0);
        }
        return reply;
    }
    let mut distinct = DistinctCalls::default();
    let mut changes = std::mem::take(&mut reply.changes).into_iter();
    for call in std::mem::take(&mut reply.calls) {
        // Each call has its own changes, also if one before it is dropped.
        let own = changes.next();
        if distinct.add(call) {
            reply.changes.extend(own);
        }
    }
    reply.calls = distinct.into_calls();
    let mut seen = BTreeSet::new();
    for (index, call) in (0..).zip(&mut reply.calls) {
        if call.id.is_empty() || !seen.insert(call.id.clone()) {
            call.id = minted(turn, index);
            while !seen.insert(call.id.clone()) {
                call.id.push('_');
            }
        }
    }
    reply
}

fn minted(turn: u32, index: u32) -> String {
    let mut id = String::with_capacity(16);
    id.push_str("call_");
    push_number(&mut id, turn, 1);
    id.push('_');
    push_number(&mut id, index, 1);
    id
}

/// Returns the turn in which a call was made, from an id that a run has made; `None` for other ids.
pub(crate) fn turn_of(id: &str) -> Option<u32> {
    let (turn, _) = id.strip_prefix("call_")?.split_once('_')?;
    turn.parse().ok()
}

/// Creates the error of an agent whose model declined to answer.
pub(crate) fn declined(definition: &AgentDefinition<'_>, why: &str) -> Error {
    let error = ModelError::new(ModelErrorKind::Refused, why);
    Error::from(error).context(format!("agent `{}`", definition.name))
}

/// Creates the error for a model without a price, whose cost cannot be bounded: a model is never taken to be free.
fn no_price(definition: &AgentDefinition<'_>, model: &str) -> Error {
    Error::new(ErrorKind::Build, wording::no_price(model))
        .context(wording::of_agent(&definition.name))
}

#[cfg(test)]
mod tests {
    use super::with_ids;
    use crate::{
        model::{Reply, ToolCall},
        reader::{Change, ChangeKind, Changes},
    };

    #[test]
    fn doubts_stay_with_their_calls_when_one_comes_again() {
        let call = |id: &str| ToolCall {
            id: id.to_owned(),
            name: "pay".to_owned(),
            arguments: "{}".to_owned(),
        };
        let doubt = Changes::from(Change::new(ChangeKind::CutOff, "", "cut off").uncertain());
        let reply = Reply {
            calls: vec![call("a"), call("a"), call("b")],
            changes: vec![Changes::default(), Changes::default(), doubt],
            ..Reply::default()
        };
        let reply = with_ids(reply, 1);
        assert_eq!(reply.calls.len(), 2);
        assert!(reply.changes[0].is_empty() && reply.changes[1].uncertain().is_some());
    }
}
