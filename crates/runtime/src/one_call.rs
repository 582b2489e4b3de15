//! Runs with a fixed model: the undo of an execution, a call that a person makes, the outcome of a variation of a run. So all
//! of these are gated, stored and audited like every run.

use crate::{
    Runtime, RuntimeError,
    data::{RunData, WhatIfData},
};
use agents_core::{
    AgentBuilder, PurposeKey,
    agent::ModelAgent,
    async_trait,
    model::{Message, Model, ModelError, ModelErrorKind, Purposes, Reply, Request, ToolCall},
    secret::SecretValue,
    tool::{IntoTool, Scope, ToolPolicy},
};
use agents_store::Run;
use std::{borrow::Cow, sync::Arc};

/// Ids of the fixed models of this module, which answer in place of a real model.
const MODELS: [&str; 3] = [UNDO, CALL, WHAT_IF];
/// Id of the fixed model in the run of an undo.
pub(crate) const UNDO: &str = "agents/undo";
/// Id of the fixed model in the run of a call that a person makes.
pub(crate) const CALL: &str = "agents/call";
/// Id of the fixed model in a run that tries a variation of another run.
const WHAT_IF: &str = "agents/what_if";

/// Agent of a run that makes one call, or none, without a real model.
pub(crate) struct OneCall {
    pub(crate) agent: ModelAgent<'static, String, String>,
    /// Secrets that the run is given, by the names under which the call shows them.
    pub(crate) secrets: Given,
}

/// List of secrets, each with the name under which a run shows it.
pub(crate) type Given = Vec<(String, SecretValue)>;

impl OneCall {
    /// Creates an agent that makes this call of the tool, and whose answer is the result of the call. With `confirm`,
    /// the call needs an approval.
    pub(crate) fn of(
        model: &'static str,
        agent: impl Into<Cow<'static, str>>,
        tool: impl IntoTool,
        call: ToolCall,
        secrets: Given,
        confirm: bool,
    ) -> Self {
        let name = call.name.clone();
        let agent = AgentBuilder::<String, String>::new(agent).tool(tool);
        let agent = match confirm {
            true => agent.policy(name, ToolPolicy::new().confirm()),
            false => agent,
        };
        let then = Then::Call(call);
        OneCall {
            agent: agent.model(Fixed { model, then }).build(),
            secrets,
        }
    }

    /// Creates an agent that calls nothing, and whose answer says why.
    pub(crate) fn saying(model: &'static str, why: String) -> Self {
        Self::without_tools(model, Then::Say(why))
    }

    /// Creates an agent that goes on with the variation of a run, and whose answer is the outcome.
    fn varying(runtime: Runtime, what_if: WhatIfData) -> Self {
        Self::without_tools(WHAT_IF, Then::Vary(Box::new((runtime, what_if))))
    }

    fn without_tools(model: &'static str, then: Then) -> Self {
        let name = model.strip_prefix("agents/").unwrap_or(model);
        let agent = AgentBuilder::<String, String>::new(name);
        OneCall {
            agent: agent.model(Fixed { model, then }).build(),
            secrets: Vec::new(),
        }
    }
}

impl Runtime {
    /// Returns the agent of a run that makes one call; `None` for a run of the agent itself.
    pub(crate) async fn one_call(
        &self,
        run: &Run,
        data: &RunData,
    ) -> Result<Option<OneCall>, RuntimeError> {
        let RunData {
            undo,
            call,
            what_if,
            ..
        } = data;
        Ok(match (undo, call, what_if) {
            (None, None, None) => None,
            // The run ends, also if the tool that it would call is gone.
            _ if run.cancelled_by.is_some() => Some(OneCall::saying(CALL, String::new())),
            (Some(undo), ..) => Some(self.undoes(run, data, undo).await?),
            (_, Some(call), _) => Some(self.calls(run, data, call)?),
            (.., Some(what_if)) => Some(OneCall::varying(self.clone(), what_if.clone())),
        })
    }
}

/// Model in place of a real one, whose replies follow from the run's data alone.
struct Fixed {
    model: &'static str,
    then: Then,
}

enum Then {
    /// The model makes this call, and then answers with its result.
    Call(ToolCall),
    /// The model answers with this text.
    Say(String),
    /// The model goes on with the variation of a run, and answers with its outcome. As with the reply of any model, a
    /// cancellation, a pause and the end of the worker stop it, and an outcome that is stored is not asked for again.
    Vary(Box<(Runtime, WhatIfData)>),
}

#[async_trait]
impl Model for Fixed {
    fn id(&self) -> &str {
        self.model
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
        match (&self.then, told) {
            (Then::Say(text), _) => reply.content.clone_from(text),
            (Then::Vary(vary), _) => {
                let (runtime, what_if) = &**vary;
                let told = runtime.vary(what_if).await;
                let failed =
                    |error: RuntimeError| ModelError::new(ModelErrorKind::Setup, error.to_string());
                reply.content = told.map_err(failed)?;
            }
            (Then::Call(_), Some(told)) => reply.content = told,
            (Then::Call(call), None) => reply.calls.push(call.clone()),
        }
        Ok(reply)
    }
}

/// Purposes of a run with a fixed model, which needs no admission.
pub(crate) struct AdmitsFixed(pub(crate) Arc<dyn Purposes>);

impl Purposes for AdmitsFixed {
    fn model(&self, purpose: &PurposeKey, scope: &Scope) -> Arc<dyn Model> {
        self.0.model(purpose, scope)
    }

    fn judged(&self, run_id: &str, purpose: &PurposeKey, fits: bool) {
        self.0.judged(run_id, purpose, fits);
    }

    fn admits(&self, model: &str) -> bool {
        MODELS.contains(&model) || self.0.admits(model)
    }
}
