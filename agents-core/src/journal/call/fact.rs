//! Facts about a call.

use super::super::executions::ExecutionNews;
use crate::{
    Json,
    error::{Cause, DenialReason, ErrorRecord, ToolError},
    escalation::EscalationReceipt,
    evidence::Origin,
    media::Attached,
    reader::Changes,
    recovery::{FixError, Plan},
    run::{ApprovalDecision, ApprovalReason, Attachment, Stop},
    secret::SecretScope,
    tool::{AnswerForm, Effects, Risk, ToolSpec},
};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, sync::Arc, time::Duration};

/// Fact about a call. A value that a fact records is never computed again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CallFact {
    /// The agent begins to handle the call; `tool` describes the tool, if the agent has it.
    TakenUp { tool: Option<Called> },
    /// The call may not be made, for this reason, and ends.
    Refused(Box<ToolError>),
    /// Code of the program panicked while the call was handled; the text is its message.
    Panicked(String),
    /// The arguments were read: they fit, or they do not. Before another execution, or when the run goes on in another
    /// process, they are read again. That reading has a fact only if the call may not run with them as it is: they do
    /// not fit any more, are denied, or need an approval.
    Read(Result<Accepted, Box<Refused>>),
    /// A person is asked whether the call may run.
    Asked,
    /// A person decided whether the call may run.
    Decided {
        decided: ApprovalDecision,
        took: Duration,
        /// Reason why the call was not approved, for the field `reason` of the call's error; `None` if the call was
        /// approved or answered, or the approver asked for a change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<DenialReason>,
    },
    /// The tool begins to run. If it writes, the intent is stored before.
    Begun {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        intent: Option<Box<Intent>>,
    },
    /// The tool was not started after all: the run ended while its intent was being stored.
    Withdrawn,
    /// The tool has run, or a limiter has held the call back.
    Ended {
        result: Result<Json, Cause>,
        partial: bool,
    },
    /// The tool was to run again with its idempotency key, but the time within which that does no harm is over.
    TooLate,
    /// The process ended while the tool ran, or it was too late to run the tool again; the value says what is known
    /// about the effect.
    Interrupted(Interrupted),
    /// The call got its output from the cache, and did not run.
    Cached(Json),
    /// The arms were asked about the current failure, and gave this plan; `None` if no arm decided.
    Planned(Option<Plan>),
    /// The repair agent of the plan is asked for other arguments.
    Repairing,
    /// The try of a repair agent is over: its answer or the reason why there is none, its tokens and its duration.
    Repaired {
        answer: Result<String, FixError>,
        tokens: u64,
        #[serde(default)]
        took: Duration,
    },
    /// The tool asked for a secret; it was given, or not given for a reason.
    Secret {
        name: String,
        found: Result<Given, String>,
    },
    /// The next execution waits until this time, in milliseconds since 1970.
    Waits { until: u64, wait: Duration },
    /// The call's wait before its next execution is over.
    Woke,
    /// The escalation of the call was settled, and the agent goes on. This fact is not stored, because it follows from
    /// the stored decision about the escalation.
    #[serde(skip)]
    Climbed(Box<EscalationReceipt>),
    /// The tool has ended the work of the agent that made the call. This is the output of the tool.
    #[serde(rename = "did")]
    FinalOutput(Json),
    /// The execution in progress has returned these images, files and tables.
    Attached(Vec<Attached>),
    /// The whole output, which is cut in the receipt, was put into a blob store.
    Kept(Attachment),
    /// The work that the call is a part of ends for this reason; `calls` is the number of calls made within the call.
    Abandoned { why: String, calls: usize },
}

/// Secret that a tool asked for and was given, without its value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Given {
    /// Scope of the secret: this run, the user, the workspace or the organisation.
    pub(crate) scope: SecretScope,
    /// Is `true` if the secret is the organisation's, although a user or a workspace was asked first.
    pub(crate) fallback: bool,
}

/// Intent to run a tool that writes, stored before it runs. If no end follows, the effect may have happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Intent {
    /// Number of the execution among those of the call, from 1.
    pub(crate) attempt: u32,
    /// Name and version of the tool that is executed.
    pub(crate) tool: String,
    /// Idempotency key, by which services recognise the call.
    pub(crate) key: String,
    /// Digest of the arguments in their canonical form, made with the key of the run if it has one.
    pub(crate) digest: Arc<str>,
    /// Name of the person or program that approved the execution, if the approver gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) approved_by: Option<String>,
}

/// Knowledge about an execution that was interrupted by the end of its process, or that may not be repeated any more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Interrupted {
    /// The interrupted execution took effect, and had this output.
    Done(Json),
    /// The execution had no effect, so it may be repeated.
    NotDone,
    /// The effect is not known; the model is told this cause.
    Unknown(Cause),
}

