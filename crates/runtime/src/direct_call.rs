//! Calls that people make: a run of its own, which makes one call of a tool.

use crate::{
    Action, Client, Principal, RunRef, Runtime, RuntimeError,
    data::{CallData, RunData},
    one_call::{CALL, OneCall},
};
use agents_core::{Effects, Json, model::ToolCall, tool::Scope};
use agents_store::{NewRun, Run};
use std::collections::BTreeMap;

/// Name of the label that the run of a direct call has; its value is the name of the tool.
pub const DIRECT_CALL: &str = "direct_call";

/// Call of a tool that a person is about to make: see [`Client::call`].
#[must_use = "nothing is called until `.by(..)` is awaited"]
pub struct DirectCall<'a> {
    client: &'a Client,
    agent: String,
    call: CallData,
    scope: Scope,
    key: Option<String>,
}

impl Client {
    /// Prepares a call of a tool that an agent has, in the version that the agent has it in, with arguments as JSON.
    ///
    /// The call is a run of its own, which a worker that has the agent carries out: it is stored, audited, limited and
    /// retried like every call. A tool that writes asks for approval every time, and so does one that a place in a team
    /// confirms. Models do not take part.
    ///
    /// ```
    /// use agents::prelude::*;
    /// use agents_runtime::{DIRECT_CALL, Principal, Progress, Runtime, SqliteStore};
    /// use agents_store::RunFilter;
    /// use std::time::Duration;
    /// use tokio_util::sync::CancellationToken;
    ///
    /// /// Returns the rate of a currency.
    /// #[agents::tool(reads)]
    /// async fn rate(
    ///     /// Currency, as `USD`.
    ///     currency: String,
    /// ) -> Result<String, std::io::Error> {
    ///     Ok(format!("1 EUR is 1.16 {currency}"))
    /// }
    ///
    /// /// You answer questions about money.
    /// #[agent(tools = [Rate])]
    /// async fn clerk(question: String) -> String;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::open(SqliteStore::in_memory().await?);
    /// runtime.agent(Clerk);
    /// tokio::spawn(runtime.clone().work(CancellationToken::new()));
    ///
    /// let client = runtime.as_client();
    /// let args = agents::Json::of(&serde_json::json!({"currency": "USD"}))?;
    /// let run = client.call("clerk", "rate", "1.0.0", args).by(&Principal::operator()).await?;
    /// let Progress::Done(outcome) = run.wait(Duration::from_secs(10)).await? else {
    ///     panic!("the worker does not answer");
    /// };
    /// assert_eq!(outcome.result?, "1 EUR is 1.16 USD");
    ///
    /// // The runs of such calls are found by their label.
    /// let labels = [(DIRECT_CALL.to_owned(), "rate".to_owned())].into();
    /// let calls = client.runs(&RunFilter { labels, ..RunFilter::default() }).await?;
    /// assert_eq!(calls[0].id, run.id());
    /// # Ok(())
    /// # }
    /// ```
    pub fn call(
        &self,
        agent: impl Into<String>,
        tool: impl Into<String>,
        version: impl Into<String>,
        args: Json,
    ) -> DirectCall<'_> {
        DirectCall {
            client: self,
            agent: agent.into(),
            call: CallData {
                tool: tool.into(),
                version: version.into(),
                args,
            },
            scope: Scope::default(),
            key: None,
        }
    }
}

impl DirectCall<'_> {
    /// Sets the scope that the call works for. By default, the call works for the principal as a user of the
    /// principal's tenant, and the operator's call for the tenant `""` without a user.
    pub fn scope(mut self, scope: impl Into<Scope>) -> Self {
        self.scope = scope.into();
        self
    }

    /// Sets a key by which the caller knows the call. The same call with the same key again is made once: the run that is
    /// there is returned.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Makes the call for this principal. The principal may not decide about the call's request for approval, except
    /// for the operator. Returns the run.
    ///
    /// # Errors
    /// When the [roles](crate::Roles) forbid it, the scope is that of another tenant, the key belongs to another call, or the
    /// store fails.
    pub async fn by(self, by: &Principal) -> Result<RunRef<String>, RuntimeError> {
        let DirectCall {
            client,
            agent,
            call,
            mut scope,
            key,
        } = self;
        if let (Some(tenant), true) = (by.tenant(), scope == Scope::default()) {
            scope = Scope::from(tenant).user(by.id());
        }
        let tenant = Some(scope.tenant_id());
        client.allowed(Action::Call, tenant, by).await?;
        let input = crate::wording::call_input(&call.tool, &call.args);
        let labels = BTreeMap::from([(DIRECT_CALL.to_owned(), call.tool.clone())]);
        let input = Json::of(&input).map_err(RuntimeError::unreadable)?;
        let data = RunData {
            by: Some(by.clone()),
            call: Some(call),
            ..RunData::new(input, scope)
        };
        let new = NewRun {
            key: key.map(|key| format!("{DIRECT_CALL} {key}")),
            labels,
            // Workers that have the agent have its tools.
            ..data.run_of(agent, &*client.keys()?)?
        };
        let stored = client.created(&new, &data).await?;
        Ok(RunRef::new(client.clone(), stored.id))
    }
}

impl Runtime {
    /// Returns the agent that makes a direct call: it calls the tool of the run's agent, and asks no model.
    pub(crate) fn calls(
        &self,
        run: &Run,
        data: &RunData,
        call: &CallData,
    ) -> Result<OneCall, RuntimeError> {
        let CallData {
            tool,
            version,
            args,
        } = call;
        let found = self.tool(run, data, tool, version);
        let found = found.ok_or_else(|| crate::wording::no_tool(&run.agent, tool, version))?;
        let agent = self.shared.agent(&run.agent);
        let is_confirmed =
            agent.is_some_and(|agent| agent.profile(&data.scope).confirms(&found.spec().name));
        let confirm = found.spec().effects == Effects::Writes || is_confirmed;
        let call = ToolCall {
            id: String::new(),
            name: found.spec().name.to_string(),
            arguments: args.as_str().to_owned(),
        };
        Ok(OneCall::of(
            CALL,
            run.agent.clone(),
            found,
            call,
            Vec::new(),
            confirm,
        ))
    }
}
