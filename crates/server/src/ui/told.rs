//! News of the run that answers a message, for chat front ends and in the words of no protocol.

use super::wording;
use crate::room::{Room, Visitor};
use agents_core::{
    Error, Json,
    agent::{TextDelta, TextFollower},
    error::DenialReason,
    model::Usage,
    run::{ApprovalReason, Event, EventKind, ToolEnvelope},
};
use agents_runtime::{Approvals, Progress, Readable, Request, RuntimeError, RuntimeErrorKind};
use agents_store::{End, Run, RunStatus};
use futures_util::{
    StreamExt,
    stream::{BoxStream, Stream, unfold},
};
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

/// Time without an event after which the stored run is looked at: that it is held is no event.
const PAUSE: Duration = Duration::from_secs(1);

/// News of a run.
#[derive(Debug)]
pub(super) enum Told {
    /// The run is told of from its beginning.
    Begun,
    /// The agent asks its model.
    Step,
    /// A text or a reasoning with this id begins.
    Begins { what: Written, id: String },
    /// A text or a reasoning goes on.
    Piece {
        what: Written,
        id: String,
        text: String,
    },
    /// A text or a reasoning is over. If it `is_superseded`, it is not what the agent says: it did not fit, or is written
    /// again.
    Ends {
        what: Written,
        id: String,
        is_superseded: bool,
    },
    /// A call of a tool, or its arguments as they are now.
    Call(Call),
    /// A request of a call was decided, and the run goes on: the call runs, or fails if it was denied.
    GoesOn(Call),
    /// A call has returned.
    Output { id: String, output: Value },
    /// A call has failed, and why. `is_denied` if somebody did not let it run.
    Failed {
        id: String,
        error: String,
        is_denied: bool,
    },
    /// A request waits for somebody, or is decided.
    Asked(Box<Asked>),
    /// The run is held, and why.
    Held(Value),
    /// The answer is a value, and this is it.
    Answer(Value),
    /// The run has answered.
    Done { usage: Usage, is_partial: bool },
    /// The run was cancelled.
    Cancelled,
    /// The run has failed, and why.
    Broken(String),
}

/// Kind of what a model writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Text,
    Reasoning,
}

/// Call of a tool.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Id of the call, of this run alone.
    pub(super) id: String,
    pub(super) tool: String,
    /// Arguments; an empty object for a visitor who may not see them.
    pub(super) input: Value,
    /// Is `true` if the call was told before.
    pub(super) is_known: bool,
}

/// Request, as the visitor may see it.
#[derive(Debug, Serialize)]
pub(super) struct Asked {
    #[serde(flatten)]
    pub(super) request: Request,
    /// Id of the call that waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<String>,
    /// Exact arguments, for whoever may see them.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Value>,
    /// Question, if the call asks one and the visitor may see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) question: Option<Asking>,
    /// Why the visitor may not decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
    /// Path at which whoever may decide does so.
    url: String,
    /// Is `true` if the call asks a question.
    #[serde(skip)]
    pub(super) is_question: bool,
    /// Is `true` if the request is told for the first time.
    #[serde(skip)]
    pub(super) is_news: bool,
}

/// Question to the user.
#[derive(Debug, Serialize)]
pub(super) struct Asking {
    text: String,
    /// JSON Schema of the answers.
    schema: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Json>,
}

/// Returns what becomes of a run, from its beginning to its end.
pub(super) fn follow(
    room: &Room,
    visitor: &Visitor,
    run: &Run,
) -> impl Stream<Item = Result<Told, RuntimeError>> + Send + use<> {
    let telling = Telling {
        events: room.client.events(&run.id).with_text().stream().boxed(),
        sees_contents: room.client.may_see_contents(&visitor.principal),
        approvals: room.client.approvals(),
        room: room.clone(),
        visitor: visitor.clone(),
        run: run.id.clone(),
        follower: TextFollower::new(),
        text: None,
        reasoning: None,
        count: 0,
        calls: HashMap::new(),
        requests: HashMap::new(),
        usage: Usage::default(),
        is_held: false,
        is_over: false,
        ready: VecDeque::from([Told::Begun]),
    };
    unfold(Some(telling), |telling| async move {
        let mut telling = telling?;
        match telling.next().await.transpose()? {
            Ok(told) => Some((Ok(told), Some(telling))),
            Err(error) => Some((Err(error), None)),
        }
    })
}

struct Telling {
    room: Room,
    visitor: Visitor,
    approvals: Approvals,
    run: String,
    /// Is `true` if the visitor may see reasoning, and arguments, outputs and errors of calls.
    sees_contents: bool,
    events: BoxStream<'static, Result<Event, RuntimeError>>,
    follower: TextFollower,
    /// Id and contents of the text that is being told.
    text: Option<(String, String)>,
    /// Id of the reasoning that is being told.
    reasoning: Option<String>,
    /// Number of texts and reasonings so far.
    count: u32,
    /// Calls by their places.
    calls: HashMap<String, Call>,
    /// Ids of requests, and places of the calls that wait for them, by the calls' receipts.
    requests: HashMap<String, (String, String)>,
    usage: Usage,
    is_held: bool,
    is_over: bool,
    ready: VecDeque<Told>,
}

