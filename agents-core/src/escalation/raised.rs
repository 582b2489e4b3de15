//! Escalation of a failure, with the reasons that agents on its way have given.

use crate::{
    Json, Severity,
    error::{Cause, Code, ToolError},
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Failure that was escalated because it could not be handled where it occurred.
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
    /// Name of the tool, repair agent or agent that escalated first.
    pub source: String,
    /// Reason of the escalation: that of `source`, or of the last agent that passed it on with
    /// [`escalate`](crate::escalation::escalate).
    pub reason: String,
    /// Severity of the escalation, given with the reason.
    pub severity: Severity,
    /// Failure of the call or of the answer that was escalated. If an agent that no model called escalated its own
    /// work, this is an [execution error](ToolError::Execution) with the reason as its message.
    pub original: ToolError,
    /// Number of attempts before the escalation: executions of the tool, and tries of repair agents that could be
    /// asked. 0 if the failure was escalated before any attempt.
    pub attempts: u32,
    /// Number of tries of repair agents among the attempts.
    #[serde(default, skip_serializing_if = "is_none")]
    pub repairs: u32,
    /// Reasons and severities given for the escalation, in order, `source` first. Empty unless an agent on its way has
    /// passed it on with [`escalate`](crate::escalation::escalate).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raised: Vec<EscalationHop>,
    /// Names of the agents that the escalation has reached, beginning with the agent whose call or answer failed.
    pub path: Vec<String>,
    /// Resolutions that agents on the way chose and that were not possible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedResolution>,
}

/// Reason and severity that one source gave for a failure that it escalated.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Severity, escalation::EscalationHop};
///
/// let raised = EscalationHop {
///     by: "foreman".into(),
///     reason: "the night shift gives up".into(),
///     severity: Severity::Critical,
/// };
/// assert_eq!(serde_json::to_value(&raised)?["severity"], "CRITICAL");
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EscalationHop {
    /// Name of the source: the tool, repair agent or agent that escalated first, or an agent above.
    pub by: String,
    /// Reason that the source in `by` gave for the escalation.
    pub reason: String,
    /// Severity that the source in `by` gave to the escalation.
    pub severity: Severity,
}

impl EscalationHop {
    /// Writes the reasons in words: the first source with its reason, then the agents above with their reasons. `tried`
    /// tells of the attempts before.
    pub(crate) fn say(
        all: &[EscalationHop],
        tried: &str,
        out: &mut (impl fmt::Write + ?Sized),
    ) -> fmt::Result {
        let Some((first, above)) = all.split_first() else {
            return Ok(());
        };
        let EscalationHop {
            by,
            reason,
            severity,
        } = first;
        write!(out, "`{by}` gave up ({severity}){tried}: {reason}")?;
        above
            .iter()
            .try_for_each(|raised| write!(out, "; {}", raised.passed_on()))
    }

    /// Returns in words how an agent above passed the escalation on: with which reason and severity.
    pub(crate) fn passed_on(&self) -> String {
        let EscalationHop {
            by,
            reason,
            severity,
        } = self;
        format!("`{by}` passed it on ({severity}): {reason}")
    }
}

/// Resolution that an agent chose and that was not possible. A handler that panicked gives such a record as well.
///
/// ```
/// # use agents_core as agents;
/// use agents::escalation::RefusedResolution;
///
/// let refused = RefusedResolution {
///     agent: "lead".into(),
///     wanted: "turn to its skill `by_hnad`".into(),
///     why: "it has none of that name; it has `by_hand`; did you mean `by_hand`?".into(),
/// };
/// assert!(refused.to_string().starts_with("`lead` could not turn to its skill `by_hnad`: it has none"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedResolution {
    /// Name of the agent that chose the resolution.
    pub agent: String,
    /// Resolution of the escalation that the agent chose, in words.
    pub wanted: String,
    /// Reason why the resolution that the agent chose was not possible.
    pub why: String,
}

impl fmt::Display for RefusedResolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RefusedResolution { agent, wanted, why } = self;
        write!(f, "`{agent}` could not {wanted}: {why}")
    }
}

impl Escalation {
    /// Creates the escalation of an agent that returned [`Error::escalated`](crate::Error::escalated).
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
            repairs: 0,
            raised: Vec::new(),
            path: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// Records that the agent of this name passed the escalation on, with its own reason and severity.
    pub(crate) fn pass_on(&mut self, by: &str, reason: String, severity: Severity) {
        if self.raised.is_empty() {
            self.raised.push(self.first());
        }
        let by = by.to_owned();
        self.raised.push(EscalationHop {
            by,
            reason: reason.clone(),
            severity,
        });
        self.reason = reason;
        self.severity = severity;
    }

    /// Returns the reason and severity that the first source gave, with the name of that source.
    fn first(&self) -> EscalationHop {
        self.raised
            .first()
            .cloned()
            .unwrap_or_else(|| EscalationHop {
                by: self.source.clone(),
                reason: self.reason.clone(),
                severity: self.severity,
            })
    }

    /// Returns all reasons and severities, beginning with those of the first source.
    pub(crate) fn said(&self) -> Vec<EscalationHop> {
        match &self.raised[..] {
            [] => vec![self.first()],
            raised => raised.to_vec(),
        }
    }

    /// Returns the number of executions and repairs before the escalation, in words; empty if there were none.
    fn tried(&self) -> String {
        let count = |count: u32, one: &str, several: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {several}")),
        };
        let executions = self.attempts.saturating_sub(self.repairs);
        let tries = count(executions, "try", "tries");
        let repairs = count(self.repairs, "repair", "repairs");
        // An agent that hands its own work up has tried nothing, nor has an arm that escalates at once.
        match (tries, repairs) {
            (None, None) => String::new(),
            (Some(tries), Some(repairs)) => format!(" after {tries} and {repairs}"),
            (Some(tried), None) | (None, Some(tried)) => format!(" after {tried}"),
        }
    }
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

impl From<Escalation> for ToolError {
    /// Returns the error of the escalated call, with the words of its source and not of the agents above.
    fn from(escalation: Escalation) -> Self {
        let EscalationHop {
            by: _,
            reason,
            severity,
        } = escalation.first();
        let Escalation {
            source,
            original,
            attempts,
            ..
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
        EscalationHop::say(&self.said(), &self.tried(), f)?;
        if !self.path.is_empty() {
            write!(f, "; it came to {}", self.path.join(" ► "))?;
        }
        self.refused.iter().try_for_each(|one| write!(f, "; {one}"))
    }
}
