use super::{Cause, Code, Severity, ToolError};
use crate::Json;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A failure on its way up: who could not settle it, why, and what it began with.
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
    /// Who escalated: a tool, a repair agent, or an agent.
    pub source: String,
    /// Why.
    pub reason: String,
    /// How bad it is.
    pub severity: Severity,
    /// The failure it began with.
    pub original: ToolError,
    /// How much was tried before: executions of the tool, and tries of repair agents. One whose model could
    /// not even be asked has tried nothing.
    pub attempts: u32,
    /// The agents it has come to, the one that made the call first.
    pub path: Vec<String>,
    /// What agents on the way wanted to do about it and could not, so that it climbed on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
}

/// What an agent wanted to do about an escalation and could not.
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
    /// Who decided so.
    pub agent: String,
    /// What it wanted to do.
    pub wanted: String,
    /// Why that cannot be.
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

/// An escalation and what became of it.
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
    /// The escalation as it was when somebody settled it, or when nobody was left to.
    pub escalation: Escalation,
    /// What became of it.
    pub settled: Settlement,
}

/// What became of an escalation.
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
    /// The failed agent goes on with another model.
    RetriedWithModel {
        /// Who decided so.
        agent: String,
        /// The model.
        model: String,
    },
    /// The agent began anew with this skill.
    ReroutedToSkill {
        /// Who decided so.
        agent: String,
        /// The skill.
        skill: String,
    },
    /// Another agent does the work.
    ReroutedTo {
        /// Who decided so.
        agent: String,
        /// The other agent.
        delegate: String,
    },
    /// The agent ended with a value that is marked partial.
    PartialResult {
        /// Who decided so.
        agent: String,
    },
    /// The run was ended.
    Thrown {
        /// Who decided so.
        agent: String,
        /// Why.
        reason: String,
    },
    /// Nobody handled it: the model that made the call was told.
    Told,
    /// Nobody handled it: it went as an `Err` to whoever ran the agent.
    Returned,
    /// Nobody handled it, and it was critical: it ended the run.
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
