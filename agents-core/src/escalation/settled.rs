//! Settlement of an escalation, and the record of both.

use super::Escalation;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Record of an escalation and its settlement.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, Effects, Severity, testing::{Script, ScriptedModel}, tool::FnTool};
/// use agents::{escalation::Settlement, recovery::*};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let schema = serde_json::json!({"type": "object"});
/// # let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async { Err::<(), _>(std::io::Error::other("dark")) });
/// # let (model, _) = ScriptedModel::new([Script::call("look", "{}"), Script::text("I saw nothing")]);
/// # let agent = AgentBuilder::<String, String>::new("watcher").tool(look).model(model);
/// let agent = agent.on_error(|error, _| match error {
///     CallError::Execution(_) => Some(escalate::<Execution>("no light").severity(Severity::Low).into()),
///     _ => None,
/// });
/// # let agent = agent.build();
/// let outcome = agent.run("Look.").outcome().await?;
/// let receipt = &outcome.escalations[0];
/// assert_eq!(receipt.escalation.reason, "no light");
/// assert_eq!(receipt.settled, Settlement::ReportedToModel); // nobody above: the model decides
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EscalationReceipt {
    /// Escalation, as it was when it was settled or left unhandled.
    pub escalation: Escalation,
    /// Settlement: how the escalation ended, and who decided.
    pub settled: Settlement,
}

/// Settlement of an escalation. Each escalation of a call or of an answer has exactly one, also if the work in which it
/// was raised was dropped. If an agent that no model called escalates its own work, that is only its error, without a
/// settlement.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, Effects, Error, testing::{Script, ScriptedModel}, tool::FnTool};
/// # use agents::recovery::{Execution, escalate};
/// use agents::escalation::{Escalation, Settlement, return_partial_result};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// # let schema = serde_json::json!({"type": "object"});
/// # let book = FnTool::new("book", "Books.", Effects::Reads, schema, |_, _| async { Err::<(), _>(std::io::Error::other("closed")) })
/// #     .on_error(|_, _| Some(escalate::<Execution>("the ledger is closed").into()));
/// # let (model, _) = ScriptedModel::new([Script::call("book", "{}")]);
/// # let clerk = AgentBuilder::<String, String>::new("clerk").tool(book).model(model)
/// #     .on_escalation(|escalation: Escalation| return_partial_result(escalation.reason))
/// #     .build();
/// let outcome = clerk.run("Close the books").outcome().await?;
/// for receipt in &outcome.escalations {
///     println!("{}: {}", receipt.escalation.reason, receipt.settled);
/// }
/// # let settled = &outcome.escalations[0].settled;
/// assert!(outcome.partial && *settled == Settlement::PartialResult { agent: "clerk".into() });
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// The failed agent continued with another model. If several calls of one reply were given a model each, the last
    /// of these models is named.
    RetriedWithModel {
        /// Name of the agent that has decided about the escalation.
        agent: String,
        /// Id of the model that took over the work.
        model: String,
    },
    /// The agent that resolved the escalation started over with the skill that its handler named.
    ReroutedToSkill {
        /// Name of the agent that has decided about the escalation.
        agent: String,
        /// Name of the skill that took over the work.
        skill: String,
    },
    /// Another agent took over the work of the agent that resolved the escalation.
    ReroutedTo {
        /// Name of the agent that has decided about the escalation.
        agent: String,
        /// Name of the agent that took over the work.
        delegate: String,
    },
    /// The agent that resolved the escalation ended with a value that is marked partial.
    PartialResult {
        /// Name of the agent that has decided about the escalation.
        agent: String,
    },
    /// The agent that decided about the escalation ended the run.
    Thrown {
        /// Name of the agent that has decided about the escalation.
        agent: String,
        /// Reason that the agent gave when it ended the run with `throw`.
        reason: String,
    },
    /// Unhandled: the model that made the call was told of the escalation.
    ReportedToModel,
    /// Unhandled: the agent failed with the escalation as its error. The code that ran the agent got an `Err`; the
    /// model that called the agent as a delegate was told.
    Returned,
    /// Unhandled and critical: the escalation ended the run.
    Ended,
    /// The work in which the escalation was raised ended before the settlement, or before the settlement was carried
    /// out.
    Dropped {
        /// Reason why the work ended in which the escalation was raised.
        why: String,
    },
}

impl Settlement {
    /// Returns `true` if the agent that raised the escalation goes on with its work.
    pub(crate) fn goes_on(&self) -> bool {
        matches!(
            self,
            Settlement::RetriedWithModel { .. } | Settlement::ReportedToModel
        )
    }
}

impl fmt::Display for Settlement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Settlement::RetriedWithModel { agent, model } => {
                write!(f, "`{agent}`: the failed agent goes on with `{model}`")
            }
            Settlement::ReroutedToSkill { agent, skill } => {
                write!(f, "`{agent}` begins anew with its skill `{skill}`")
            }
            Settlement::ReroutedTo { agent, delegate } => {
                write!(f, "`{agent}` leaves the work to `{delegate}`")
            }
            Settlement::PartialResult { agent } => {
                write!(f, "`{agent}` ends with a partial result")
            }
            Settlement::Thrown { agent, reason } => write!(f, "`{agent}` ends the run: {reason}"),
            Settlement::ReportedToModel => {
                f.write_str("nobody handled it; the model that called is told")
            }
            Settlement::Returned => {
                f.write_str("nobody handled it; it is an error where the agent was run")
            }
            Settlement::Ended => f.write_str("nobody handled it, and it is critical: the run ends"),
            Settlement::Dropped { why } => write!(f, "it is dropped: {why}"),
        }
    }
}
