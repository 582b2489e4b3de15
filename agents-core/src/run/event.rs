use super::{Approval, ApprovalRequest, Instruction, Stopped, Timestamp, ToolEnvelope};
use crate::{
    error::{ErrorKind, ErrorRecord},
    escalation::{Escalation, EscalationReceipt, RefusedResolution},
    model::{FinishReason, Usage},
    run::Repairs,
    secret::SecretScope,
};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;
use std::{borrow::Cow, sync::Arc, time::Duration};

/// Event of a run, with the agent that it concerns. Serialized, an event looks like this:
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, run::Event, testing::{Script, ScriptedModel}};
/// # use std::sync::{Arc, Mutex};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, _) = ScriptedModel::new([Script::text("Hello")]);
/// # let agent = AgentBuilder::<String, String>::new("greeter").model(model).build();
/// # let lines = Arc::new(Mutex::new(Vec::new()));
/// # let sent = lines.clone();
/// let send = move |event: &Event| sent.lock().unwrap().push(serde_json::to_string(event).unwrap());
/// agent.run("Greet me").on_event(send).await?;
/// let line = lines.lock().unwrap()[2].clone();
/// assert!(line.ends_with(r#""agent":"greeter","depth":0,"place":"","event":"text","data":"Hello"}"#), "{line}");
///
/// // It can be read again, in another process for one.
/// let event: Event = serde_json::from_str(&line).unwrap();
/// assert_eq!((event.seq, &*event.agent), (3, "greeter"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// Id of the run to which the event belongs.
    pub run_id: Arc<str>,
    /// Number of the event among those of its run in this process, from 1.
    pub seq: u64,
    /// Time at which the event happened, by the run's clock.
    pub at: Timestamp,
    /// Name of the agent that the event concerns.
    pub agent: Arc<str>,
    /// Nesting depth of that agent; 0 for the agent that was run.
    pub depth: u32,
    /// Place of the agent, of the call, or of the turn whose answer is repaired. It is a prefix of the places of
    /// everything within it.
    ///
    /// All events of one call have the same place, except those of an escalation: they have the place of an agent.
    pub place: String,
    /// Kind of the event: what happened, with its data.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// Event as it is serialized. Its data may be text that only its kind can read.
#[derive(Deserialize)]
struct Written<'a> {
    run_id: Arc<str>,
    seq: u64,
    at: Timestamp,
    agent: Arc<str>,
    depth: u32,
    place: String,
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Event {
    /// Reads an event from JSON text; other formats are not supported.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written {
            run_id,
            seq,
            at,
            agent,
            depth,
            place,
            event,
            data,
        } = Written::deserialize(deserializer)?;
        let event = serde_json::Value::from(&*event);
        let kind = match data {
            Some(data) => format!("{{\"event\":{event},\"data\":{data}}}"),
            None => format!("{{\"event\":{event}}}"),
        };
        let kind = serde_json::from_str(&kind).map_err(de::Error::custom)?;
        Ok(Event {
            run_id,
            seq,
            at,
            agent,
            depth,
            place,
            kind,
        })
    }
}

