//! What can happen in a run: the vocabulary of its journal.

use crate::{
    ErrorKind, Json,
    budget::Cost,
    error::{escalation::Escalation, settlement::EscalationReceipt},
    model::{History, Reply, Usage},
    run::{
        AnswerFact, CallFact, JournalError, Override, Signed, Stop, Taken, Timestamp, ToolEnvelope,
        climb::Climbed, terms::Terms, trace::Step,
    },
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A fact: something that happened at a place of a run, or was decided there. What it records is never computed again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fact {
    /// The run starts.
    Started(Box<Started>),
    /// The run goes on in another process.
    Resumed,
    /// The run has ended so.
    Finished(Finished),
    /// A place below this one is opened: an agent's, or that of what happens within a call or an answer.
    Opened {
        key: Box<str>,
        depth: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Arc<str>>,
    },
    /// A conversation with a model begins, behind what was said before.
    Said {
        system: String,
        #[serde(default, skip_serializing_if = "is_empty")]
        said: Arc<History>,
        /// Number of turns that took.
        #[serde(default, skip_serializing_if = "is_zero")]
        before: u32,
        task: String,
        /// Whether the model is to choose a skill.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        choosing: bool,
    },
    /// The skill that answers is chosen.
    Chosen { skill: Box<str> },
    /// A model is asked.
    Asked { model: Arc<str> },
    /// The model has replied.
    Replied(Box<Replied>),
    /// The model has not replied.
    Unanswered {
        model: Arc<str>,
        t_start: Timestamp,
        t_end: Timestamp,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        choosing: bool,
    },
    /// The answer goes back to the model.
    Refused { reason: String },
    /// Something happened to a call.
    Call { seq: u32, fact: CallFact },
    /// A call has its receipt, as of this time.
    Settled { seq: u32, at: Timestamp },
    /// Something happened to the final answer.
    Answer(AnswerFact),
    /// A run of its own that went on here has used this.
    Charged { usage: Usage, cost: Option<Cost> },
    /// A person has decided whether code may run the agent here.
    Confirmed(Signed),
    /// A failure was handed up.
    Raised(Box<Escalation>),
    /// It has reached another agent.
    Reached {
        ticket: u64,
        escalation: Box<Escalation>,
    },
    /// This becomes of it as soon as the agent that raised it goes on.
    Decided(Box<Decided>),
    /// This has become of it; the agent here may be taken off its work for it.
    Handled {
        ticket: u64,
        receipt: Box<EscalationReceipt>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        taken: Option<Box<Taken>>,
    },
    /// The work that it was a part of is dropped, for this reason.
    Dropped { ticket: u64, why: String },
    /// What was decided about escalations here will not come true, for this reason.
    Void { why: String },
    /// What was given before counts no longer.
    Anew,
    /// What is given here is not all that was asked for.
    Partial,
    /// The agent has ended its work.
    Worked {
        ok: bool,
        t_start: Timestamp,
        t_end: Timestamp,
    },
    /// The agent has this answer.
    Done { result: Json },
    /// The run is stopped from this level of the tree.
    Stopped { level: u32, stop: Stop },
    /// The run is stopped from outside of its tree.
    StoppedFromOutside(Stop),
    /// The run is over: nothing is raised any more.
    Over,
    /// What a replay takes from its recording as used.
    Used(Usage),
    /// A step that a replay takes from its recording.
    Told(Box<Step>),
    /// What agents did here, as a replay takes it from its recording.
    Restored {
        receipts: Vec<Arc<ToolEnvelope>>,
        tokens: u64,
        partial: bool,
        ended_run: bool,
    },
}

/// How a run starts, and under which terms.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Started {
    /// Number of the rules by which facts are folded.
    pub(crate) rules: u32,
    pub(crate) run_id: String,
    pub(crate) agent: String,
    pub(crate) input: Json,
    /// Place of the run in the run around it; empty for the outermost.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) place: String,
    pub(crate) terms: Terms,
    pub(crate) began: Timestamp,
    /// Position of the run among all traces, if somebody traces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<String>,
}

impl Started {
    /// Number of the rules that this version knows.
    pub(crate) const RULES: u32 = 1;

    /// Checks that this version knows how to fold the facts that follow.
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        match self.rules {
            Self::RULES => Ok(()),
            rules => Err(JournalError::new(format!(
                "the journal follows rules {rules}; this version knows rules {}",
                Self::RULES
            ))),
        }
    }
}

/// How a run ended, without what stopped it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Finished {
    /// With this answer.
    Answer(Json),
    /// With this error.
    Failed { kind: ErrorKind, message: String },
    /// It was stopped.
    Stopped,
}

/// What was decided about an escalation, for the agent that raised it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Decided {
    pub(crate) ticket: u64,
    pub(crate) verdict: EscalationReceipt,
    /// The model with which the agent goes on, if it is given one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) given: Option<Override>,
    pub(crate) of: Raiser,
    pub(crate) climbed: Climbed,
}

/// What of an agent an escalation is about.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Raiser {
    /// A call, by its number.
    Call(u32),
    /// The final answer.
    Answer,
}

/// A model's reply.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Replied {
    pub(crate) reply: Reply,
    /// Who answered.
    pub(crate) model: Arc<str>,
    /// What it cost, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<Cost>,
    pub(crate) t_start: Timestamp,
    pub(crate) t_end: Timestamp,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) choosing: bool,
    /// Arguments beyond so many bytes are not kept for the model to read again.
    pub(crate) longest: usize,
}

fn is_empty(history: &Arc<History>) -> bool {
    history.messages().is_empty()
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}
