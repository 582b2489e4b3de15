//! The host of the call at work: its person is asked, its model is used, and it is told how the work goes on.

// Revisions after 2025-11-25 call sampling and logging deprecated.
#![expect(deprecated)]

use super::{session::Session, wording};
use crate::Answer;
use agents_core::{
    async_trait,
    model::{FinishReason, Message, Model, ModelError, Reply, Request, ToolCall},
    run::{Approval, ApprovalRequest, Approver},
};
use rmcp::{
    RoleServer,
    model::{
        ClientResult, ContentBlock, CreateMessageRequestParams, CreateMessageResult, ElicitRequest,
        ElicitRequestParams, ElicitationAction, LoggingLevel, LoggingMessageNotificationParam,
        ProgressNotificationParam, ProgressToken, SamplingMessage, SamplingMessageContentBlock,
        ServerRequest, Tool, ToolResultContent, ToolUseContent,
    },
    service::{Peer, RequestContext},
};
use serde_json::{Value, json};
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

tokio::task_local! {
    static CURRENT: Host;
}

/// Largest number of tokens that a reply of the host's model may have.
const MOST_TOKENS: u32 = 4096;

/// The MCP host whose call is at work here.
///
/// A tool that a host calls reaches the host with [`Host::current`]. In a task that the tool starts, there is no
/// current host.
///
/// ```
/// use agents_mcp::Host;
///
/// /// Deletes old files.
/// #[agents::tool(writes)]
/// async fn tidy_up(
///     /// In which folder.
///     folder: String,
/// ) -> String {
///     if let Some(host) = Host::current() {
///         host.log(format!("looking through {folder}")).await;
///         host.progress(1.0, Some(2.0), "half done").await;
///     }
///     "done".to_owned()
/// }
/// # fn main() { let _ = TidyUp; }
/// ```
#[derive(Clone)]
pub struct Host {
    peer: Peer<RoleServer>,
    session: Arc<Session>,
    progress: Option<Progress>,
}

/// Progress of one call, as far as the host was told of it.
#[derive(Clone)]
struct Progress {
    token: ProgressToken,
    /// Progress number that was sent last; `None` before the first.
    last: Arc<Mutex<Option<f64>>>,
}

/// Reason why a host did not do what it was asked for, as a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError(String);

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HostError {}

impl HostError {
    pub(super) fn new(why: impl Into<String>) -> Self {
        HostError(why.into())
    }
}

impl Host {
    pub(super) fn new(context: &RequestContext<RoleServer>, session: Arc<Session>) -> Self {
        Host {
            peer: context.peer.clone(),
            session,
            progress: context.meta.get_progress_token().map(|token| Progress {
                token,
                last: Arc::default(),
            }),
        }
    }

    /// Returns the host whose call is at work in this task, or whose resource is being read; `None` outside of both.
    pub fn current() -> Option<Host> {
        CURRENT.try_with(Self::clone).ok()
    }

    /// Does this work as part of a call of this host, so that [`Host::current`] returns the host there.
    pub(super) async fn at<F: Future>(self, work: F) -> F::Output {
        CURRENT.scope(self, work).await
    }

