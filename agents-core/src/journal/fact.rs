//! Facts of a run: the entries of its journal are made of them.

use super::{JournalError, RunKey, Terms, answer::AnswerFact, call::CallFact, wording};
use crate::{
    ErrorKind, Json,
    budget::{Cost, nanos},
    escalation::{Escalation, EscalationReceipt, RefusedResolution},
    model::{Content, History, Message, ModelError, Reply, Usage},
    run::{ApprovalDecision, ApprovalRequest, Finding, Instruction, Stop, Timestamp},
    tool::RemoteTool,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// Fact: an occurrence or a decision at a place of a run. A value that a fact records is never computed again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fact {
    /// The run starts, with this input and these settings.
    Started(Box<Started>),
    /// The run goes on in another process than before.
    Resumed,
    /// The run is put down: it stops in this process, because it waits for people, and goes on later. Executions under
    /// way begin again then, as the same attempts.
    PutDown,
    /// The run has ended, with this answer or error.
    Finished(Finished),
    /// A place below this one is opened: a place of an agent, or of work within a call or an answer.
    Opened {
        key: Box<str>,
        depth: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Arc<str>>,
    },
    /// A conversation of an agent with its model begins, behind the messages of earlier runs.
    Said {
        system: String,
        #[serde(default, skip_serializing_if = "is_empty")]
        said: Arc<History>,
        /// Number of turns that the agent's earlier messages took.
        #[serde(default, skip_serializing_if = "is_zero")]
        before: u32,
        /// Task from the user; `None` if the conversation was handed to this agent and goes on from there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<Content>,
        /// Is `true` if the conversation is only about which skill answers.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        choosing: bool,
        /// Is `true` if the agent is not the one that was run, and people's instructions to the run reach it as well. A
        /// program from before this field refuses to go on if an instruction was told to several agents.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        part: bool,
    },
    /// A person has given the agent an instruction, while the run goes on.
    Instructed(Instruction),
    /// The skill that answers is chosen.
    Chosen { skill: Box<str> },
    /// A source of tools, known by the pattern of their names, has listed these tools for the agent.
    Listed {
        from: Box<str>,
        tools: Arc<[RemoteTool]>,
    },
    /// The conversation is shortened: this many messages, from the one at this index on, are replaced by others.
    Shortened {
        from: usize,
        left_out: usize,
        put: Vec<Message>,
        /// Tokens that the conversation had, by count and by estimate, and those of the window.
        tokens: u64,
        window: u32,
    },
    /// Tools and an answer format are offered to models from here on. Later facts refer to this offer by its number in
    /// the run.
    Offered(Offer),
    /// The agent hands the conversation to the agent of this name; in a chat, this may have happened before this run.
    HandedOff { to: Box<str> },
    /// A request is sent to a model, with the tools and the format of the offer of this number.
    Asked { model: Arc<str>, offer: u32 },
    /// A request to this model failed, and is made again to the same model or to a fallback.
    Tried { model: Arc<str>, error: ModelError },
    /// The model has replied to the agent's request.
    Replied(Box<Replied>),
    /// The request to the model has ended without a reply; `error` is the model's error, if it gave one.
    Unanswered {
        model: Arc<str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ModelError>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        choosing: bool,
    },
    /// The answer of the model is refused, and the model has to write another.
    Refused {
        reason: String,
        /// Is `true` if the agent's answer is plain text, which follows no schema.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_text: bool,
    },
    /// A fact of its own kind about the call with this number.
    Call { seq: u32, fact: CallFact },
    /// A person has found out whether a call in doubt took effect.
    FoundOut { call: Box<str>, finding: Finding },
    /// The call with this number goes on in the background, and its model gets a ticket in place of the result.
    TicketGiven {
        seq: u32,
        /// Is `true` if the call is cancelled when the agent answers; otherwise the answer waits for the call.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        until_answer: bool,
    },
    /// The call with this number has got its receipt.
    Settled { seq: u32 },
    /// A fact of its own kind about the final answer.
    Answer(AnswerFact),
    /// A nested run (a run of its own) at this place has used these tokens and this money.
    Charged {
        usage: Usage,
        #[serde(with = "nanos")]
        cost: Option<Cost>,
    },
    /// A person is asked whether code may run the agent at this place.
    Confirming(Box<ApprovalRequest>),
    /// A person has decided whether code may run the agent at this place.
    Confirmed(ApprovalDecision),
    /// A failure of a call or of an answer was escalated to the agents above.
    Raised {
        of: Raiser,
        escalation: Box<Escalation>,
    },
    /// The escalation has reached another agent on its way up.
    Reached {
        #[serde(rename = "ticket")]
        number: u64,
        escalation: Box<Escalation>,
    },
    /// The agent here chose a resolution of an escalation that is not possible; the escalation is passed on.
    Rejected(Box<RefusedResolution>),
    /// The escalation is decided. If the agent that raised it goes on, the decision takes effect as soon as that agent
    /// does so. Otherwise the agent here may replace its own work, for instance by a partial result.
    Decided {
        #[serde(rename = "ticket")]
        number: u64,
        receipt: Box<EscalationReceipt>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partial: Option<Json>,
    },
    /// The work in which the escalation was raised is dropped, for this reason.
    Dropped {
        #[serde(rename = "ticket")]
        number: u64,
        why: String,
    },
    /// The decisions about escalations at this place have no effect, for this reason.
    Void { why: String },
    /// The work at this place begins anew, so that its result is not partial because an earlier one was.
    Anew,
    /// The result of the agent at this place is partial: incomplete, and marked so.
    Partial,
    /// The agent at this place begins to work.
    Working,
    /// The agent has ended its work, which began at `since`; `ok` if it has succeeded.
    Worked { ok: bool, since: Timestamp },
    /// The agent has answered with this result.
    Done { result: Json },
    /// The run is stopped by an agent at this level of the tree of agents, for this reason.
    Stopped { level: u32, stop: Stop },
    /// The run is stopped by something outside of its agents, such as a cancellation.
    StoppedFromOutside(Stop),
    /// The run is over: work that still goes on in tasks is dropped, and no escalations are raised.
    Over,
}

