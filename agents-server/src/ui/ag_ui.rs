//! AG-UI, version 1.0: the events of a run, as its client package reads them over server-sent events.
//!
//! A request for approval is a custom event, and the run goes on in the same stream after the decision. An interrupt of
//! AG-UI would end the run there, and the next request of the client would be the decision; here people decide as
//! themselves, and somebody else than the user may have to.

use super::{
    Choice, Protocol, Words, stream_of,
    told::{Call, Told},
    wording,
};
use crate::{
    api::body,
    failure::Failure,
    query::Query,
    room::{Room, Visitor},
};
use axum::{
    Extension, Json,
    extract::{Path, State, rejection::JsonRejection},
    response::Response,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Version of the protocol.
const VERSION: &str = "1.0";

/// Request of a run. The messages before the last one are in the store.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Input {
    thread_id: String,
    run_id: String,
    messages: Vec<Message>,
    #[serde(default)]
    resume: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Option<String>,
    role: String,
    #[serde(default)]
    content: Value,
}

impl Input {
    /// Returns the last message, which has to be one of the user.
    fn words(self) -> Result<Words, Failure> {
        if self.thread_id.is_empty() {
            return Err(Failure::invalid(wording::no_id("threadId")));
        }
        if self.resume.is_some_and(|resume| !resume.is_empty()) {
            return Err(Failure::invalid(wording::NO_RESUME));
        }
        let last = self.messages.into_iter().next_back();
        let Some(last) = last.filter(|last| last.role == "user") else {
            return Err(Failure::invalid(wording::NOT_OF_THE_USER));
        };
        let text = match &last.content {
            Value::String(text) => text.clone(),
            Value::Array(parts) => {
                let text = |part: &Value| match part["type"].as_str() {
                    Some("text") => part["text"].as_str().map(str::to_owned),
                    _ => None,
                };
                let texts: Option<Vec<_>> = parts.iter().map(text).collect();
                let texts = texts.ok_or_else(|| Failure::invalid(wording::NO_FILES))?;
                texts.join("\n")
            }
            _ => return Err(Failure::invalid(wording::NO_TEXT)),
        };
        Ok(Words {
            conversation: self.thread_id,
            message: last.id,
            text,
        })
    }
}

/// Sends the last message to the agent, and streams the run that answers it.
pub(crate) async fn run(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(agent): Path<String>,
    Query(choice): Query<Choice>,
    given: Result<Json<Input>, JsonRejection>,
) -> Response {
    let sent = async {
        let input = body(given)?;
        let events = Events {
            thread: input.thread_id.clone(),
            run: input.run_id.clone(),
            answer: None,
        };
        let run = super::send(&room, &visitor, &agent, choice, input.words()?).await?;
        Ok::<_, Failure>((events, run))
    };
    match sent.await {
        Ok((events, run)) => stream_of(&room, &visitor, &run, events, None),
        Err(failure) => failure.json(),
    }
}

/// Events of one run, by the ids that the client has given.
struct Events {
    thread: String,
    run: String,
    answer: Option<Value>,
}

impl Events {
    fn finished(&self, outcome: &str) -> Value {
        json!({
            "type": "RUN_FINISHED",
            "threadId": self.thread,
            "runId": self.run,
            "outcome": {"type": outcome},
        })
    }
}

impl Protocol for Events {
    fn events(&mut self, told: Told) -> Vec<Value> {
        match told {
            Told::Begun => vec![json!({
                "type": "RUN_STARTED",
                "threadId": self.thread,
                "runId": self.run,
                "protocolVersion": VERSION,
            })],
            Told::Step | Told::GoesOn(_) => Vec::new(),
            Told::TextBegun(id) => {
                vec![json!({"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"})]
            }
            // A piece without a character is no event of this protocol.
            Told::Piece { text, .. } if text.is_empty() => Vec::new(),
            Told::Piece { id, text } => {
                vec![json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": text})]
            }
            Told::TextEnded { id, is_superseded } => {
                let mut events = vec![json!({"type": "TEXT_MESSAGE_END", "messageId": id})];
                if is_superseded {
                    events.push(custom("superseded", &json!({"messageId": id})));
                }
                events
            }
            Told::Call(Call {
                id,
                input,
                is_known: true,
                ..
            }) => {
                vec![custom(
                    "arguments",
                    &json!({"toolCallId": id, "arguments": input}),
                )]
            }
            Told::Call(Call {
                id, tool, input, ..
            }) => vec![
                json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": tool}),
                json!({"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": input.to_string()}),
                json!({"type": "TOOL_CALL_END", "toolCallId": id}),
            ],
            Told::Output { id, output } => vec![result(&id, &output)],
            Told::Failed { id, error, .. } => vec![result(&id, &json!({"error": error}))],
            Told::Asked(asked) => {
                let name = match asked.is_question {
                    true => "question",
                    false => "approval",
                };
                vec![custom(name, &json!(asked))]
            }
            Told::Held(held) => vec![custom("held", &held)],
            Told::Answer(value) => {
                self.answer = Some(value);
                Vec::new()
            }
            Told::Done { usage, .. } => {
                let mut finished = self.finished("success");
                finished["usage"] = json!([{
                    "inputTokens": usage.input_tokens,
                    "outputTokens": usage.output_tokens,
                    "totalTokens": usage.input_tokens + usage.output_tokens,
                }]);
                if let Some(answer) = self.answer.take() {
                    finished["result"] = answer;
                }
                vec![finished]
            }
            Told::Cancelled => vec![self.finished("cancelled")],
            Told::Broken(error) => vec![json!({"type": "RUN_ERROR", "message": error})],
        }
    }
}

/// Returns an event of ours, whose name begins with `agents.`.
fn custom(name: &str, value: &Value) -> Value {
    json!({"type": "CUSTOM", "name": format!("agents.{name}"), "value": value})
}

fn result(call: &str, content: &Value) -> Value {
    json!({
        "type": "TOOL_CALL_RESULT",
        "messageId": format!("{call}.result"),
        "toolCallId": call,
        "content": content.to_string(),
        "role": "tool",
    })
}
