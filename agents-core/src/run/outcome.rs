use super::{Cost, Limit, Timestamp, trace::Trace};
use crate::{
    Error, Json, Severity,
    error::{ErrorReceipt, escalation::EscalationReceipt},
    model::Usage,
    reader::Repairs,
};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// How a run ended, and everything it leaves behind.
///
/// ```
/// # use agents_core as agents;
/// use agents::testing::{Script, ScriptedModel};
/// use agents::{Agent, AgentBuilder};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// let (model, _) = ScriptedModel::new([Script::text("42")]);
/// let agent = AgentBuilder::<String, u32>::new("oracle").model(model).build();
///
/// let outcome = agent.run("?").outcome().await?;
/// assert_eq!(outcome.result?, 42);
/// assert_eq!(outcome.usage.requests, 1);
/// assert_eq!(outcome.outputs.receipts().count(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// The answer, or what ended the run without one.
    pub result: Result<T, Error>,
    /// The answer is not all that was asked for: somebody returned a
    /// [partial result](crate::escalation::return_partial_result).
    pub partial: bool,
    /// What was escalated, and what became of it, in order.
    pub escalations: Vec<EscalationReceipt>,
    /// What reading, arms and repair agents changed in the final answer, and what they tried.
    pub repairs: Repairs,
    /// What ended the run before its answer, as data; `result` has the same as an error.
    pub stopped: Option<Stopped>,
    /// The receipts of all calls, whatever became of them.
    pub outputs: AgentOutputs,
    /// What the models used.
    pub usage: Usage,
    /// What that cost, by the [prices](crate::agent::Run::price) that the run was given; `None` if a model
    /// that was asked has none.
    pub cost: Option<Cost>,
    /// The run's id, as it stands in logs and traces.
    pub run_id: String,
    /// What happened, and when.
    pub trace: Trace,
}

/// What ended a run before its answer.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
/// use agents::{Budget, run::{Limit, Stopped}};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let schema = serde_json::json!({"type": "object"});
/// # let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("dark") });
/// # let (model, _) = ScriptedModel::new([Script::call("look", "{}")]);
/// # let agent = AgentBuilder::<String, String>::new("watcher").tool(look).model(model).build();
/// let outcome = agent.run("What is there?").budget(Budget::new().max_turns(1)).outcome().await?;
/// assert!(outcome.result.unwrap_err().is_budget());
/// assert_eq!(outcome.stopped, Some(Stopped::Budget { agent: "watcher".into(), limit: Limit::Turns(1) }));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stopped {
    /// A budget was used up, by the agent of this name.
    Budget {
        /// Whose budget.
        agent: String,
        /// Which bound.
        limit: Limit,
    },
    /// A rule of the run refused to let the model of this agent be asked.
    Denied {
        /// Whose model.
        agent: String,
        /// Why.
        reason: String,
    },
    /// An agent that was asked cannot work as it is put together.
    Unfit {
        /// Which one.
        agent: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The run was a replay, and came to what was not on its tape.
    Diverged {
        /// Where the two part.
        reason: String,
    },
    /// The cancellation token was triggered.
    Cancelled,
    /// An arm or a repair agent said `throw`.
    Thrown {
        /// Who.
        source: String,
        /// Why.
        reason: String,
    },
    /// A critical escalation.
    Escalated {
        /// Who escalated.
        source: String,
        /// Why.
        reason: String,
        /// How bad it is.
        severity: Severity,
    },
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::Budget { agent, limit } => write!(f, "agent `{agent}`: {limit}"),
            Stopped::Denied { agent, reason } | Stopped::Unfit { agent, reason } => {
                write!(f, "agent `{agent}`: {reason}")
            }
            Stopped::Diverged { reason } => f.write_str(reason),
            Stopped::Cancelled => f.write_str("the run was cancelled"),
            Stopped::Thrown { source, reason } => write!(f, "`{source}` threw: {reason}"),
            Stopped::Escalated {
                source,
                reason,
                severity,
            } => write!(f, "`{source}` gave up ({severity}): {reason}"),
        }
    }
}

/// The receipts of a run. Its shape never depends on how the agent is configured.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
/// # use serde_json::json;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let add = FnTool::new("add", "Adds.", Effects::None, json!({"type": "object"}), |_, _| async { Ok::<_, std::io::Error>(3) });
/// # let (model, _) = ScriptedModel::new([Script::calls([("add", "{}"); 2]), Script::text("3, twice")]);
/// # let agent = AgentBuilder::<String, String>::new("adder").tool(add).model(model).build();
/// let outputs = agent.run("1 + 2, twice").outcome().await?.outputs;
/// assert_eq!(outputs.response, "3, twice");
/// assert_eq!(outputs.receipts().count(), 2);
///
/// // Data: stored, sent, and compared.
/// let stored = serde_json::to_string(&outputs)?;
/// assert_eq!(outputs, serde_json::from_str(&stored)?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentOutputs {
    /// The final answer as text; empty when there is none.
    pub response: String,
    /// Every call's receipt by its id.
    pub tools_by_id: IndexMap<Arc<str>, Arc<ToolEnvelope>>,
    /// The ids in the order in which the model asked.
    pub tool_order: Vec<Arc<str>>,
    /// The last call that succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tool: Option<Arc<ToolEnvelope>>,
    /// Where the trace can be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traces_url: Option<String>,
}

