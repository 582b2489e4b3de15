use super::{Cost, Limit, Timestamp, trace::Trace};
use crate::{
    Error, Json, Severity,
    error::ErrorRecord,
    escalation::{EscalationHop, EscalationReceipt},
    evidence::Origin,
    media::Attached,
    model::Usage,
    run::Repairs,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// Results of a run: its answer, receipts, usage, cost and trace.
///
/// ```
/// # use agents_core as agents;
/// use agents::testing::{Script, ScriptedModel};
/// use agents::{Agent, AgentBuilder};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (model, _) = ScriptedModel::new([Script::text("42")]);
/// let agent = AgentBuilder::<String, u32>::new("oracle").model(model).build();
///
/// let outcome = agent.run("?").outcome().await?;
/// assert_eq!(outcome.usage.requests, 1);
/// assert_eq!(outcome.outputs.receipts().count(), 0);
///
/// // All of it as data, for whoever was not there.
/// let stored = serde_json::to_value(&outcome)?;
/// assert_eq!((&stored["result"], &stored["partial"]), (&42.into(), &false.into()));
/// assert_eq!(outcome.result?, 42);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// Answer of the agent, or the error that ended the run.
    pub result: Result<T, Error>,
    /// Is `true` if the answer is incomplete: an agent returned a
    /// [partial result](crate::escalation::return_partial_result), or its model's output limit cut the answer off.
    pub partial: bool,
    /// Escalations of the run, each with the way in which it ended, in the order in which they were settled.
    pub escalations: Vec<EscalationReceipt>,
    /// Changes that reading, arms and repair agents made to the final answer, and repairs that failed. Empty if the
    /// agent that was run is a composition or answered by code: only changes to the answer of its own model are known
    /// here.
    ///
    /// Changes to answers that went back to the model come first, in order.
    pub repairs: Repairs,
    /// Reason why the run was stopped before its answer, as data; `result` has it as an error. `None` if it was not
    /// stopped.
    pub stopped: Option<Stopped>,
    /// Answer as text, and the receipts of all calls, whether they succeeded or not.
    pub outputs: AgentOutputs,
    /// Tokens and requests of all models that were asked in the run.
    pub usage: Usage,
    /// Total cost by the [prices](crate::agent::Run::price) given; `None` if a model that was asked
    /// has no price.
    pub cost: Option<Cost>,
    /// Id of the run, the same as in logs and traces.
    pub run_id: String,
    /// Timed steps of the run: agents, turns and calls.
    pub trace: Trace,
    /// Answer as data, without secrets: the serialized form of `result`.
    pub(crate) answer: Option<Json>,
}

/// Reason for which a run was stopped before its answer.
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
/// assert_eq!(outcome.result.unwrap_err().kind(), agents::ErrorKind::Budget);
/// assert_eq!(outcome.stopped, Some(Stopped::Budget { agent: "watcher".into(), limit: Limit::Turns(1) }));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stopped {
    /// The budget of an agent or of the run was used up.
    Budget {
        /// Name of the agent whose budget was used up; for the totals of the budget of the run, such as tokens, the
        /// agent that was run.
        agent: String,
        /// Bound that was reached: of the agent, of its place in a team, or of the run.
        limit: Limit,
    },
    /// A policy did not allow a request to a model.
    Denied {
        /// Name of the agent whose request to its model was refused by a policy.
        agent: String,
        /// Reason why the policy did not allow the request.
        reason: String,
    },
    /// An agent is put together wrongly and cannot work.
    Unfit {
        /// Name of the agent that cannot work, since it is put together wrongly. If a tool ran the agent, the name of
        /// the tool.
        agent: String,
        /// Description of what is wrong with the agent.
        reason: String,
    },
    /// The journal could not be written, or the stored run goes on with a model or a version of a tool that it did not
    /// have.
    Journal {
        /// Description of what is wrong with the journal, the model or the tool.
        reason: String,
    },
    /// A run on recorded replies, or a replay, differs from the recorded run: for instance, it made a request that the
    /// recorded run did not make.
    Diverged {
        /// Difference between this run and the recorded run because of which the run was stopped.
        reason: String,
    },
    /// A cancellation token of the run was cancelled.
    Cancelled,
    /// An arm, a handler of escalations, a tool or an agent ended the run with `throw`.
    Thrown {
        /// Name of the tool or agent whose `throw` ended the run.
        source: String,
        /// Reason that was given with the `throw` that ended the run.
        reason: String,
    },
    /// A critical escalation was not handled.
    Escalated {
        /// Name of the tool, repair agent or agent that escalated first; the escalation ended the run.
        source: String,
        /// Reason that was given for the escalation that ended the run.
        reason: String,
        /// Severity that was given for the escalation that ended the run.
        severity: Severity,
        /// Reasons and severities given for the escalation, in order, that of `source` first. Empty unless an agent
        /// above has passed it on with [another reason or severity](crate::escalation::Escalation::raised).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        raised: Vec<EscalationHop>,
    },
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::Budget { agent, limit } => write!(f, "agent `{agent}`: {limit}"),
            Stopped::Denied { agent, reason } | Stopped::Unfit { agent, reason } => {
                write!(f, "agent `{agent}`: {reason}")
            }
            Stopped::Journal { reason } | Stopped::Diverged { reason } => f.write_str(reason),
            Stopped::Cancelled => f.write_str("the run was cancelled"),
            Stopped::Thrown { source, reason } => write!(f, "`{source}` threw: {reason}"),
            Stopped::Escalated {
                source,
                reason,
                severity,
                raised,
            } => match &raised[..] {
                [] => write!(f, "`{source}` gave up ({severity}): {reason}"),
                raised => EscalationHop::say(raised, "", f),
            },
        }
    }
}