    /// Asks the person at the host for values that follow this schema: an object whose properties are strings, numbers,
    /// booleans or choices. The values are returned as the host sends them, without a check.
    ///
    /// ```
    /// use agents_mcp::{Answer, Host, HostError};
    /// use serde_json::json;
    ///
    /// async fn where_to(host: &Host) -> Result<Option<String>, HostError> {
    ///     let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    ///     Ok(match host.ask("Where do you want to go?", schema).await? {
    ///         Answer::Given(values) => values["city"].as_str().map(str::to_owned),
    ///         _ => None,
    ///     })
    /// }
    /// # let _ = where_to;
    /// ```
    ///
    /// # Errors
    /// When the host does not ask people, does not answer, or the schema is not one that it could ask for.
    pub async fn ask(
        &self,
        message: impl Into<String>,
        schema: Value,
    ) -> Result<Answer, HostError> {
        let able = self.peer.peer_info();
        if able.is_none_or(|info| info.capabilities.elicitation.is_none()) {
            return Err(wording::asks_nobody());
        }
        let requested_schema =
            serde_json::from_value(schema).map_err(|error| wording::schema_unfit(&error))?;
        let params = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: message.into(),
            requested_schema,
        };
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        let answer = self.peer.send_request(request).await;
        match answer.map_err(|error| wording::no_answer(&error))? {
            ClientResult::ElicitResult(result) => Ok(match (result.action, result.content) {
                (ElicitationAction::Accept, content) => Answer::Given(content.unwrap_or_default()),
                (ElicitationAction::Decline, _) => Answer::Declined,
                _ => Answer::Cancelled,
            }),
            _ => Err(wording::other_answer()),
        }
    }

    /// Returns the model of the host, for agents that run within the call. The host decides which model it is, and may ask
    /// its person first.
    pub fn model(&self) -> impl Model + use<> {
        HostModel(self.clone())
    }

    /// Tells the host how the work goes on, as a line of its log with the level `info`. A host that wants only more
    /// severe lines is not told.
    pub async fn log(&self, message: impl Into<String>) {
        if self.session.level() > LoggingLevel::Info as u8 {
            return;
        }
        let line =
            LoggingMessageNotificationParam::new(LoggingLevel::Info, Value::from(message.into()));
        // A host that has left is told nothing.
        drop(self.peer.notify_logging_message(line).await);
    }

    /// Tells the host how much is done, out of `total` if that is known. Within a call, `done` has to grow: a number
    /// that is not greater than the last one is not sent. A host that did not ask for progress is not told.
    pub async fn progress(&self, done: f64, total: Option<f64>, message: impl Into<String>) {
        let is_more = |last: Option<f64>| last.is_none_or(|last| done > last).then_some(done);
        self.report(is_more, total, message.into()).await;
    }

    /// Returns `true` if the host has asked for progress of the call.
    pub(super) fn wants_progress(&self) -> bool {
        self.progress.is_some()
    }

    /// Tells the host that the work has gone on: the progress number grows by one, and no total is given, since it is
    /// not known.
    pub(super) async fn step(&self, message: String) {
        let next = |last: Option<f64>| Some(last.unwrap_or_default() + 1.0);
        self.report(next, None, message).await;
    }

    async fn report(
        &self,
        next: impl Fn(Option<f64>) -> Option<f64> + Send,
        total: Option<f64>,
        message: String,
    ) {
        let Some(Progress { token, last }) = &self.progress else {
            return;
        };
        let number = {
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            let number = next(*last);
            *last = number.or(*last);
            number
        };
        let Some(number) = number else { return };
        let mut progress = ProgressNotificationParam::new(token.clone(), number);
        progress.total = total;
        progress.message = Some(message).filter(|message| !message.is_empty());
        // A host that has left is told nothing.
        drop(self.peer.notify_progress(progress).await);
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}

/// Returns the approver that asks the person at the host; `otherwise` decides where the host does not ask people, or
/// gives no answer.
pub(super) fn approver(otherwise: Arc<dyn Approver>) -> impl Approver {
    move |request: ApprovalRequest| {
        let otherwise = otherwise.clone();
        async move {
            let Some(host) = Host::current() else {
                return otherwise.decide(request).await;
            };
            let effect = request.effect_description.as_deref();
            let message = wording::allow(&request.tool_name, effect, request.args.as_str());
            let schema = json!({
                "type": "object",
                "properties": {"allow": {"type": "boolean", "title": wording::ALLOW, "default": false}},
                "required": ["allow"],
            });
            match host.ask(message, schema).await {
                Ok(Answer::Given(values)) if values["allow"] == true => Approval::Approve.into(),
                Ok(_) => Approval::deny(wording::NOT_ALLOWED).into(),
                Err(_) => otherwise.decide(request).await,
            }
        }
    }
}

/// Model of a host, to which requests are sent (MCP calls that sampling).
struct HostModel(Host);

/// Model of the host whose call is at work in the current task.
pub(super) struct CurrentHostModel;

#[async_trait]
impl Model for CurrentHostModel {
    fn id(&self) -> &str {
        "mcp/host-model"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        request.check_media(self)?;
        match Host::current() {
            Some(host) => host.model().chat(request).await,
            None => Err(wording::no_host()),
        }
    }
}

