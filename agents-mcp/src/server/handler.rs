use super::{
    Host, Settings,
    host::{Looks, OneCall},
};
use agents_core::{
    Agent, Effects, Error, Json, Outcome,
    run::{Event, EventKind, ToolEnvelope},
    team::Team,
    tool::ToolSpec,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
        ServerConfig, Tool, ToolAnnotations,
    },
    service::RequestContext,
};
use serde_json::Value;
use std::sync::{Arc, PoisonError, atomic::AtomicBool};
use tokio::sync::mpsc;

/// Largest number of progress notifications that wait to be sent. Later ones are left out.
const WAITING: usize = 64;

/// Handler of the requests of hosts.
#[derive(Clone)]
pub struct Handler {
    team: Arc<Team<Host>>,
    settings: Settings,
}

impl Handler {
    pub(super) fn new(team: Team<Host>, settings: Settings) -> Self {
        Handler {
            team: Arc::new(team),
            settings,
        }
    }

    /// Returns the tools, as a model would be offered them.
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
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let own = Implementation::new(&*self.settings.name, env!("CARGO_PKG_VERSION"));
        let config = ServerConfig::new(capabilities).with_server_info(own);
        match &self.settings.instructions {
            Some(instructions) => config.with_instructions(instructions),
            None => config,
        }
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
            let why = format!("unknown tool: {}", request.name);
            return Err(ErrorData::invalid_params(why, None));
        }
        let arguments = request.arguments.unwrap_or_default();
        let model = OneCall {
            tool: request.name.to_string(),
            arguments: Value::Object(arguments).to_string(),
            others: self.settings.model.clone(),
            is_made: AtomicBool::new(false),
        };
        let approver = self.settings.approver.clone();
        let run = self
            .team
            .run("")
            .model(model)
            .scope(self.settings.scope.clone())
            .budget(self.settings.budget.clone())
            .approver(move |request| approver.decide(request))
            .cancel(context.ct.clone());
        let run = match progress(&context) {
            Some(told) => run.on_event(move |event| _ = told.try_send(event.clone())),
            None => run,
        };
        let outcome = run.outcome().await.map_err(internal)?;
        Ok(CallToolResponse::Complete(result(&request.name, &outcome)))
    }
}

/// Returns where to send events that the host is told of as progress; `None` if the host did not ask for progress.
fn progress(context: &RequestContext<RoleServer>) -> Option<mpsc::Sender<Event>> {
    let token = context.meta.get_progress_token()?;
    let (told, mut events) = mpsc::channel::<Event>(WAITING);
    let peer = context.peer.clone();
    tokio::spawn(async move {
        let mut count = 0_u32;
        while let Some(event) = events.recv().await {
            let Some(said) = said(&event) else { continue };
            count += 1;
            let progress = ProgressNotificationParam::new(token.clone(), f64::from(count));
            if peer
                .notify_progress(progress.with_message(said))
                .await
                .is_err()
            {
                return;
            }
        }
    });
    Some(told)
}

/// Returns the event in words, if it is progress.
fn said(event: &Event) -> Option<String> {
    let agent = &event.agent;
    match &event.kind {
        EventKind::AgentStarted if event.depth > 0 => Some(format!("{agent} begins")),
        EventKind::ModelRequested { turn, .. } if event.depth > 0 => {
            Some(format!("{agent}, turn {turn}"))
        }
        EventKind::CallStarted { tool, .. } => Some(format!("{agent} calls {tool}")),
        _ => None,
    }
}

/// Returns the result of a call: its output or its error as text, and its receipt as structured content.
fn result(tool: &str, outcome: &Outcome<String>) -> CallToolResult {
    let mut receipts = outcome.outputs.receipts();
    let receipt: Option<&ToolEnvelope> = receipts.find(|receipt| receipt.name == tool);
    let failed = |why: String| CallToolResult::error(vec![ContentBlock::text(why)]);
    let mut result = match receipt {
        Some(receipt) => match (&receipt.output, &receipt.error) {
            (Some(output), _) => CallToolResult::success(vec![ContentBlock::text(text(output))]),
            (None, Some(error)) => failed(format!("{}: {}", error.code, error.message)),
            (None, None) => failed("the call has neither an output nor an error".to_owned()),
        },
        None => failed(match &outcome.result {
            Err(error) => format!("{error:#}"),
            Ok(_) => "the call was not made".to_owned(),
        }),
    };
    result.structured_content = receipt.and_then(|receipt| serde_json::to_value(receipt).ok());
    result
}

/// Returns an output as text: a string without its quotes, any other value as JSON.
fn text(output: &Json) -> String {
    match output.to_value() {
        Ok(Value::String(text)) => text,
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