/// Answer of a run and receipts of its tool calls, in a form that does not depend on the agent's configuration.
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
    /// Final answer as text; empty if the run has no answer.
    pub response: String,
    /// Receipts of all calls, by their `call_id`, and in the order of these ids.
    pub tools_by_id: BTreeMap<Arc<str>, Arc<ToolEnvelope>>,
    /// Ids of the calls, each a `call_id`. The calls of one agent are in the order in which its model asked, each
    /// followed by the calls of agents that ran within that call. The calls of other agents below it, such as the parts
    /// of a composition, come after those, in the order of the agents' names.
    pub tool_order: Vec<Arc<str>>,
    /// Receipt of the last call in this order that succeeded. Calls by which a repair agent gave up (`escalate`,
    /// `throw_exception`) are passed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tool: Option<Arc<ToolEnvelope>>,
    /// URL at which people can look at the run's trace; see [`Run::traces_url`](crate::agent::Run::traces_url).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traces_url: Option<String>,
}

impl AgentOutputs {
    /// Iterates over the receipts, in the order of [`tool_order`](AgentOutputs::tool_order).
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
            .find(|receipt| receipt.error.is_none() && !gave_up(receipt))
            .cloned();
        let (mut tools_by_id, mut tool_order) = (BTreeMap::new(), Vec::new());
        for receipt in receipts {
            tool_order.push(receipt.call_id.clone());
            tools_by_id.insert(receipt.call_id.clone(), receipt);
        }
        AgentOutputs {
            response,
            tools_by_id,
            tool_order,
            last_tool,
            traces_url: None,
        }
    }
}

/// Receipt of one tool call: every call of a model leaves exactly one, with either `output` or
/// `error`.
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
    /// Deterministic id: a digest of tool, version, input and place in the run. It is the same on any machine.
    pub call_id: Arc<str>,
    /// Own name of the tool that was called; the model may know the tool by an [alias](crate::tool::alias).
    pub name: String,
    /// Version of the tool that was called; empty if the agent does not have the tool.
    pub version: String,
    /// Arguments of the last execution, or those for which the output came from a cache or the call was denied. If
    /// there are none, the arguments that the model sent, as a string if no object could be read from them. Arguments
    /// that are longer than the run's limit for outputs are cut to a string.
    ///
    /// Arguments that a repair gave and that did not help are in `repairs`.
    pub input: Json,
    /// Output of the tool; `None` if the call failed.
    #[serde(
        default,
        deserialize_with = "also_null",
        skip_serializing_if = "Option::is_none"
    )]
    pub output: Option<Json>,
    /// Error of the call; `None` if it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<ErrorRecord>>,
    /// Time at which the agent began to handle the call.
    pub t_start: Timestamp,
    /// Time at which the result of the call was final.
    pub t_end: Timestamp,
    /// Is `true` if the output came from a cache, and the tool did not run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// Is `true` if the output was cut to the run's limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Images, files and tables that the tool returned and, in a run with a blob store, an output that was too large
    /// for the receipt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Executions of the tool for this call, in order.
    pub attempts: Vec<Attempt>,
    /// Changes to the arguments: those of reading, those of arms, repair agents and the approver, and the repairs that
    /// failed, with the reason.
    #[serde(default, skip_serializing_if = "Repairs::is_empty")]
    pub repairs: Repairs,
    /// Origins of the [known](crate::evidence::Known) values among the arguments of the last execution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<Origin>,
    /// Is `true` if the output is what a person answered to a question of [`Ask`](crate::tool::Ask).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_answer: bool,
}