impl Telling {
    async fn next(&mut self) -> Result<Option<Told>, RuntimeError> {
        loop {
            if let Some(told) = self.ready.pop_front() {
                return Ok(Some(told));
            }
            if self.is_over {
                return Ok(None);
            }
            match tokio::time::timeout(PAUSE, self.events.next()).await {
                Ok(Some(Ok(event))) => self.hear(&event).await?,
                Ok(Some(Err(error))) if error.kind() == RuntimeErrorKind::Sealed => {
                    self.end(Some(&error)).await?;
                }
                Ok(Some(Err(error))) => return Err(error),
                Ok(None) => self.end(None).await?,
                Err(_) => self.look_at_state().await?,
            }
        }
    }

    fn tell(&mut self, told: Told) {
        self.ready.push_back(told);
    }

    async fn hear(&mut self, event: &Event) -> Result<(), RuntimeError> {
        match self.follower.on(event) {
            Some(TextDelta::Piece(piece)) => {
                self.end_reasoning(false);
                self.write(piece);
            }
            // What a model says before it calls a tool stays.
            Some(TextDelta::Reset) => {
                self.end_text(!matches!(event.kind, EventKind::ModelReplied { .. }));
            }
            None => {}
        }
        match &event.kind {
            _ if !self.follower.is_of_writer(event) => {}
            EventKind::Thinking(piece) if self.sees_contents => self.reason(piece),
            EventKind::ModelReplied { .. } => self.end_reasoning(false),
            // The request before had no reply.
            EventKind::ModelRequested { .. } => self.end_reasoning(true),
            _ => {}
        }
        match &event.kind {
            EventKind::ModelRequested {
                choosing: false, ..
            } if event.depth == 0 => {
                self.end_text(true);
                self.tell(Told::Step);
            }
            EventKind::CallStarted {
                tool, arguments, ..
            } => self.call(&event.place, tool, arguments),
            EventKind::ApprovalRequested(request) => {
                let id = Approvals::id_of(&self.run, request);
                let known = (id.clone(), event.place.clone());
                let before = self.requests.insert(request.call_id.clone(), known);
                // A run that goes on in another process asks again, with the same id.
                if before.is_none_or(|(before, _)| before != id) {
                    if self.sees_contents {
                        self.arguments(&event.place, &request.args);
                    }
                    self.ask(&id, &event.place, true).await?;
                }
            }
            EventKind::ApprovalDecided { call_id, .. } => {
                if let Some((id, place)) = self.requests.get(&**call_id).cloned() {
                    self.ask(&id, &place, false).await?;
                }
            }
            EventKind::CallEnded(receipt) => self.settle(&event.place, receipt),
            EventKind::RunEnded { usage, .. } => self.usage = *usage,
            _ => {}
        }
        Ok(())
    }

    fn write(&mut self, piece: String) {
        let what = Written::Text;
        let (id, mut text) = match self.text.take() {
            Some(text) => text,
            None => (self.begin(what), String::new()),
        };
        text.push_str(&piece);
        self.text = Some((id.clone(), text));
        let text = piece;
        self.tell(Told::Piece { what, id, text });
    }

    fn end_text(&mut self, is_superseded: bool) {
        if let Some((id, _)) = self.text.take() {
            let what = Written::Text;
            self.tell(Told::Ends {
                what,
                id,
                is_superseded,
            });
        }
    }

    fn reason(&mut self, piece: &str) {
        let what = Written::Reasoning;
        let id = match self.reasoning.take() {
            Some(id) => id,
            None => self.begin(what),
        };
        self.reasoning = Some(id.clone());
        let text = piece.to_owned();
        self.tell(Told::Piece { what, id, text });
    }

    fn end_reasoning(&mut self, is_superseded: bool) {
        if let Some(id) = self.reasoning.take() {
            let what = Written::Reasoning;
            self.tell(Told::Ends {
                what,
                id,
                is_superseded,
            });
        }
    }

    /// Begins a text or a reasoning, and returns its id.
    fn begin(&mut self, what: Written) -> String {
        self.count += 1;
        let id = format!("{}.{}", self.run, self.count);
        self.tell(Told::Begins {
            what,
            id: id.clone(),
        });
        id
    }

