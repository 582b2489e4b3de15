//! A model that is lent to a server.

// Revisions after 2025-11-25 call sampling deprecated.
#![expect(deprecated)]

use super::wording;
use agents_core::model::{Content, FinishReason, History, Message, Model, Request};
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, ErrorData, Role, SamplingMessage,
    SamplingMessageContentBlock,
};
use std::sync::Arc;
use tokio::sync::Mutex;

/// Number of tokens of the lent model that the server has used so far. Requests lock it one after the other, so that
/// none begins before the others are counted.
pub(super) type Used = Arc<Mutex<u64>>;

/// Model that is lent to one server: it answers the server's requests, up to a number of tokens. Clones share the
/// count.
#[derive(Clone)]
pub(super) struct Lent {
    model: Arc<dyn Model>,
    tokens: u64,
    pub(super) used: Used,
}

impl Lent {
    pub(super) fn new(model: impl Model, tokens: u64) -> Self {
        Lent {
            model: Arc::new(model),
            tokens,
            used: Arc::default(),
        }
    }

    /// Answers a request of the server with the lent model, or refuses it if the tokens are used up.
    pub(super) async fn answer(
        &self,
        server: &str,
        asked: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, ErrorData> {
        let history = history(server, asked)?;
        let mut used = self.used.lock().await;
        if *used >= self.tokens {
            let most = self.tokens;
            tracing::warn!(
                server,
                most,
                "the server has used up the tokens of its model"
            );
            return Err(wording::tokens_used_up(server, most));
        }
        let reply = self.model.chat(Request::new(&history)).await;
        let reply = reply.map_err(|error| wording::model_failed(server, &error))?;
        *used += reply.usage.tokens();
        tracing::debug!(
            server,
            used = *used,
            most = self.tokens,
            "the server has used a model"
        );
        let stop = match reply.finish {
            FinishReason::Length => CreateMessageResult::STOP_REASON_END_MAX_TOKEN,
            _ => CreateMessageResult::STOP_REASON_END_TURN,
        };
        let model = reply.model.unwrap_or_else(|| self.model.id().to_owned());
        let said = SamplingMessage::assistant_text(reply.content);
        Ok(CreateMessageResult::new(said, model).with_stop_reason(stop))
    }
}

/// Returns the conversation that the server wants the lent model to answer.
fn history(server: &str, asked: CreateMessageRequestParams) -> Result<History, ErrorData> {
    if asked.tools.is_some_and(|tools| !tools.is_empty()) {
        return Err(wording::asks_with_tools(server));
    }
    let unreadable = |why: String| wording::asks_unreadably(server, &why);
    let mut history = History::new();
    if let Some(content) = asked.system_prompt {
        history.push(Message::System { content });
    }
    for message in &asked.messages {
        let mut content = Content::default();
        for part in message.content.iter() {
            match part {
                SamplingMessageContentBlock::Text(text) => {
                    super::media::add_text(&mut content, &text.text)
                }
                SamplingMessageContentBlock::Image(image) => {
                    let media = super::media::decoded(&image.mime_type, &image.data);
                    content.media.push(media.map_err(unreadable)?);
                }
                SamplingMessageContentBlock::Audio(audio) => {
                    let media = super::media::decoded(&audio.mime_type, &audio.data);
                    content.media.push(media.map_err(unreadable)?);
                }
                _ => {
                    return Err(wording::asks_with_other_parts(server));
                }
            }
        }
        history.push(match message.role {
            Role::Assistant => Message::Assistant {
                content: content.text,
                thinking: None,
                calls: Vec::new(),
            },
            _ => Message::User { content },
        });
    }
    Ok(history)
}