impl ToolEnvelope {
    /// Returns the output or the error of the call; a receipt always has exactly one of the two.
    pub(crate) fn result(&self) -> Option<Result<&Json, &ErrorRecord>> {
        let output = self.output.as_ref().map(Ok);
        output.or(self.error.as_deref().map(Err))
    }

    /// Returns `true` if the output is [incomplete](Attempt::partial).
    pub fn is_partial(&self) -> bool {
        self.attempts.last().is_some_and(|last| last.partial)
    }

    /// Returns `true` if the call succeeded.
    pub fn is_ok(&self) -> bool {
        self.error.is_none()
    }

    /// Returns the time from the start of the call until its result was final.
    pub fn duration(&self) -> std::time::Duration {
        self.t_end.since(self.t_start)
    }
}

/// Execution of the tool for a call.
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
    /// Number of the execution among those of its call, from 1.
    pub number: u32,
    /// Error of the execution, also if the end of the run or of its process cut the execution off; `None` if it
    /// succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<ErrorRecord>>,
    /// Seconds of back-off before the execution, as decided; `None` if there was none. Waits for approval do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_s: Option<f64>,
    /// Seconds that the approver took to approve the execution; `None` if no approver was asked before it. An approval
    /// applies to each execution with the same arguments, and the first of them has the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_s: Option<f64>,
    /// Name of the person or program that approved the execution; `None` if nobody did, or the approver [gave
    /// none](super::Approval::by).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// Is `true` if the output is incomplete: an agent that ran within the execution returned a
    /// [partial result](crate::escalation::return_partial_result), or its model's output limit cut its answer off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Is `true` if it is not known whether the execution took effect. The tool writes in that case, and it timed out,
    /// panicked or was cut off, for instance by the end of its process.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub effect_unknown: bool,
}

/// Reads an output that is present, also if it is JSON's `null`.
fn also_null<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// Names of the two tools by which a repair agent gives up.
pub(crate) const WAYS_OUT: [&str; 2] = ["escalate", "throw_exception"];
/// Output of the tool `escalate`, by which its receipt is recognised.
pub(crate) const HANDED_UP: &str = "handed up";
/// Output of the tool `throw_exception`, by which its receipt is recognised.
pub(crate) const THROWN: &str = "thrown";

/// Returns `true` for the receipt of a repair agent that gave up: such a call succeeds, but its output is not a result
/// of the run.
fn gave_up(receipt: &ToolEnvelope) -> bool {
    let output = receipt.output.as_ref();
    WAYS_OUT
        .into_iter()
        .zip([HANDED_UP, THROWN])
        .any(|(name, output_of)| receipt.name == name && output == Some(&Json::string(output_of)))
}

/// Content that belongs to a receipt but is stored elsewhere, such as a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    /// Kind of the attachment's content: an image, a table, or other bytes.
    pub kind: AttachmentKind,
    /// URL at which the content can be loaded: that of the blob store, or the one that the tool gave. If the run has no
    /// blob store or the store failed, it is `sha256:` and the digest, from which nothing can be loaded.
    pub url: String,
    /// Media type of the content, such as `image/png`; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Size of the content in bytes; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// SHA-256 digest of an image, a file or a table, in lower-case hexadecimal digits; `None` if the bytes are not
    /// known, and for an output that was too large for the receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

impl Attachment {
    /// Creates the attachment of a receipt for content that a tool returned.
    pub(crate) fn of(attached: &Attached) -> Self {
        let Attached {
            url,
            media_type,
            digest,
            media,
        } = attached;
        Attachment {
            kind: match media {
                None => AttachmentKind::Table,
                Some(media) if media.is_image() => AttachmentKind::Image,
                Some(_) => AttachmentKind::Blob,
            },
            url: url.clone(),
            content_type: Some(media_type.clone()),
            bytes: digest.as_ref().map(|(_, bytes)| *bytes),
            sha256: digest.as_ref().map(|(digest, _)| digest.clone()),
        }
    }
}

/// Kind of an [`Attachment`]: what its content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AttachmentKind {
    /// The content is arbitrary bytes: a file that the tool returned, or an output that was too large for its receipt.
    Blob,
    /// The content is an image.
    Image,
    /// The content is a table, as comma-separated values.
    Table,
}