/// Description of the tool of a call, as the run stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Called {
    pub(crate) version: Cow<'static, str>,
    /// Name of the tool itself, if the model knows the tool by another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) own_name: Option<String>,
    /// Is `true` if running the tool twice does no more than running it once.
    pub(crate) repeatable: bool,
    /// Time from the first execution for which the tool is repeatable; `None` if it is so without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) window: Option<Duration>,
    /// Is `true` if running the tool may change something.
    pub(crate) writes: bool,
    /// Is `true` if the tool is a part of the run itself, as a delegate is: such a tool goes on from where it was.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) goes_on: bool,
    /// Is `true` if the tool reads the world, and changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) reads: bool,
    /// Is `true` if the tool only gives the model a text that the agent knows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) knowledge: bool,
    /// Is `true` if the tool is made for polling: identical calls are not counted as repeated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) polls: bool,
    /// Risk of calls of the tool: how much a mistake would cost.
    #[serde(default = "unknown_risk")]
    pub(crate) risk: Risk,
    /// Effect of the call in words, with the names of arguments in braces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) effect: Option<Box<str>>,
    /// Is `true` if the effects of the tool leave the organisation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) external: bool,
    /// Is `true` if the tool declares that the effect of a call cannot be undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) irreversible: bool,
    /// Is `true` if the tool says how a call is undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_undo: bool,
    /// Answers to the question that the tool asks, if it asks people one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answers: Option<Box<AnswerForm>>,
}

/// Returns the risk of a tool that an older version stored without one: high.
fn unknown_risk() -> Risk {
    Risk::High
}

impl Called {
    /// Describes the tool of this specification, which the model calls by `name`.
    pub(crate) fn of(spec: &ToolSpec, name: &str, goes_on: bool, knowledge: bool) -> Self {
        let own_name = Some(spec.own_name()).filter(|own| *own != name);
        Called {
            version: spec.version.clone(),
            own_name: own_name.map(str::to_owned),
            repeatable: spec.is_repeatable(),
            window: spec.idempotent_for,
            writes: spec.effects == Effects::Writes,
            goes_on: goes_on || knowledge,
            reads: spec.effects == Effects::Reads,
            knowledge,
            polls: spec.polls,
            risk: spec.risk_level(),
            effect: spec.effect_description.as_deref().map(Box::from),
            external: spec.external,
            irreversible: spec.irreversible.is_some(),
            has_undo: spec.has_undo(),
            answers: spec.answers.clone(),
        }
    }
}

/// Arguments of a call that fit the tool's schema, with what the rules of the run say about them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Accepted {
    /// Arguments of the call, as JSON text that fits the schema.
    pub(crate) args: Json,
    /// Changes that the reader made to the text of the model to get the arguments.
    #[serde(default, skip_serializing_if = "Changes::is_empty")]
    pub(crate) changes: Changes,
    /// Is `true` if a person has to approve the arguments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) approval: bool,
    /// Reasons why a person has to approve the arguments; empty if nobody has to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) reasons: Vec<ApprovalReason>,
    /// Risk of the call with these arguments, if it differs from the tool's risk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) risk: Option<Risk>,
    /// Origins of the known values among the arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) known: Vec<Origin>,
    /// Reason for which a rule of the run refuses the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) denied: Option<String>,
    /// Reason of that refusal, for the field `reason` of the call's error; `None` if a policy refuses the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) because: Option<DenialReason>,
}

/// Candidate for the arguments of a call that was read and does not fit, or that could not be read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Refused {
    /// Error that says why the arguments do not fit.
    pub(crate) error: ToolError,
    /// Text that the error is about: the JSON that was read, if an object was read.
    pub(crate) text: String,
    /// Changes that the reader made before it found the error.
    #[serde(default, skip_serializing_if = "Changes::is_empty")]
    pub(crate) changes: Changes,
}

/// Consequences of a fact about a call for the rest of the run.
#[derive(Debug, Default)]
pub(crate) struct After {
    /// Stop of the whole run that follows from the fact.
    pub(crate) stop: Option<Box<Stop>>,
    /// Change of the call that is reported to subscribers; `None` if there is none.
    pub(crate) news: Option<News>,
    /// Call in doubt, if the call is settled and the effect of an interrupted execution is not known.
    pub(crate) doubt: Option<Doubt>,
    /// What later calls have to know: the begin or end of an execution, if the tool writes and is not idempotent, or a
    /// denial.
    pub(crate) execution: Option<ExecutionNews>,
    /// Is `true` if the fact does not belong to the stage of the call, and changes nothing.
    pub(crate) ignored: bool,
}

/// Call in doubt: it is settled, and it is not known whether its tool took effect.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Doubt {
    /// Id of the call that is in doubt.
    pub(crate) call: Arc<str>,
    /// Name of the tool that may have taken effect.
    pub(crate) tool: String,
    /// Arguments of the call that is in doubt.
    pub(crate) args: Json,
}

/// Change of a call that is reported to subscribers.
#[derive(Debug)]
pub(crate) enum News {
    /// The arguments do not fit or may not run, or the execution failed, with this error.
    Failed(Box<ErrorRecord>),
    /// A repair agent gave arguments that had failed before, as the candidate with this index.
    Again(usize),
    /// The arguments fit, and are about to be used.
    Accepted,
}

impl After {
    pub(super) fn news(news: News) -> Self {
        After {
            news: Some(news),
            ..After::default()
        }
    }

    /// Returns the consequences of a fact that does not belong to the stage of the call: none.
    pub(crate) fn ignored() -> Self {
        After {
            ignored: true,
            ..After::default()
        }
    }

    pub(super) fn stop(stop: Stop) -> Self {
        After {
            stop: Some(Box::new(stop)),
            ..After::default()
        }
    }

    /// Sets the change of the call that is reported to subscribers.
    pub(super) fn with(mut self, news: News) -> Self {
        self.news = Some(news);
        self
    }
}