#[async_trait]
impl Model for HostModel {
    fn id(&self) -> &str {
        "mcp/host-model"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        // A request outside of a run is not checked before.
        request.check_media(self)?;
        let peer = &self.0.peer;
        let able = peer.peer_info();
        if able.is_none_or(|info| info.capabilities.sampling.is_none()) {
            return Err(wording::lends_nothing());
        }
        if request.has_tools() && !peer.supports_sampling_tools() {
            return Err(wording::lends_without_tools());
        }
        let result = peer.create_message(params(&request)).await;
        result.map(reply).map_err(wording::model_failed)
    }
}

/// Returns the request for the host's model in the form of the protocol. A schema for the answer becomes a sentence of
/// the system prompt.
fn params(request: &Request<'_>) -> CreateMessageRequestParams {
    let mut system = Vec::new();
    let mut messages = Vec::new();
    for message in request.messages() {
        match message {
            Message::System { content } => system.push(content.clone()),
            Message::User { content } => {
                messages.push(SamplingMessage::user_text(content.text.clone()));
            }
            Message::Assistant { content, calls, .. } => {
                let text = (!content.is_empty() || calls.is_empty())
                    .then(|| SamplingMessageContentBlock::text(content.clone()));
                let calls = calls.iter().map(|call| {
                    let input = serde_json::from_str(&call.arguments).unwrap_or_default();
                    ToolUseContent::new(call.id.clone(), call.name.clone(), input)
                });
                let calls = calls.map(SamplingMessageContentBlock::ToolUse);
                let parts = text.into_iter().chain(calls).collect();
                messages.push(SamplingMessage::new_multiple(
                    rmcp::model::Role::Assistant,
                    parts,
                ));
            }
            Message::Tool {
                tool_call_id,
                content,
                ..
            } => {
                let text = vec![ContentBlock::text(content.text.clone())];
                let result = ToolResultContent::new(tool_call_id.clone(), text);
                let result = SamplingMessageContentBlock::ToolResult(result);
                messages.push(SamplingMessage::new(rmcp::model::Role::User, result));
            }
        }
    }
    if let Some(schema) = request.format() {
        system.push(wording::answer_with(schema));
    }
    let mut params = CreateMessageRequestParams::new(messages, MOST_TOKENS);
    params.system_prompt = Some(system.join("\n\n")).filter(|system| !system.is_empty());
    let tools = request.tools().map(|spec| {
        let schema = spec.input_schema.as_object().cloned().unwrap_or_default();
        Tool::new(spec.name.to_string(), spec.description.to_string(), schema)
    });
    params.tools = Some(tools.collect()).filter(|tools: &Vec<_>| !tools.is_empty());
    params
}

fn reply(result: CreateMessageResult) -> Reply {
    let mut reply = Reply {
        model: Some(result.model),
        finish: match result.stop_reason.as_deref() {
            Some(CreateMessageResult::STOP_REASON_END_MAX_TOKEN) => FinishReason::Length,
            Some(CreateMessageResult::STOP_REASON_TOOL_USE) => FinishReason::ToolCalls,
            _ => FinishReason::Stop,
        },
        ..Reply::default()
    };
    for part in result.message.content.iter() {
        match part {
            SamplingMessageContentBlock::Text(text) => reply.content.push_str(&text.text),
            SamplingMessageContentBlock::ToolUse(call) => reply.calls.push(ToolCall {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: Value::Object(call.input.clone()).to_string(),
            }),
            _ => {}
        }
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;
    use agents_core::model::{Content, History, Media};

    #[test]
    fn system_messages_stay_apart() {
        let mut history = History::new();
        for content in ["You translate.", "Be brief."] {
            let content = content.to_owned();
            history.push(Message::System { content });
        }
        let params = params(&Request::new(&history));
        assert_eq!(
            params.system_prompt.as_deref(),
            Some("You translate.\n\nBe brief.")
        );
    }

    #[tokio::test]
    async fn an_image_is_an_error() {
        let image = Media::bytes("image/png", b"PNG").unwrap();
        let content = Content::from("What is this?").with(image);
        let history = History::from(vec![Message::User { content }]);
        let error = CurrentHostModel.chat(Request::new(&history)).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains("an image"), "{error}");
    }
}
