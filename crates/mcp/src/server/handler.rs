// Revisions after 2025-11-25 call logging and subscriptions deprecated.
#![allow(deprecated)]

use super::{
    Caller, Changes, Prompt, Resource, Settings,
    caller::{Looks, OneCall},
    content,
    host::Host,
    session::Session,
    wording,
};
use agents_core::{
    Agent, Effects, Error, Json, Outcome,
    model::{Content, Media, is_reference},
    run::{Event, EventKind, ToolEnvelope},
    team::Team,
    tool::ToolSpec,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
        CompleteResult, CompletionInfo, ContentBlock, GetPromptRequestParams, GetPromptResponse,
        GetPromptResult, Implementation, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, PromptsCapability,
        ReadResourceRequestParams, ReadResourceResponse, Reference, ResourcesCapability,
        ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, Tool,
        ToolAnnotations, ToolsCapability, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::Value;
use std::sync::{Arc, PoisonError, atomic::AtomicBool};
use tokio::sync::mpsc;

/// Largest number of progress notifications that wait to be sent to a host. Later ones are left out.
const WAITING: usize = 64;

/// Handler of the requests that one host sends to a server.
#[derive(Clone)]
pub struct Handler {
    team: Arc<Team<Caller>>,
    offer: Arc<Offer>,
    settings: Settings,
    session: Arc<Session>,
}

/// Resources and prompts that a server offers to hosts.
pub(super) struct Offer {
    pub(super) resources: Vec<Resource>,
    pub(super) prompts: Vec<Prompt>,
    pub(super) changes: Option<Changes>,
}

impl Handler {
    pub(super) fn new(team: Team<Caller>, offer: Offer, settings: Settings) -> Self {
        Handler {
            team: Arc::new(team),
            offer: Arc::new(offer),
            settings,
            session: Arc::new(Session::new()),
        }
    }

    /// Returns a handler of the same server for another host, with a session of its own.
    #[cfg(feature = "http")]
    pub(super) fn for_another_host(&self) -> Self {
        Handler {
            session: Arc::new(Session::new()),
            ..self.clone()
        }
    }

    /// Returns the specifications of the tools, as a model would be offered them.
    async fn tools(&self) -> Result<Vec<ToolSpec>, Error> {
        let looks = Looks::default();
        let run = self.team.run("").model(looks.clone());
        run.scope(self.settings.scope.clone()).await?;
        let mut seen = looks.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut *seen))
    }
}

