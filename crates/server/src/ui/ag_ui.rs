//! AG-UI, version 1.0: the events of a run, as its client package reads them over server-sent events.
//!
//! A request for approval is a custom event, and the run goes on in the same stream after the decision. An interrupt of
//! AG-UI would end the run there, and the next request of the client would be the decision; here people decide as
//! themselves, and somebody else than the user may have to.

use super::{
    Choice, Protocol, Words, body, stream_of,
    told::{Call, Told, Written},
    wording,
};
use crate::{
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
        for (field, id, of) in [
            ("threadId", &self.thread_id, "the conversation"),
            ("runId", &self.run_id, "the run, for the client"),
        ] {
            if id.is_empty() {
                return Err(Failure::invalid(wording::no_id(field, of)));
            }
        }
        if self.resume.is_some_and(|resume| !resume.is_empty()) {
            return Err(Failure::invalid(wording::NO_RESUME));
        }
        let Some((at, last)) = self.messages.into_iter().enumerate().next_back() else {
            return Err(Failure::invalid(wording::NO_MESSAGES));
        };
        if last.role != "user" {
            let field = format!("messages[{at}].role");
            return Err(Failure::invalid(wording::not_of_the_user(&field)));
        }
        let field = format!("messages[{at}].content");
        let text = match &last.content {
            Value::String(text) => text.clone(),
            Value::Array(parts) => {
                let texts = parts.iter().enumerate().map(|(at, part)| {
                    let text = part["text"].as_str().filter(|_| part["type"] == "text");
                    let field = || format!("{field}[{at}]");
                    text.ok_or_else(|| Failure::invalid(wording::not_text(&field())))
                });
                texts.collect::<Result<Vec<_>, _>>()?.join("\n")
            }
            _ => return Err(Failure::invalid(wording::no_text(&field))),
        };
        Ok(Words {
            conversation: self.thread_id,
            message: last.id,
            text,
            field,
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
            Told::Begins { what, id } => begins(what, &id),
            // A piece without a character is no event of this protocol.
            Told::Piece { text, .. } if text.is_empty() => Vec::new(),
            Told::Piece { what, id, text } => {
                let kind = message(what, "CONTENT");
                vec![json!({"type": kind, "messageId": id, "delta": text})]
            }
            Told::Ends {
                what,
                id,
                is_superseded,
            } => ends(what, &id, is_superseded),
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

/// Returns the type of an event of a message with a text or a reasoning.
fn message(what: Written, event: &str) -> String {
    match what {
        Written::Text => format!("TEXT_MESSAGE_{event}"),
        Written::Reasoning => format!("REASONING_MESSAGE_{event}"),
    }
}

fn begins(what: Written, id: &str) -> Vec<Value> {
    let role = match what {
        Written::Text => "assistant",
        Written::Reasoning => "reasoning",
    };
    let message = json!({"type": message(what, "START"), "messageId": id, "role": role});
    match what {
        Written::Text => vec![message],
        Written::Reasoning => vec![json!({"type": "REASONING_START", "messageId": id}), message],
    }
}

fn ends(what: Written, id: &str, is_superseded: bool) -> Vec<Value> {
    let mut events = vec![json!({"type": message(what, "END"), "messageId": id})];
    if what == Written::Reasoning {
        events.push(json!({"type": "REASONING_END", "messageId": id}));
    }
    if is_superseded {
        events.push(custom("superseded", &json!({"messageId": id})));
    }
    events
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
