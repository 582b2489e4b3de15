//! The run of an undo, as a worker has it.

use crate::{
    Runtime, RuntimeError,
    data::{RunData, UndoData},
    one_call::{Given, OneCall, UNDO},
};
use agents_core::{
    Effects, Json,
    model::ToolCall,
    secret::{SecretStore, restore},
    tool::undo_tool,
};
use agents_store::Run;

impl Runtime {
    /// Returns the agent that makes the one call of an undo, with the tool of the run's agent.
    pub(crate) async fn undoes(
        &self,
        run: &Run,
        data: &RunData,
        undo: &UndoData,
    ) -> Result<OneCall, RuntimeError> {
        let name = &undo.tool;
        let tool = self.tool(run, data, name, &undo.version);
        let tool =
            tool.ok_or_else(|| crate::wording::tool_missing(&run.agent, name, &undo.version))?;
        let spec = tool.spec();
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
                return Ok(OneCall::of(UNDO, "undo", undoing, call, secrets, false));
            }
        };
        Ok(OneCall::saying(UNDO, why))
    }

    /// Replaces references to secrets in a stored value by names of their own, and returns the secrets by these names.
    /// Under the usual names, the undo looks up the secrets of today.
    async fn restored(&self, value: &Json, data: &RunData) -> Result<(Json, Given), RuntimeError> {
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