/// Kind of an [`Event`], with its data.
///
/// The enum is closed: a `match` that handles every variant has seen everything that can be observed in a run. Events
/// name a tool as the agent's model knows it; its receipt has the tool's own name.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{Event, EventKind};
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, _) = ScriptedModel::new([Script::text("Good morning")]);
/// # let agent = AgentBuilder::<String, String>::new("greeter").model(model).build();
/// // The answer as it is written.
/// let print = |event: &Event| {
///     if let EventKind::Text(piece) = &event.kind {
///         print!("{piece}");
///     }
/// };
/// agent.run("Greet me").on_event(print).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum EventKind {
    /// The run started, or goes on from its journal. It is the first event of each run in a process.
    RunStarted {
        /// Id of the run that started.
        run_id: Arc<str>,
    },
    /// A nested agent started: an agent that a tool, a repair, code or another agent runs. An agent that turns to
    /// another of its skills after an escalation starts, too, also the agent of the run.
    AgentStarted,
    /// The skill of the agent that answers the input was chosen.
    SkillChosen {
        /// Name of the skill that was chosen to answer.
        skill: String,
    },
    /// A person has given the agent an instruction, which it is told with its next request to the model. If several agents
    /// are told, each one has its event.
    Instructed(Instruction),
    /// The conversation was handed to another agent, which answers in place of this one.
    HandedOff {
        /// Name of the agent that was handed the conversation, and answers from now on.
        to: String,
    },
    /// The conversation was shortened before a request, by the `context` of the agent.
    Shortened {
        /// Number of messages that were left out.
        left_out: usize,
        /// Number of messages that stand in the place of those that were left out.
        put: usize,
        /// Number of tokens that the conversation had, partly estimated.
        tokens: u64,
        /// Size of the model's window in tokens.
        window: u32,
    },
    /// A request is sent to a model.
    ModelRequested {
        /// Number of the agent's turn, from 1.
        turn: u32,
        /// Id of the model that is asked.
        model: String,
        /// Is `true` if the model is asked to choose one of the agent's skills.
        choosing: bool,
    },
    /// A piece of the model's text, while the model writes it.
    Text(String),
    /// A piece of the model's reasoning, while the model writes it.
    Thinking(String),
    /// A model replied to a request.
    ModelReplied {
        /// Number of the agent's turn in which the model replied, from 1.
        turn: u32,
        /// Number of tool calls in the reply.
        calls: usize,
        /// Reason why the model stopped writing its reply.
        finish: FinishReason,
        /// Tokens that the reply used.
        usage: Usage,
    },
    /// The agent begins to handle a tool call.
    CallStarted {
        /// Id by which the model knows the call. The call's receipt has another id, the `call_id`.
        tool_call_id: String,
        /// Name of the called tool.
        tool: String,
        /// Arguments, as the model sent them.
        arguments: String,
    },
    /// The arguments of a call were changed by reading, an arm, a repair agent or the approver, and fit. They are used
    /// unless a person has to approve them first.
    ///
    /// Changed arguments that do not fit either are reported by [`CallFailed`](EventKind::CallFailed).
    CallRepaired {
        /// Id by which the model knows the call. The call's receipt has another id, the `call_id`.
        tool_call_id: String,
        /// Name of the called tool.
        tool: String,
        /// Changes since the last earlier arguments of the call that fit, or else since the model's text. The receipt
        /// has all changes of the call.
        repairs: Repairs,
    },
    /// A call needs approval, and the approver is asked whether it may run, if the run has an approver.
    ApprovalRequested(ApprovalRequest),
    /// The approver has decided whether a call may run; or the run itself has, if there is no approver or the time for an
    /// answer is over.
    ApprovalDecided {
        /// Id of the receipt of the call that was decided about. If code runs a delegate, the delegate's place in the
        /// run.
        call_id: Arc<str>,
        /// Decision whether the call may run.
        approval: Approval,
        /// Name of the person or program that decided, if the approver gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// An execution of a tool starts.
    AttemptStarted {
        /// Id of the receipt of the call that is executed.
        call_id: Arc<str>,
        /// Name of the tool that is executed.
        tool: String,
        /// Number of the execution among those of its call, from 1.
        attempt: u32,
    },
    /// A tool asked for a secret, and was given it or not.
    SecretLookup {
        /// Id of the receipt of the call whose tool asked.
        call_id: Arc<str>,
        /// Name of the tool that asked.
        tool: String,
        /// Name of the secret that the tool asked for.
        name: String,
        /// Scope that the secret belongs to; `None` if the tool was given no secret.
        scope: Option<SecretScope>,
        /// Is `true` if the secret is the organisation's, although a user or a workspace was asked first.
        fallback: bool,
        /// Reason why the tool was given no secret; `None` if it was given one.
        reason: Option<String>,
    },
    /// A call of a delegate goes on in the background: the model was given a ticket in place of the result.
    TicketGiven {
        /// Id by which the model knows the call. The call's receipt has another id, the `call_id`.
        tool_call_id: String,
        /// Name of the called delegate.
        tool: String,
        /// Name of the ticket, such as `researcher-1`. The message with the result names it.
        ticket: String,
    },
    /// A call whose execution has failed, or that a rate limiter held back, waits before its next execution.
    BackingOff {
        /// Name of the tool whose failed call is to be executed again.
        tool: String,
        /// Length of the wait before the next execution of the call; it may be zero.
        #[serde(rename = "wait_ms", with = "milliseconds")]
        wait: Duration,
    },
    /// A repair agent is asked for a text in place of one that failed.
    FixerRequested {
        /// Name of the tool whose call is repaired, or of the agent whose answer is repaired.
        tool: String,
        /// Name of the repair agent.
        fixer: String,
        /// Number of the repair agent's try at this call or answer, from 1.
        attempt: u32,
    },
    /// A repair agent answered, or failed to.
    FixerReplied {
        /// Name of the tool whose call is repaired, or of the agent whose answer is repaired.
        tool: String,
        /// Name of the repair agent.
        fixer: String,
        /// Text that the repair agent gave, or the reason why there is none.
        answer: Result<String, String>,
        /// Tokens that the repair agent used, charged to the agent that called it.
        tokens: u64,
        /// Time that the repair agent took for this try.
        #[serde(rename = "took_ms", with = "milliseconds")]
        took: Duration,
    },
    /// A call failed at some stage; its arms may still recover it.
    CallFailed {
        /// Id by which the model knows the call. The call's receipt has another id, the `call_id`.
        tool_call_id: String,
        /// Name of the called tool.
        tool: String,
        /// Error with which the call failed at this stage.
        error: ErrorRecord,
    },
    /// The model was given a piece of the agent's knowledge.
    KnowledgeUsed {
        /// Name under which the agent offers this piece of knowledge to its model.
        knowledge: String,
    },
    /// A call is settled: its result is final. The event holds its receipt.
    CallEnded(Arc<ToolEnvelope>),
    /// A failure was escalated to the agents above.
    Escalated(Box<Escalation>),
    /// The resolution that an agent chose for an escalation is not possible. The escalation is passed on.
    ResolutionRefused(RefusedResolution),
    /// An escalation was settled: if the run ends in the same process, exactly one such event follows each
    /// [`Escalated`](EventKind::Escalated).
    ///
    /// If the model is told of the settlement, or another model goes on, that follows with the next request.
    EscalationSettled(Box<EscalationReceipt>),
    /// The final answer was changed to fit the agent's `Out`, and is used.
    AnswerRepaired {
        /// Text of the answer as the model wrote it.
        answer: String,
        /// Changes that the reader, arms and repair agents have made to the answer's text, so that it fits. Tries that
        /// failed are among them.
        repairs: Repairs,
    },
    /// A text does not fit as the final answer: the model's, or one that an arm or a repair agent gave in its place.
    /// The agent's arms may still recover it. A text that was to name a skill, and does not, is reported in the same
    /// way.
    AnswerFailed {
        /// Text that does not fit as the answer.
        answer: String,
        /// Description of what is wrong with the text of the answer.
        reason: String,
    },
    /// The final answer, or the choice of a skill, does not fit and is returned to the model.
    AnswerRefused {
        /// Text that the model is given: what is wrong with its own answer, and what an arm adds to that.
        reason: String,
    },
    /// A nested agent ended: it answered, it failed, or it was dropped, because other work took its place or the run
    /// ended.
    AgentEnded {
        /// Is `true` if the nested agent gave an answer, and `false` if it failed or was dropped.
        ok: bool,
    },
    /// The run was stopped before its answer, for this reason.
    Stopped(Stopped),
    /// The run ends without an answer because its agent failed; it was not stopped.
    Failed {
        /// Kind of the error with which the agent of the run failed.
        kind: ErrorKind,
        /// Text of the error with which the agent of the run failed.
        reason: String,
    },
    /// The run ended. It is the last event of a run, except for the ends of agents in spawned tasks. A run that was put
    /// down or dropped has no such event.
    RunEnded {
        /// Is `true` if the run gave an answer, and `false` if it failed or was stopped.
        ok: bool,
        /// Is `true` if the answer is [partial](crate::Outcome::partial).
        partial: bool,
        /// Tokens and requests that the run used in all.
        usage: Usage,
        /// Duration of the run. For a resumed run, the time since it was resumed.
        #[serde(rename = "took_ms", with = "milliseconds")]
        took: Duration,
    },
}

/// Serialization of a duration as a number of whole milliseconds.
mod milliseconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(
        time: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}