/// Start of a run: its agent, its input and its terms.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Started {
    /// Number of the version of the rules by which facts are applied to the state.
    pub(crate) rules: u32,
    pub(crate) run_id: String,
    pub(crate) agent: String,
    pub(crate) input: Json,
    /// Place of the run in the run around it; empty for the outermost.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) place: String,
    pub(crate) terms: Terms,
    /// Key of the digests by which arguments are recognised; `None` for a run stored without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<RunKey>,
    pub(crate) began: Timestamp,
    /// Position of the run in its trace, if the run is traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<String>,
}

impl Started {
    /// Version of the rules by which this program applies facts.
    pub(crate) const RULES: u32 = 1;

    /// Checks that this program knows the rules by which the following facts are applied.
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        match self.rules {
            Self::RULES => Ok(()),
            rules => Err(JournalError::new(wording::other_rules(rules, Self::RULES))),
        }
    }
}

/// End of a run. If the run was stopped, the reason is in a fact of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Finished {
    /// The run has ended with this answer.
    Answer(Json),
    /// The run failed with this error.
    Failed { kind: ErrorKind, message: String },
    /// The run was stopped; the fact of the stop has the reason.
    Stopped,
}

/// Subject of an escalation: a call or the final answer of an agent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Raiser {
    /// A call, by its number among the calls of its agent.
    Call(u32),
    /// The final answer of the agent has raised the escalation.
    Answer,
}

/// Tools and answer format that a request offers to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Offer {
    /// Function declarations of the offered tools, as a JSON array.
    pub(crate) tools: Json,
    /// JSON Schema that the answer has to follow; `None` if the request asks for no format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<Box<Value>>,
}

/// Reply of a model to one request of an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Replied {
    pub(crate) reply: Reply,
    /// Name of the model that answered.
    pub(crate) model: Arc<str>,
    /// Cost of the request, stored in billionths; `None` if the model has no price.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "nanos")]
    pub(crate) cost: Option<Cost>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) choosing: bool,
    /// Maximum size in bytes of arguments that stay in the conversation; longer ones are cut there.
    pub(crate) longest: usize,
}

fn is_empty(history: &Arc<History>) -> bool {
    history.messages().is_empty()
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}
