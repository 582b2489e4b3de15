//! The UI message stream of Vercel's AI SDK, version `v1`, as its packages of the versions 6 and 7 read it.

use super::{
    Choice, Protocol, Words, body, stream_of,
    told::{Asked, Told, Written},
    wording,
};
use crate::{
    api::answer,
    failure::Failure,
    query::Query,
    room::{Room, Visitor},
    shown::conversations,
};
use agents_store::RunStatus;
use axum::{
    Extension, Json,
    extract::{Path, State, rejection::JsonRejection},
    http::{HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Header by which the client knows the protocol and its version.
const VERSION: (HeaderName, HeaderValue) = (
    HeaderName::from_static("x-vercel-ai-ui-message-stream"),
    HeaderValue::from_static("v1"),
);
/// Last event of each stream.
const DONE: &str = "[DONE]";

/// Request of a chat. The messages before the last one are in the store.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Chat {
    id: String,
    messages: Vec<Message>,
    #[serde(default)]
    trigger: Option<String>,
    /// Id of an earlier message that the last one replaces.
    #[serde(default)]
    message_id: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Option<String>,
    role: String,
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
}

impl Chat {
    /// Returns the last message, which has to be one of the user.
    fn words(self) -> Result<Words, Failure> {
        if self.id.is_empty() {
            let message = wording::no_id("id", "the conversation");
            return Err(Failure::invalid(message));
        }
        match self.trigger.as_deref() {
            None | Some("submit-message") => {}
            Some("regenerate-message") => return Err(Failure::invalid(wording::NOT_AGAIN)),
            Some(other) => return Err(Failure::invalid(wording::unknown_trigger(other))),
        }
        let Some((at, last)) = self.messages.into_iter().enumerate().next_back() else {
            return Err(Failure::invalid(wording::NO_MESSAGES));
        };
        if last.role != "user" {
            let field = format!("messages[{at}].role");
            return Err(Failure::invalid(wording::not_of_the_user(&field)));
        }
        if self.message_id.is_some() {
            return Err(Failure::invalid(wording::NO_EDIT));
        }
        let field = format!("messages[{at}].parts");
        let texts = last.parts.into_iter().enumerate().map(|(at, part)| {
            let text = part.text.filter(|_| part.kind == "text");
            text.ok_or_else(|| Failure::invalid(wording::not_text(&format!("{field}[{at}]"))))
        });
        let texts: Vec<_> = texts.collect::<Result<_, _>>()?;
        Ok(Words {
            conversation: self.id,
            message: last.id,
            text: texts.join("\n"),
            field,
        })
    }
}

/// Sends the last message to the agent, and streams the answer.
pub(crate) async fn chat(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(agent): Path<String>,
    Query(choice): Query<Choice>,
    given: Result<Json<Chat>, JsonRejection>,
) -> Response {
    let sent = async {
        let words = body(given)?.words()?;
        let conversation = words.conversation.clone();
        let run = super::send(&room, &visitor, &agent, choice, words).await?;
        Ok::<_, Failure>((conversation, run))
    };
    match sent.await {
        Ok((conversation, run)) => {
            let chunks = Chunks::new(&run.id, conversation);
            (
                [VERSION],
                stream_of(&room, &visitor, &run, chunks, Some(DONE)),
            )
                .into_response()
        }
        Err(failure) => failure.json(),
    }
}

/// Streams the answer that is under way to the newest message, from the first word of the answer. Responds with status
/// 204 if no answer is under way.
pub(crate) async fn again(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((agent, id)): Path<(String, String)>,
    Query(choice): Query<Choice>,
) -> Response {
    let newest = async {
        conversations::check_agent(&room, &agent)?;
        let open = conversations::open_any(&room, &visitor, &id, choice.tenant).await?;
        let newest = open.newest(&room).await?;
        if let Some(run) = &newest {
            check_agent_of(&run.agent, &agent)?;
        }
        Ok::<_, Failure>(newest.filter(|run| run.status != RunStatus::Done))
    };
    match newest.await {
        Ok(Some(run)) => {
            let chunks = Chunks::new(&run.id, id);
            (
                [VERSION],
                stream_of(&room, &visitor, &run, chunks, Some(DONE)),
            )
                .into_response()
        }
        Ok(None) => StatusCode::NO_CONTENT.into_response(),
        Err(failure) => failure.json(),
    }
}

/// Returns what was said, as messages that a chat of the client begins with.
pub(crate) async fn history(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((agent, id)): Path<(String, String)>,
    Query(choice): Query<Choice>,
) -> Response {
    let said = async {
        conversations::check_agent(&room, &agent)?;
        let open = conversations::open_any(&room, &visitor, &id, choice.tenant).await?;
        if !open.has_begun() {
            return Ok(Vec::new());
        }
        let whole = conversations::whole(&room, &visitor, open, None).await?;
        check_agent_of(&whole.agent, &agent)?;
        let unanswered = conversations::unanswered(&room, &visitor, &whole).await?;
        let said = whole
            .messages
            .into_iter()
            .map(|said| (said.role, said.text));
        let unanswered = unanswered.into_iter().map(|text| ("user", text));
        let message = |(at, (role, text)): (usize, (&str, String))| json!({"id": format!("{id}.{at}"), "role": role, "parts": [{"type": "text", "text": text}]});
        Ok(said.chain(unanswered).enumerate().map(message).collect())
    };
    answer(said.await)
}

fn check_agent_of(own: &str, agent: &str) -> Result<(), Failure> {
    match own == agent {
        true => Ok(()),
        false => Err(Failure {
            message: crate::wording::other_agent(agent),
            ..Failure::not_found()
        }),
    }
}

/// Chunks of one message.
struct Chunks {
    /// Id of the message, which is that of the run.
    run: String,
    conversation: String,
    is_in_step: bool,
}

impl Chunks {
    fn new(run: &str, conversation: String) -> Self {
        Chunks {
            run: run.to_owned(),
            conversation,
            is_in_step: false,
        }
    }

    fn end_step(&mut self) -> Option<Value> {
        let is_in_step = std::mem::take(&mut self.is_in_step);
        is_in_step.then(|| json!({"type": "finish-step"}))
    }
}

impl Protocol for Chunks {
    fn events(&mut self, told: Told) -> Vec<Value> {
        match told {
            Told::Begun => vec![json!({
                "type": "start",
                "messageId": self.run,
                "messageMetadata": {"run_id": self.run, "conversation_id": self.conversation},
            })],
            Told::Step => {
                let end = self.end_step();
                self.is_in_step = true;
                let begin = json!({"type": "start-step"});
                end.into_iter().chain([begin]).collect()
            }
            Told::Begins { what, id } => vec![json!({"type": part(what, "start"), "id": id})],
            Told::Piece { what, id, text } => {
                vec![json!({"type": part(what, "delta"), "id": id, "delta": text})]
            }
            Told::Ends {
                what,
                id,
                is_superseded,
            } => {
                let mut end = json!({"type": part(what, "end"), "id": id});
                // A part of a message cannot be taken back, and its metadata can be set.
                if is_superseded {
                    end["providerMetadata"] = json!({"agents": {"superseded": true}});
                }
                vec![end]
            }
            // A call that the client's own code executed would have another mark: `onToolCall` is not asked.
            Told::Call(call) | Told::GoesOn(call) => vec![json!({
                "type": "tool-input-available",
                "toolCallId": call.id,
                "toolName": call.tool,
                "input": call.input,
                "providerExecuted": true,
            })],
            Told::Output { id, output } => vec![json!({
                "type": "tool-output-available",
                "toolCallId": id,
                "output": output,
                "providerExecuted": true,
            })],
            Told::Failed {
                id,
                is_denied: true,
                ..
            } => vec![json!({"type": "tool-output-denied", "toolCallId": id})],
            Told::Failed { id, error, .. } => vec![json!({
                "type": "tool-output-error",
                "toolCallId": id,
                "errorText": error,
                "providerExecuted": true,
            })],
            Told::Asked(asked) => request(&asked),
            Told::Held(held) => vec![json!({"type": "data-held", "data": held, "transient": true})],
            Told::Answer(value) => vec![json!({"type": "data-answer", "data": value})],
            Told::Done { usage, is_partial } => {
                let finish = json!({
                    "type": "finish",
                    "finishReason": if is_partial { "other" } else { "stop" },
                    "messageMetadata": {"partial": is_partial, "usage": {
                        "inputTokens": usage.input_tokens,
                        "outputTokens": usage.output_tokens,
                        "totalTokens": usage.input_tokens + usage.output_tokens,
                    }},
                });
                self.end_step().into_iter().chain([finish]).collect()
            }
            Told::Cancelled => {
                let abort = json!({"type": "abort", "reason": "cancelled"});
                self.end_step().into_iter().chain([abort]).collect()
            }
            Told::Broken(error) => {
                let error = json!({"type": "error", "errorText": error});
                let finish = json!({"type": "finish", "finishReason": "error"});
                self.end_step().into_iter().chain([error, finish]).collect()
            }
        }
    }
}

/// Returns the type of a chunk of a text or a reasoning.
fn part(what: Written, chunk: &str) -> String {
    match what {
        Written::Text => format!("text-{chunk}"),
        Written::Reasoning => format!("reasoning-{chunk}"),
    }
}

/// Returns the chunks of a request: a data part with all that the visitor may see, and the state of the call that waits.
fn request(asked: &Asked) -> Vec<Value> {
    let kind = match asked.is_question {
        true => "data-question",
        false => "data-approval",
    };
    let data = json!({"type": kind, "id": asked.request.id, "data": asked});
    let waits = match &asked.tool_call_id {
        Some(call) if asked.is_news && !asked.is_question => Some(json!({
            "type": "tool-approval-request",
            "approvalId": asked.request.id,
            "toolCallId": call,
        })),
        _ => None,
    };
    waits.into_iter().chain([data]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(chat: Value) -> Result<Words, String> {
        let chat: Chat = serde_json::from_value(chat).unwrap();
        chat.words().map_err(|failure| failure.message)
    }

    #[test]
    fn only_the_last_message_is_taken_and_only_from_the_user() {
        let said = |role: &str, kind: &str, text: &str| json!({"id": "m1", "role": role, "parts": [{"type": kind, "text": text}]});
        let user = said("user", "text", "Hello");
        let before = said("assistant", "tool-pay", "");
        let taken = words(json!({"id": "c", "messages": [before, user]})).unwrap();
        assert_eq!((&*taken.conversation, &*taken.text), ("c", "Hello"));
        assert_eq!(taken.message.as_deref(), Some("m1"));
        let edited = json!({"id": "c", "messages": [user], "messageId": "m1"});
        for (chat, why) in [
            (json!({"id": "", "messages": [user]}), "`id` is empty"),
            (json!({"id": "c", "messages": []}), "`messages` is empty"),
            (
                json!({"id": "c", "messages": [user, before]}),
                "`messages[1].role` is not `user`",
            ),
            (
                json!({"id": "c", "messages": [said("system", "text", "Obey.")]}),
                "`messages[0].role` is not `user`",
            ),
            (
                json!({"id": "c", "messages": [said("user", "file", "")]}),
                "`messages[0].parts[0]` is no text",
            ),
            (
                json!({"id": "c", "messages": [{"role": "user", "parts": [{"type": "text"}]}]}),
                "`messages[0].parts[0]` is no text",
            ),
            (
                json!({"id": "c", "messages": [user], "trigger": "regenerate-message"}),
                "`trigger` asks for the answer anew",
            ),
            (
                json!({"id": "c", "messages": [user], "trigger": "delete"}),
                "`trigger` is `delete`, and takes `submit-message`",
            ),
            (edited, "`messageId` replaces an earlier message"),
        ] {
            let error = words(chat.clone()).err().unwrap_or_default();
            assert!(error.contains(why), "{chat}: {error}");
        }
    }
}
