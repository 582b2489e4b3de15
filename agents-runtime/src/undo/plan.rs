//! The run of an undo, as a worker has it: an agent whose model is a plan of one call.

use crate::{
    Runtime, RuntimeError,
    data::{RunData, UndoData},
};
use agents_core::{
    AgentBuilder, Effects, Json, Model, PurposeKey,
    agent::ModelAgent,
    async_trait,
    model::{Message, ModelError, Purposes, Reply, Request, ToolCall},
    secret::{SecretStore, SecretValue, restore},
    tool::{Scope, undo_tool},
};
use agents_store::Run;
use std::sync::Arc;

/// Name of the model of an undo.
const PLAN: &str = "agents/undo";

/// Agent of the run of an undo.
pub(crate) type Undoing = ModelAgent<'static, String, String>;

/// Secrets of the undone call, by the names under which the run of its undo shows them.
pub(crate) type Restored = Vec<(String, SecretValue)>;

impl Runtime {
    /// Returns the agent that undoes an execution of a run of this agent, and the secrets that it gives to the undo.
    pub(crate) async fn undoes(
        &self,
        run: &Run,
        data: &RunData,
        undo: &UndoData,
    ) -> Result<(Undoing, Restored), RuntimeError> {
        let tool = self.tool(run, data, &undo.tool, &undo.version)?;
        let (spec, name) = (tool.spec(), &undo.tool);
        let agent = AgentBuilder::<String, String>::new("undo");
        let why = match (&spec.irreversible, undo_tool(&tool)) {
            (Some(why), _) => why.to_string(),
            (None, _) if spec.effects != Effects::Writes => crate::wording::changes_nothing(name),
            (None, None) => crate::wording::says_no_undo(name),
            (None, Some(undoing)) => {
                let (args, mut secrets) = self.restored(&undo.args, data).await?;
                let (output, more) = self.restored(&undo.output, data).await?;
                secrets.extend(more);
                let call = ToolCall {
                    id: String::new(),
                    name: undoing.spec().name.to_string(),
                    arguments: format!(
                        r#"{{"args": {}, "output": {}}}"#,
                        args.as_str(),
                        output.as_str()
                    ),
                };
                let agent = agent.tool(undoing).model(Plan::Call(call)).build();
                return Ok((agent, secrets));
            }
        };
        Ok((agent.model(Plan::Say(why)).build(), Vec::new()))
    }

    /// Puts secrets in the place of their references. They get names of their own: the undo asks for the secrets of today
    /// under the names that it knows.
    async fn restored(
        &self,
        value: &Json,
        data: &RunData,
    ) -> Result<(Json, Restored), RuntimeError> {
        let none = SecretStore::new();
        let secrets = self.settings.secrets.as_deref().unwrap_or(&none);
        let restored = restore(value, secrets, &data.scope).await;
        let (value, found) = restored.map_err(RuntimeError::unreadable)?;
        let named = found
            .into_iter()
            .map(|(name, value)| (format!("undone.{name}"), value));
        Ok((value, named.collect()))
    }
}

/// Model of an undo.
enum Plan {
    /// Makes this call, and reports what it is told.
    Call(ToolCall),
    /// Says this.
    Say(String),
}

#[async_trait]
impl Model for Plan {
    fn id(&self) -> &str {
        PLAN
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let told = request
            .messages()
            .iter()
            .rev()
            .find_map(|message| match message {
                Message::Tool { content, .. } => Some(content.text.clone()),
                _ => None,
            });
        let mut reply = Reply::default();
        match (self, told) {
            (Plan::Say(text), _) => reply.content.clone_from(text),
            (Plan::Call(_), Some(told)) => reply.content = told,
            (Plan::Call(call), None) => reply.calls.push(call.clone()),
        }
        Ok(reply)
    }
}

/// Purposes of the run of an undo: its plan is no model that anybody has to admit.
pub(crate) struct WithPlan(pub(crate) Arc<dyn Purposes>);

impl Purposes for WithPlan {
    fn model(&self, purpose: &PurposeKey, scope: &Scope) -> Arc<dyn Model> {
        self.0.model(purpose, scope)
    }

    fn judged(&self, run_id: &str, purpose: &PurposeKey, fits: bool) {
        self.0.judged(run_id, purpose, fits);
    }

    fn admits(&self, model: &str) -> bool {
        model == PLAN || self.0.admits(model)
    }
}
