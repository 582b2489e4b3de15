use super::{Cost, Timestamp, ToolEnvelope};
use crate::Class;
use serde::{Deserialize, Serialize};

/// Summary of a call's receipt for logs, traces and billing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallMetadata {
    /// Own name of the tool that was called, as its receipt has it.
    pub tool_name: String,
    /// Name of the agent that made the call.
    pub agent_name: String,
    /// Duration of the call in milliseconds, waits and repairs included.
    pub latency_ms: u64,
    /// Is `true` if the call has an output, and `false` if it failed.
    pub ok: bool,
    /// Class of the error with which the call failed; `None` if it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_class: Option<Class>,
    /// Id of the trace that the call belongs to.
    pub trace_id: String,
    /// Time at which the agent began to handle the call.
    pub started_at: Timestamp,
    /// Time at which the result of the call was final.
    pub ended_at: Timestamp,
    /// Number of tokens of the models that were asked within the call: by agents in the tool's body, and to repair the
    /// call. `None` if only the receipt is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Cost of the models that worked for the call, by the run's prices. `None` if a model among them has no price, or
    /// if only the receipt is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl ToolCallMetadata {
    /// Summarizes the receipt of a call that this agent made, in this trace. The run itself also knows the tokens and the
    /// cost: see [`Run::on_receipt`](crate::agent::Run::on_receipt).
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
    /// use agents::{Class, run::ToolCallMetadata};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async {
    /// #     Err::<(), _>(std::io::Error::other("it is dark"))
    /// # });
    /// # let (model, _) = ScriptedModel::new([Script::call("look", "{}"), Script::text("nothing")]);
    /// # let agent = AgentBuilder::<String, String>::new("watcher").tool(look).model(model).build();
    /// let outcome = agent.run("Look.").outcome().await?;
    /// for receipt in outcome.outputs.receipts() {
    ///     let line = ToolCallMetadata::of(receipt, "watcher", &*outcome.trace.id);
    ///     assert_eq!((&*line.tool_name, line.ok), ("look", false));
    ///     assert_eq!(line.error_class, Some(Class::Terminal));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn of(
        receipt: &ToolEnvelope,
        agent_name: impl Into<String>,
        trace_id: impl Into<String>,
    ) -> Self {
        ToolCallMetadata {
            tool_name: receipt.name.clone(),
            agent_name: agent_name.into(),
            latency_ms: u64::try_from(receipt.duration().as_millis()).unwrap_or(u64::MAX),
            ok: receipt.is_ok(),
            error_class: receipt.error.as_ref().map(|error| error.class),
            trace_id: trace_id.into(),
            started_at: receipt.t_start,
            ended_at: receipt.t_end,
            tokens: None,
            cost: None,
        }
    }
}