    fn call(&mut self, place: &str, tool: &str, arguments: &str) {
        if self.calls.contains_key(place) {
            return;
        }
        let call = Call {
            id: format!("{}/{place}", self.run),
            tool: tool.to_owned(),
            input: match self.sees_contents {
                true => serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into()),
                false => json!({}),
            },
            is_known: false,
        };
        let known = Call {
            is_known: true,
            ..call.clone()
        };
        self.calls.insert(place.to_owned(), known);
        self.tell(Told::Call(call));
    }

    /// Tells the arguments of a call if they are others than those that were told.
    fn arguments(&mut self, place: &str, args: &Json) {
        let args = args.to_value().unwrap_or_default();
        let Some(call) = self.calls.get_mut(place) else {
            return;
        };
        if call.input != args {
            call.input = args;
            let call = call.clone();
            self.tell(Told::Call(call));
        }
    }

    /// Tells a request as it is now.
    async fn ask(&mut self, id: &str, place: &str, is_news: bool) -> Result<(), RuntimeError> {
        let by = &self.visitor.principal;
        let Readable {
            request,
            detail,
            refusal,
            ..
        } = self.approvals.get_readable(id, by).await?;
        let detail = detail.and_then(Result::ok).map(|detail| detail.request);
        let is_question = request.reasons.contains(&ApprovalReason::Question);
        let (arguments, question) = match detail {
            Some(exact) => (exact.args.to_value().ok(), exact.question),
            None => (None, None),
        };
        // Whoever has started a run decides nothing in it, and may see its contents all the same.
        let call = self.calls.get(place);
        let input = call.filter(|_| self.sees_contents).map(|call| &call.input);
        let asked = Asked {
            tool_call_id: call.map(|call| call.id.clone()),
            arguments: arguments.or_else(|| input.cloned()),
            question: question.map(|question| Asking {
                text: question.text,
                schema: question.form.schema,
                default: question.form.default,
            }),
            refusal: refusal.map(|refusal| refusal.to_string()),
            url: format!("{}/api/approvals/{}", self.visitor.base, request.id),
            request,
            is_question,
            is_news,
        };
        self.tell(Told::Asked(Box::new(asked)));
        if let Some(call) = self.calls.get(place).filter(|_| !is_news) {
            self.tell(Told::GoesOn(call.clone()));
        }
        Ok(())
    }

    fn settle(&mut self, place: &str, receipt: &ToolEnvelope) {
        if self.sees_contents {
            self.arguments(place, &receipt.input);
        }
        let Some(call) = self.calls.get(place) else {
            return;
        };
        let id = call.id.clone();
        let told = match (&receipt.error, &receipt.output) {
            (Some(error), _) => Told::Failed {
                id,
                is_denied: error.reason.as_deref() == Some(DenialReason::ApprovalDenied.as_str()),
                error: match self.sees_contents {
                    true => error.message.clone(),
                    false => wording::CALL_FAILED.to_owned(),
                },
            },
            (None, output) => Told::Output {
                id,
                output: match output {
                    Some(output) if self.sees_contents => output.to_value().unwrap_or_default(),
                    _ => Value::Null,
                },
            },
        };
        self.tell(told);
    }

    /// Tells that the run is held, of which the run has no event.
    async fn look_at_state(&mut self) -> Result<(), RuntimeError> {
        let by = &self.visitor.principal;
        let run = self.room.client.stored(&self.run, by).await?;
        let held = run.held.filter(|_| run.status == RunStatus::Held);
        let is_news = held.is_some() && !self.is_held;
        self.is_held = held.is_some();
        if is_news {
            self.tell(Told::Held(json!(held)));
        }
        Ok(())
    }

    /// Tells how the run has ended. `error` is the reason why the run cannot be read.
    async fn end(&mut self, error: Option<&RuntimeError>) -> Result<(), RuntimeError> {
        self.is_over = true;
        let by = &self.visitor.principal;
        let run = self.room.client.stored(&self.run, by).await?;
        let progress = match error {
            None => Some(self.room.client.run::<Value>(&self.run).progress().await?),
            Some(_) => None,
        };
        let (answer, is_partial, failure) = match progress {
            Some(Progress::Done(outcome)) => match outcome.result {
                Ok(answer) => (Some(answer), outcome.partial, None),
                Err(error) => (None, false, Some(Error::to_string(&error))),
            },
            _ => (None, false, error.map(ToString::to_string)),
        };
        self.end_reasoning(answer.is_none());
        let Some(answer) = answer else {
            self.end_text(true);
            self.tell(match run.end {
                Some(End::Cancelled) => Told::Cancelled,
                _ => Told::Broken(match failure.filter(|_| self.sees_contents) {
                    Some(failure) => failure,
                    None => wording::run_failed(&self.run),
                }),
            });
            return Ok(());
        };
        self.answer(answer);
        let usage = self.usage;
        self.tell(Told::Done { usage, is_partial });
        Ok(())
    }

    /// Tells the answer, unless it is the text that was told as it was written.
    fn answer(&mut self, answer: Value) {
        let written = self.text.as_ref().map(|(_, text)| &**text);
        let (text, value) = match answer {
            Value::String(text) => (text, None),
            value => (value.to_string(), Some(value)),
        };
        match (written, &value) {
            (Some(written), None) if *written != text => {
                self.end_text(true);
                self.write(text);
            }
            (None, _) => self.write(text),
            (Some(_), _) => {}
        }
        self.end_text(false);
        if let Some(value) = value {
            self.tell(Told::Answer(value));
        }
    }
}