impl AgentOutputs {
    /// The receipts in the order in which the model asked.
    pub fn receipts(&self) -> impl Iterator<Item = &ToolEnvelope> {
        self.tool_order
            .iter()
            .filter_map(|id| self.tools_by_id.get(id))
            .map(|receipt| &**receipt)
    }

    pub(crate) fn collect(response: String, receipts: Vec<Arc<ToolEnvelope>>) -> Self {
        let last_tool = receipts
            .iter()
            .rev()
            .find(|receipt| receipt.error.is_none())
            .cloned();
        let tool_order = receipts
            .iter()
            .map(|receipt| receipt.call_id.clone())
            .collect();
        let tools_by_id = receipts
            .into_iter()
            .map(|receipt| (receipt.call_id.clone(), receipt))
            .collect();
        AgentOutputs {
            response,
            tools_by_id,
            tool_order,
            last_tool,
            traces_url: None,
        }
    }
}

/// The receipt of one call: there is one for every call a model makes, always, with exactly one
/// of `output` and `error`.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
/// # use serde_json::json;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
/// # let read = FnTool::new("read_file", "Reads.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("hello") });
/// # let (model, _) = ScriptedModel::new([Script::call("read_file", r#"{"path": "a.txt",}"#), Script::text("done")]);
/// # let reader = AgentBuilder::<String, String>::new("reader").tool(read).model(model).build();
/// let outcome = reader.run("What is in a.txt?").outcome().await?;
/// let receipt = outcome.outputs.receipts().next().unwrap();
///
/// assert!(receipt.is_ok());
/// assert_eq!(receipt.input.to_string(), r#"{"path":"a.txt"}"#); // as it ran: the comma is gone
/// assert_eq!(receipt.output.as_ref().unwrap().as_str(), r#""hello""#);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolEnvelope {
    /// A digest of tool, version, input and place in the run: the same on any machine.
    pub call_id: Arc<str>,
    /// The tool that was called.
    pub name: String,
    /// The version that ran.
    pub version: String,
    /// The arguments that ran last. If none did, what the model sent: as it was read, or as a string if
    /// nobody could read it. What was given in its place and did not help is in `repairs`.
    pub input: Json,
    /// What the tool gave back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<ErrorReceipt>>,
    /// When the call was taken up.
    pub t_start: Timestamp,
    /// When it was settled.
    pub t_end: Timestamp,
    /// The output came from a cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// The output was cut to the run's limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// What does not fit into JSON, or was too large for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Every execution, in order.
    pub attempts: Vec<Attempt>,
    /// Every change to the arguments: what reading mended, and what arms and repair agents gave instead, with
    /// what they tried in vain and why that did not help.
    #[serde(default, skip_serializing_if = "Repairs::is_empty")]
    pub repairs: Repairs,
}

impl ToolEnvelope {
    /// What came of the call; one of the two is always there.
    pub(crate) fn result(&self) -> Option<Result<&Json, &ErrorReceipt>> {
        let output = self.output.as_ref().map(Ok);
        output.or(self.error.as_deref().map(Err))
    }

    /// Whether the call succeeded.
    pub fn is_ok(&self) -> bool {
        self.error.is_none()
    }

    /// How long it took, from being taken up to being settled.
    pub fn duration(&self) -> std::time::Duration {
        self.t_end.since(self.t_start)
    }
}

/// One execution of a call.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
/// use agents::recovery::*;
/// # use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// # static RUNS: AtomicU32 = AtomicU32::new(0);
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let schema = serde_json::json!({"type": "object"});
/// # let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async {
/// #     match RUNS.fetch_add(1, Relaxed) { 0 => Err(std::io::Error::other("dark")), _ => Ok("light") }
/// # });
/// # let (model, _) = ScriptedModel::new([Script::call("look", "{}"), Script::text("light")]);
/// # let agent = AgentBuilder::<String, String>::new("watcher").tool(look).model(model);
/// let agent = agent.on_error(|error, _| match error {
///     CallError::Execution(_) => Some(retry::<Execution>().backoff(none()).into()),
///     _ => None,
/// });
/// # let agent = agent.build();
/// let outcome = agent.run("Look.").outcome().await?;
/// let receipt = outcome.outputs.receipts().next().unwrap();
/// assert!(receipt.is_ok());
/// assert_eq!(receipt.attempts[0].error.as_ref().unwrap().message, "dark");
/// assert_eq!((receipt.attempts[1].number, &receipt.attempts[1].error), (2, &None));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Attempt {
    /// Which, from 1.
    pub number: u32,
    /// What it failed with, or that it was cut off by the end of what it was a part of; absent if it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<ErrorReceipt>>,
    /// How many seconds it was held back before; absent if it ran at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_s: Option<f64>,
}

/// Something that belongs to a receipt but lies elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    /// What it is.
    pub kind: AttachmentKind,
    /// Where it is.
    pub url: String,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// What an attachment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AttachmentKind {
    /// Bytes.
    Blob,
    /// A picture.
    Image,
    /// A table.
    Table,
}
