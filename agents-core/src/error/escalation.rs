use super::{Cause, Code, Severity, ToolError};
use crate::Json;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A failure that was handed up because it could not be settled where it happened.
///
/// ```
/// # use agents_core as agents;
/// use agents::AgentBuilder;
/// use agents::escalation::{Escalation, inherit};
///
/// let lead = AgentBuilder::<String, String>::new("lead").on_escalation(|escalation: Escalation| {
///     eprintln!("{escalation}"); // `read_file` gave up (HIGH) after 3 tries: the disk is gone; it came to clerk ► lead
///     inherit()
/// });
/// # let _ = lead.build();
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Escalation {
    /// Name of the tool, repair agent or agent that escalated.
    pub source: String,
    /// Reason of the escalation.
    pub reason: String,
    /// Severity of the escalation.
    pub severity: Severity,
    /// Failure that was escalated.
    pub original: ToolError,
    /// Number of attempts made before: executions of the tool, and tries of repair agents that
    /// could be asked.
    pub attempts: u32,
    /// Names of the agents the escalation has reached, starting with the one that made the call.
    pub path: Vec<String>,
    /// Resolutions that agents on the way chose and that were not possible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
}

/// A resolution that an agent chose and that was not possible.
///
/// ```
/// # use agents_core as agents;
/// use agents::escalation::Refused;
///
/// let refused = Refused {
///     agent: "lead".into(),
///     wanted: "turn to its skill `by_hnad`".into(),
///     why: "it has none of that name; it has `by_hand`; did you mean `by_hand`?".into(),
/// };
/// assert!(refused.to_string().starts_with("`lead` could not turn to its skill `by_hnad`: it has none"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Name of the agent that chose it.
    pub agent: String,
    /// Resolution that the agent chose.
    pub wanted: String,
    /// Reason why it was not possible.
    pub why: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refused { agent, wanted, why } = self;
        write!(f, "`{agent}` could not {wanted}: {why}")
    }
}

impl Escalation {
    /// What an agent hands up that gives back [`Error::escalated`](crate::Error::escalated).
    pub(crate) fn of_agent(agent: &str, reason: &str, severity: Severity) -> Self {
        Escalation {
            source: agent.to_owned(),
            reason: reason.to_owned(),
            severity,
            original: ToolError::Execution {
                args: Json::string(""),
                cause: Cause::text(Code::Unknown, reason),
            },
            attempts: 0,
            path: Vec::new(),
            refused: Vec::new(),
        }
    }
}

impl From<Escalation> for ToolError {
    fn from(escalation: Escalation) -> Self {
        let Escalation {
            source,
            reason,
            severity,
            original,
            attempts,
            path: _,
            refused: _,
        } = escalation;
        ToolError::Escalation {
            source,
            reason,
            severity,
            original: Box::new(original),
            attempts,
        }
    }
}

impl fmt::Display for Escalation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Escalation {
            source,
            reason,
            severity,
            attempts,
            path,
            refused,
            original: _,
        } = self;
        write!(f, "`{source}` gave up ({severity})")?;
        // Neither an agent that hands its own work up nor an arm that does so at once has tried anything.
        match attempts {
            0 => {}
            1 => f.write_str(" after 1 try")?,
            attempts => write!(f, " after {attempts} tries")?,
        }
        write!(f, ": {reason}")?;
        if !path.is_empty() {
            write!(f, "; it came to {}", path.join(" ► "))?;
        }
        refused.iter().try_for_each(|one| write!(f, "; {one}"))
    }
}

/// Record of an escalation and how it was settled.
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
/// assert_eq!(receipt.settled, Settlement::Told); // nobody above: the model decides
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EscalationReceipt {
    /// The escalation, as it was when it was settled or left unhandled.
    pub escalation: Escalation,
    /// How the escalation was settled.
    pub settled: Settlement,
}

/// How an escalation was settled.
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
    /// The failed agent continued with another model.
    RetriedWithModel {
        /// Name of the agent that decided so.
        agent: String,
        /// Id of the model.
        model: String,
    },
    /// The handling agent started over with this skill.
    ReroutedToSkill {
        /// Name of the agent that decided so.
        agent: String,
        /// Name of the skill.
        skill: String,
    },
    /// Another agent took over the work.
    ReroutedTo {
        /// Name of the agent that decided so.
        agent: String,
        /// Name of the agent that took over.
        delegate: String,
    },
    /// The handling agent returned a value that is marked partial.
    PartialResult {
        /// Name of the agent that decided so.
        agent: String,
    },
    /// The run was ended.
    Thrown {
        /// Name of the agent that decided so.
        agent: String,
        /// Reason that was given.
        reason: String,
    },
    /// Unhandled: the model that made the call was told.
    Told,
    /// Unhandled: the code that ran the agent got it as an `Err`.
    Returned,
    /// Unhandled and critical: it ended the run.
    Ended,
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
            Settlement::Told => f.write_str("nobody handled it; the model that called is told"),
            Settlement::Returned => {
                f.write_str("nobody handled it; it is an error where the agent was run")
            }
            Settlement::Ended => f.write_str("nobody handled it, and it is critical: the run ends"),
        }
    }
}
