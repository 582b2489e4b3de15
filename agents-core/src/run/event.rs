use super::{Approval, ApprovalRequest, Stopped, ToolEnvelope};
use crate::{
    error::{
        ErrorReceipt,
        escalation::{Escalation, EscalationReceipt, Refused},
    },
    model::{Finish, Usage},
    reader::Repairs,
    secret::SecretScope,
};
use serde::{Serialize, Serializer};
use std::{sync::Arc, time::Duration};

/// Something that happened in a run: who, and what. As JSON, what `on_event` may send on:
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
/// assert_eq!(
///     lines.lock().unwrap()[2],
///     r#"{"agent":"greeter","depth":0,"place":"","event":"text","data":"Hello"}"#,
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// The agent to which it happened.
    pub agent: Arc<str>,
    /// How deep that agent is nested; 0 for the one that was run.
    pub depth: u32,
    /// Where in the run: the agent's place, or the call's. What goes on within has a place that begins
    /// so.
    pub place: String,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// Everything that can be observed in a run. The enum is closed: a `match` that handles every
/// variant has seen it all.
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
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum EventKind {
    /// The run began.
    RunStarted {
        /// Its id.
        run_id: Arc<str>,
    },
    /// An agent within the run began: one that a tool, a repair or another agent runs.
    AgentStarted,
    /// It is settled which of its skills the agent answers with.
    SkillChosen {
        /// The skill.
        skill: String,
    },
    /// The model is asked.
    Asked {
        /// Which turn, from 1.
        turn: u32,
        /// Which model.
        model: String,
        /// It is asked which of the agent's skills answers.
        choosing: bool,
    },
    /// A piece of the model's text, as it is written.
    Text(String),
    /// A piece of the model's reasoning, as it is written.
    Thinking(String),
    /// The model answered.
    Replied {
        /// Which turn, from 1.
        turn: u32,
        /// How many calls it asks for.
        calls: usize,
        /// Why it stopped.
        finish: Finish,
        /// What the answer cost.
        usage: Usage,
    },
    /// A call is taken up.
    CallStarted {
        /// The id by which the model knows it.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments, as the model sent them.
        arguments: String,
    },
    /// Arguments were changed so that they fit, by reading, an arm or a repair agent, and are about to be
    /// used. What does not fit all the same is a [`CallFailed`](EventKind::CallFailed).
    Repaired {
        /// The id by which the model knows the call.
        id: String,
        /// The tool.
        tool: String,
        /// How these arguments differ from the text that was last given: by the model, or anew by a
        /// repair. All changes of a call are in its receipt.
        repairs: Repairs,
    },
    /// Somebody is asked whether the call may run.
    ApprovalAsked(ApprovalRequest),
    /// They answered.
    ApprovalDecided {
        /// The call's receipt id.
        call_id: Arc<str>,
        /// What they said.
        approval: Approval,
    },
    /// The tool is executed.
    AttemptStarted {
        /// The call's receipt id.
        call_id: Arc<str>,
        /// The tool.
        tool: String,
        /// Which execution, from 1.
        attempt: u32,
    },
    /// A tool was given a secret.
    SecretResolved {
        /// The call's receipt id.
        call_id: Arc<str>,
        /// The tool.
        tool: String,
        /// Which secret.
        name: String,
        /// Whose it is.
        scope: SecretScope,
        /// It is the whole organisation's, although a user or a workspace was asked first.
        fallback: bool,
    },
    /// A tool asked for a secret that nobody has, or that cannot be had.
    SecretMissing {
        /// The call's receipt id.
        call_id: Arc<str>,
        /// The tool.
        tool: String,
        /// Which secret.
        name: String,
        /// Why it was not given.
        reason: String,
    },
    /// The same call will run again, after a wait.
    BackingOff {
        /// The tool.
        tool: String,
        /// How long.
        #[serde(rename = "wait_ms", serialize_with = "milliseconds")]
        wait: Duration,
    },
    /// A repair agent is asked.
    FixerAsked {
        /// The tool whose call it repairs; the agent whose answer.
        tool: String,
        /// Whom.
        fixer: String,
        /// Which try this is, from 1.
        attempt: u32,
    },
    /// A repair agent answered: with text to read, or with why there is none.
    FixerAnswered {
        /// The tool whose call it repairs; the agent whose answer.
        tool: String,
        /// Who.
        fixer: String,
        /// What.
        answer: Result<String, String>,
        /// The tokens it used, charged to whoever called it.
        tokens: u64,
    },
    /// The call failed at some stage; the arms may still save it.
    CallFailed {
        /// The id by which the model knows the call.
        id: String,
        /// The tool.
        tool: String,
        /// What went wrong.
        error: ErrorReceipt,
    },
    /// The model was given what the agent knows.
    KnowledgeUsed {
        /// The knowledge, by its name.
        knowledge: String,
    },
    /// The call is settled; this is its receipt.
    CallEnded(Arc<ToolEnvelope>),
    /// A failure was given up and climbs.
    Escalated(Box<Escalation>),
    /// The agent could not do about an escalation what it wanted to; it climbs on.
    ResolutionRefused(Refused),
    /// Somebody settled it, or nobody was left to.
    EscalationSettled(Box<EscalationReceipt>),
    /// The final answer needed changes to fit.
    AnswerRepaired {
        /// What the model said.
        answer: String,
        /// What was changed.
        repairs: Repairs,
    },
    /// The final answer does not fit and goes back to the model.
    AnswerRefused {
        /// What is wrong with it.
        reason: String,
    },
    /// An agent within the run ended. One that was dropped, because somebody took over its work or the
    /// run ended, does not say so.
    AgentEnded {
        /// With an answer.
        ok: bool,
    },
    /// The run ended before its answer.
    Stopped(Stopped),
    /// The run ended.
    RunEnded {
        /// With an answer.
        ok: bool,
        /// What the models cost.
        usage: Usage,
    },
}

fn milliseconds<S: Serializer>(wait: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u128(wait.as_millis())
}