impl std::fmt::Debug for Handler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handler")
            .field("name", &self.settings.name)
            .finish_non_exhaustive()
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let Offer {
            resources,
            prompts,
            changes,
        } = &*self.offer;
        let changes = changes.as_ref().map(|_| true);
        let mut capabilities = ServerCapabilities::default();
        let mut tools = ToolsCapability::default();
        tools.list_changed = changes;
        capabilities.tools = Some(tools);
        capabilities.logging = Some(Default::default());
        if !resources.is_empty() {
            let mut able = ResourcesCapability::default();
            able.list_changed = changes;
            able.subscribe = changes;
            capabilities.resources = Some(able);
        }
        if !prompts.is_empty() {
            let mut able = PromptsCapability::default();
            able.list_changed = changes;
            capabilities.prompts = Some(able);
            capabilities.completions = Some(Default::default());
        }
        let own = Implementation::new(&*self.settings.name, env!("CARGO_PKG_VERSION"));
        let config = ServerConfig::new(capabilities).with_server_info(own);
        match &self.settings.instructions {
            Some(instructions) => config.with_instructions(instructions),
            None => config,
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Some(changes) = &self.offer.changes else {
            return;
        };
        self.session.tell_of(changes, context.peer);
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.set_level(request.level);
        Ok(())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = self.offer.resources.iter().filter_map(Resource::listed);
        Ok(ListResourcesResult::with_all_items(listed.collect()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let listed = self.offer.resources.iter().filter_map(Resource::template);
        Ok(ListResourceTemplatesResult::with_all_items(
            listed.collect(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let mut resources = self.offer.resources.iter();
        let found = resources.find_map(|one| Some((one, one.matches(&uri)?)));
        let Some((resource, variables)) = found else {
            return Err(wording::no_resource(&uri));
        };
        let read = self.host(&context).at(resource.read(&uri, variables)).await;
        let read = read.map_err(|why| wording::resource_unreadable(&uri, &why))?;
        Ok(read.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let mut resources = self.offer.resources.iter();
        if !resources.any(|one| one.matches(&request.uri).is_some()) {
            return Err(wording::no_resource(&request.uri));
        }
        self.session.subscribe(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.unsubscribe(&request.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let listed = self.offer.prompts.iter().map(Prompt::listed);
        Ok(ListPromptsResult::with_all_items(listed.collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = self.prompt(&request.name)?;
        let given = request.arguments.unwrap_or_default().into_iter();
        let args = given.map(|(name, value)| match value {
            Value::String(text) => (name, text),
            other => (name, other.to_string()),
        });
        let messages = prompt.messages(&args.collect())?;
        Ok(GetPromptResult::new(content::messages(&messages)).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let mut values = match &request.r#ref {
            Reference::Prompt(prompt) => {
                let argument = &request.argument;
                let prompt = self.prompt(&prompt.name)?;
                prompt.suggestions(&argument.name, &argument.value)
            }
            _ => Vec::new(),
        };
        let total = values.len();
        values.truncate(CompletionInfo::MAX_VALUES);
        let is_cut = values.len() < total;
        let values = CompletionInfo::with_pagination(values, u32::try_from(total).ok(), is_cut);
        let values = values.map_err(|why| ErrorData::internal_error(why, None))?;
        Ok(CompleteResult::new(values))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools().await.map_err(internal)?;
        let tools = tools.iter().map(listed).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tools = self.tools().await.map_err(internal)?;
        if !tools.iter().any(|spec| spec.name == request.name) {
            return Err(wording::no_tool(&request.name));
        }
        let arguments = request.arguments.unwrap_or_default();
        let model = OneCall {
            tool: request.name.to_string(),
            arguments: Value::Object(arguments).to_string(),
            others: self.settings.model.clone(),
            is_made: AtomicBool::new(false),
            files: Arc::default(),
        };
        let files = model.files.clone();
        let approver = self.settings.approver.clone();
        let run = self
            .team
            .run("")
            .model(model)
            .scope(self.settings.scope.clone())
            .budget(self.settings.budget.clone())
            .approver(move |request| approver.decide(request))
            .cancel(context.ct.clone());
        let host = self.host(&context);
        let run = match told(&host) {
            Some(told) => run.on_event(move |event| _ = told.try_send(event.clone())),
            None => run,
        };
        let outcome = host.at(run.outcome()).await.map_err(internal)?;
        let files = std::mem::take(&mut *files.lock().unwrap_or_else(PoisonError::into_inner));
        let result = result(&request.name, &outcome, files);
        Ok(CallToolResponse::Complete(result))
    }
}

impl Handler {
    fn host(&self, context: &RequestContext<RoleServer>) -> Host {
        Host::new(context, self.session.clone())
    }

    fn prompt(&self, name: &str) -> Result<&Prompt, ErrorData> {
        let mut prompts = self.offer.prompts.iter();
        let found = prompts.find(|prompt| prompt.name() == name);
        found.ok_or_else(|| wording::no_prompt(name))
    }
}

/// Returns a channel for the events of a call's run, of which the host is told as progress; `None` if the host did not
/// ask for progress.
fn told(host: &Host) -> Option<mpsc::Sender<Event>> {
    if !host.wants_progress() {
        return None;
    }
    let (told, mut events) = mpsc::channel::<Event>(WAITING);
    let host = host.clone();
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            if let Some(said) = said(&event) {
                host.step(said).await;
            }
        }
    });
    Some(told)
}

/// Returns the text for an event of which the host is told as progress; `None` for any other event. The call of the
/// host itself is no progress.
fn said(event: &Event) -> Option<String> {
    let agent = &event.agent;
    match &event.kind {
        _ if event.depth == 0 => None,
        EventKind::AgentStarted => Some(wording::begins(agent)),
        EventKind::ModelRequested { turn, .. } => Some(wording::turn(agent, *turn)),
        EventKind::CallStarted { tool, .. } => Some(wording::calls(agent, tool)),
        _ => None,
    }
}

/// Returns the result of a call in the form of the protocol: its output with its images and files, or its error as
/// text, and its receipt as structured content.
fn result(tool: &str, outcome: &Outcome<String>, files: Vec<Media>) -> CallToolResult {
    let mut receipts = outcome.outputs.receipts();
    let receipt: Option<&ToolEnvelope> = receipts.find(|receipt| receipt.name == tool);
    let failed = |why: String| CallToolResult::error(vec![ContentBlock::text(why)]);
    let mut result = match receipt {
        Some(receipt) => match (&receipt.output, &receipt.error) {
            (Some(output), _) => {
                let text = text(output, &files);
                let content = files.into_iter().fold(Content::from(text), Content::with);
                CallToolResult::success(content::blocks(&content))
            }
            (None, Some(error)) => failed(format!("{}: {}", error.code, error.message)),
            (None, None) => failed(wording::CALL_WITHOUT_RESULT.to_owned()),
        },
        None => failed(match &outcome.result {
            Err(error) => format!("{error:#}"),
            Ok(_) => wording::CALL_NOT_MADE.to_owned(),
        }),
    };
    result.structured_content = receipt.and_then(|receipt| serde_json::to_value(receipt).ok());
    result
}

/// Returns an output as text for the host: a string without its quotes, any other value as JSON. An output that is a
/// file has no text.
fn text(output: &Json, files: &[Media]) -> String {
    match output.to_value() {
        Ok(Value::String(text)) => text,
        Ok(value) if !files.is_empty() && is_reference(&value) => String::new(),
        _ => output.as_str().to_owned(),
    }
}

fn listed(spec: &ToolSpec) -> Tool {
    let schema = match &spec.input_schema {
        Value::Object(schema) => schema.clone(),
        _ => Default::default(),
    };
    let reads = spec.effects != Effects::Writes;
    let hints = ToolAnnotations::new()
        .read_only(reads)
        .idempotent(spec.idempotent)
        .destructive(!reads && spec.irreversible.is_some())
        .open_world(spec.external);
    Tool::new(spec.name.to_string(), spec.description.to_string(), schema).with_annotations(hints)
}

fn internal(error: Error) -> ErrorData {
    ErrorData::internal_error(format!("{error:#}"), None)
}
