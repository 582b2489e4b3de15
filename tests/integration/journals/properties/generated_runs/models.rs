//! Models of generated runs. Their replies depend only on the conversation, so that a run can be resumed anywhere.

use super::{Case, Say, World, digits};
use agents::{
    async_trait,
    model::{
        FinishReason, Message, Model, ModelError, ModelErrorKind, Reply, Request, ToolCall, Usage,
    },
    recovery::Repair,
};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

fn reply(content: &str, calls: &[(&str, &str)]) -> Reply {
    let calls = calls.iter().map(|(name, arguments)| ToolCall {
        id: String::new(),
        name: (*name).into(),
        arguments: (*arguments).into(),
    });
    let usage = Usage {
        input_tokens: 10,
        output_tokens: 5,
        requests: 1,
        ..Usage::default()
    };
    Reply {
        content: content.into(),
        calls: calls.collect(),
        usage,
        ..Reply::default()
    }
}

/// Number of replies in the conversation so far.
fn replies(request: &Request<'_>) -> usize {
    let said = |message: &&Message| matches!(message, Message::Assistant { .. });
    request.messages().iter().filter(said).count()
}

/// Model of the lead, whose replies depend only on the conversation.
pub(super) struct Planned(pub(super) Case, pub(super) World, pub(super) &'static str);

#[async_trait]
impl Model for Planned {
    fn id(&self) -> &str {
        self.2
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let Planned(case, world, _) = self;
        world.ask();
        tokio::task::yield_now().await;
        let turn = replies(&request);
        let chooses = matches!(request.messages().first(), Some(Message::System { content }) if content.contains("You choose"));
        if chooses {
            let amiss = turn < case.choosing.unwrap_or_default();
            return Ok(reply(if amiss { "whichever" } else { "sums" }, &[]));
        }
        match case.rounds.get(turn) {
            Some(calls) => {
                let calls = calls.iter().map(|(tool, text)| (*tool, text.as_str()));
                Ok(reply("", &calls.collect::<Vec<_>>()))
            }
            None => match case.answers.get(turn - case.rounds.len()).unwrap_or(&"7") {
                &"!" => Err(ModelError::new(ModelErrorKind::Refused, "no")),
                answer => Ok(reply(answer, &[])),
            },
        }
    }
}

/// A wrapper that fails every other request without asking the model.
pub(super) struct Flaky(pub(super) Planned, pub(super) AtomicU32);

#[async_trait]
impl Model for Flaky {
    fn id(&self) -> &str {
        self.0.id()
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        if self.1.fetch_add(1, SeqCst).is_multiple_of(2) {
            self.0.1.ask();
            return Err(ModelError::new(ModelErrorKind::Overloaded, "busy"));
        }
        self.0.chat(request).await
    }
}

/// A model that cannot be reached.
pub(super) struct Down(pub(super) World);

#[async_trait]
impl Model for Down {
    fn id(&self) -> &str {
        "down"
    }

    async fn chat(&self, _: Request<'_>) -> Result<Reply, ModelError> {
        self.0.ask();
        Err(ModelError::new(ModelErrorKind::Unreachable, "nobody there"))
    }
}

/// Model of the drafter: answers with the number of its task, and is cut off for some tasks.
pub(super) struct Drafting(pub(super) World);

#[async_trait]
impl Model for Drafting {
    fn id(&self) -> &str {
        "drafting"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        self.0.ask();
        tokio::task::yield_now().await;
        let task = request.messages().iter().find_map(|message| match message {
            Message::User { content } => Some(content.clone()),
            _ => None,
        });
        let n = digits(&task.unwrap_or_default());
        let finish = match n % 3 {
            0 => FinishReason::Length,
            _ => FinishReason::Stop,
        };
        Ok(Reply {
            finish,
            ..reply(&format!("draft {n}"), &[])
        })
    }
}

/// The model of the repair agent.
pub(super) struct Scribe(pub(super) Vec<Say>, pub(super) World);

#[async_trait]
impl Model for Scribe {
    fn id(&self) -> &str {
        "scribe"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        self.1.ask();
        tokio::task::yield_now().await;
        let asked = request.messages().iter().find_map(|message| match message {
            Message::User { content } => serde_json::from_str::<Repair>(content).ok(),
            _ => None,
        });
        let attempt = asked.map_or(1, |repair| repair.attempt) as usize;
        match &self.0[(attempt - 1) % self.0.len()] {
            Say::Text(text) => Ok(reply(text, &[])),
            Say::Call(tool) => Ok(reply("", &[(tool, r#"{"reason":"so"}"#)])),
            Say::Fail => Err(ModelError::new(ModelErrorKind::Refused, "no")),
        }
    }
}

/// The model of the helper: one call, and an answer.
pub(super) struct Helping(pub(super) World);

#[async_trait]
impl Model for Helping {
    fn id(&self) -> &str {
        "helping"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        self.0.ask();
        tokio::task::yield_now().await;
        let task = request.messages().iter().find_map(|message| match message {
            Message::User { content } => Some(content.clone()),
            _ => None,
        });
        let n = digits(&task.unwrap_or_default());
        let tool = match n % 4 {
            3 => "stuck",
            _ => "note",
        };
        Ok(match replies(&request) {
            0 => reply("", &[(tool, &format!(r#"{{"n":{n}}}"#))]),
            _ => reply("helped", &[]),
        })
    }
}

/// The model of the relief: one call after the hand-off, and an answer.
pub(super) struct Relieving(pub(super) World);

#[async_trait]
impl Model for Relieving {
    fn id(&self) -> &str {
        "relieving"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        self.0.ask();
        tokio::task::yield_now().await;
        let mut replies = request.messages().iter().rev();
        let has_noted = replies.find_map(|message| match message {
            Message::Assistant { calls, .. } => {
                Some(calls.iter().any(|call| call.arguments == NOTED))
            }
            _ => None,
        });
        Ok(match has_noted {
            Some(true) => reply("8", &[]),
            _ => reply("", &[("note", NOTED)]),
        })
    }
}

const NOTED: &str = r#"{"n":702}"#;
