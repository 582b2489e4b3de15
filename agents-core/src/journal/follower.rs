//! A journal that is followed entry by entry, while its run goes on.

use super::{
    Call, CallFact, Entry, Fact, JournalError, PlaceId, Started, State,
    call::Action,
    refold::{Position, Refold},
};
use crate::{
    Json,
    error::{ErrorRecord, Origin},
    run::{ApprovalDecision, ApprovalRequest, Event, Timestamp},
    secret::{Masker, shown},
    tool::{Effects, Risk},
};
use serde_json::Value;
use std::{collections::BTreeMap, fmt, sync::Arc};

/// Reader that follows a journal entry by entry, and tells what each entry means for people and for tables beside the
/// journal.
///
/// The process that runs the agent, a page that shows the run and a check of an audit table follow the same journal, and
/// get the same from it. No agent, model or tool is needed. Secrets are shown by their names.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// use agents::journal::{Follower, MemoryJournal};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, _) = ScriptedModel::new([Script::text("42")]);
/// # let agent = AgentBuilder::<String, u32>::new("oracle").model(model).build();
/// let journal = MemoryJournal::new();
/// agent.run("?").journal(journal.clone()).await?;
///
/// let mut follower = Follower::new();
/// for entry in journal.entries() {
///     for event in follower.on(&entry)?.events {
///         println!("{} {}", event.at, event.agent);
///     }
/// }
/// assert_eq!(follower.seq(), 9);
/// # Ok(())
/// # }
/// ```
pub struct Follower {
    folded: Refold,
    run_id: Arc<str>,
    /// Number of events that were made so far.
    events: u64,
    /// Number of the run to which each request for approval belongs, by the id of the request.
    asked: BTreeMap<String, u32>,
}

/// Meaning of an entry for people and for tables: see [`Follower`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Followed {
    /// Events of the entry; events of nested runs are left out. Each event has its number among the events of the
    /// journal, from 1. So everybody who follows the journal finds the same event under the same number.
    pub events: Vec<Event>,
    /// Step of a call that the entry records, in nested runs as well; `None` if the entry records no such step.
    pub step: Option<CallStep>,
}

/// Part of a call's course that matters outside of the run: a request for approval with its decision, or an execution.
/// Code that runs an agent may make requests as well.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CallStep {
    /// An approver is asked for the approval of a call, or of an agent that code runs. When a stored run goes on, the
    /// same request may be made again.
    Asked(Box<Asked>),
    /// A request for approval is decided. A decision that came too late to change anything is left out.
    Decided {
        /// Id of the request for approval that was decided: see [`ApprovalRequest::id`].
        request: String,
        /// Decision of the approver about the call.
        decided: ApprovalDecision,
    },
    /// An execution of a tool begins. For a tool that writes, this is stored before the tool runs. When a stored run
    /// goes on, the same attempt may begin again.
    Began(Box<Began>),
    /// An execution of a tool has ended. For an interrupted execution, the run has recorded what is known of its
    /// effect. An execution has no such step if the work around the call ended first, or the tool did not start after all.
    /// Nor has one whose tool simply ran again after the end of its process.
    Ended(Box<Ended>),
}

/// Request for approval, with what is needed to decide about it elsewhere.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Asked {
    /// Request for approval, as the approver gets it.
    pub request: ApprovalRequest,
    /// Place in the run of the agent that makes the call, or of the agent that code runs.
    pub place: String,
    /// Digest of the stored arguments, made with the key of the run. The order of fields and white space do not change
    /// it.
    pub args_digest: String,
    /// JSON Schema of the arguments, as it was last offered to a model; `None` if the tool was not offered, or code,
    /// and no model, runs an agent.
    pub schema: Option<Value>,
    /// Arguments as the model wrote them, with secrets shown by their names; `None` if nothing was repaired.
    pub written: Option<String>,
}

/// Begin of an execution of a tool, for tables beside the journal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Began {
    /// Id of the receipt that the call will have.
    pub call_id: String,
    /// Id of the request for approval that belongs to this call with these arguments, whether or not one was made.
    pub request: String,
    /// Is `true` if the execution uses an approval that somebody gave.
    pub approved: bool,
    /// Name of the person or program that approved the call; `None` if the approver gave no name, or nobody was asked.
    pub approved_by: Option<String>,
    /// Place in the run of the agent that makes the call.
    pub place: String,
    /// Name of the agent that calls the tool.
    pub agent: String,
    /// Name of the tool that is executed.
    pub tool: String,
    /// Version of the tool that is executed, such as `1.2.0`.
    pub version: String,
    /// Effects that the tool declares.
    pub effects: Effects,
    /// Risk of the call: how much a mistake would cost.
    pub risk: Risk,
    /// Is `true` if the tool declares that the effect of a call cannot be undone.
    pub irreversible: bool,
    /// Is `true` if the tool has code that undoes a call.
    pub has_undo: bool,
    /// Arguments of the call; secrets are shown by their names.
    pub args: Json,
    /// Arguments as they are stored, with references in place of secrets: [`restore`](crate::secret::restore) puts the
    /// secrets back.
    pub stored_args: Json,
    /// Digest of the stored arguments, made with the key of the run. The order of fields and white space do not change
    /// it.
    pub args_digest: String,
    /// Number of this attempt at the call, from 1.
    pub attempt: u32,
    /// Idempotency key of the call, by which services recognise it; `None` for a tool that does not write, and for a
    /// delegate.
    pub key: Option<String>,
}

/// End of an execution of a tool, for tables beside the journal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ended {
    /// Id of the receipt that the call has or will have.
    pub call_id: String,
    /// Id of the request for approval that belongs to this call with these arguments, whether or not one was made.
    pub request: String,
    /// Number of this attempt at the call, from 1.
    pub attempt: u32,
    /// Output of the tool with secrets shown by their names, or the error of its execution.
    pub result: Result<Json, ErrorRecord>,
    /// Output as it is stored, with references in place of secrets: [`restore`](crate::secret::restore) puts the
    /// secrets back. `None` if the execution failed.
    pub stored_output: Option<Json>,
    /// Is `true` if it is not known whether the tool took effect.
    pub effect_unknown: bool,
}

impl Default for Follower {
    fn default() -> Self {
        Self::new()
    }
}

impl Follower {
    /// Creates the follower of an empty journal.
    pub fn new() -> Self {
        Follower {
            folded: Refold::new(Masker::new()),
            run_id: "".into(),
            events: 0,
            asked: BTreeMap::new(),
        }
    }

    /// Returns the number of the last entry that was followed; 0 before the first entry.
    pub fn seq(&self) -> u64 {
        self.folded.seq
    }

    /// Returns the id of the run that is followed; empty before the first entry.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Returns the digest of arguments that the approver of a request may give in place of the call's own. `request` is
    /// the id of the request. Returns `None` if there was no such request.
    pub fn args_digest(&self, request: &str, args: &Json) -> Option<String> {
        let run = *self.asked.get(request)?;
        let run = self.folded.runs.iter().find(|one| one.run == run)?;
        Some(digest(&run.started, args))
    }

    /// Follows the next entry, and returns its meaning.
    ///
    /// # Errors
    /// When the entry does not follow from those before it; the follower then stays as it was.
    pub fn on(&mut self, entry: &Entry) -> Result<Followed, JournalError> {
        let mut followed = Followed::default();
        let (run_id, count) = (&mut self.run_id, &mut self.events);
        self.folded.on(entry, |state, fact, position| {
            let Position {
                entry,
                started,
                projection,
            } = position;
            if entry.run == 0 && run_id.is_empty() {
                *run_id = started.run_id.as_str().into();
            }
            let (place, at) = (entry.place, entry.at);
            let before = step_before(state, place, &fact, started, &projection.masker);
            let ended = ended_call(&fact);
            let (after, told) = state.fold_and_tell(place, fact, at, projection);
            if after.ignored {
                return after;
            }
            followed.step = before.or_else(|| step_after(state, place, ended?, &projection.masker));
            if entry.run == 0 {
                let (agent, depth) = (state.place(place).agent.clone(), state.place(place).depth);
                let event = |kind| {
                    *count += 1;
                    Event {
                        run_id: run_id.clone(),
                        seq: *count,
                        at: Timestamp::from_millis(at.as_millis()),
                        agent: agent.clone(),
                        depth,
                        place: told.place.clone(),
                        kind,
                    }
                };
                followed.events = told.kinds.into_iter().map(event).collect();
            }
            after
        })?;
        if let Some(CallStep::Asked(asked)) = &followed.step {
            self.asked.insert(asked.request.id.clone(), entry.run);
        }
        Ok(followed)
    }
}

/// Returns the step of a call that a fact records, if the state before the fact tells that step; else `None`.
fn step_before(
    state: &State,
    place: PlaceId,
    fact: &Fact,
    started: &Started,
    masker: &Masker,
) -> Option<CallStep> {
    let agent = || state.place(place).agent.to_string();
    let path = || state.path(place).to_string();
    let (seq, fact) = match fact {
        Fact::Call { seq, fact } => (*seq, fact),
        Fact::Confirming(request) => {
            let request = ApprovalRequest {
                args: seen(&request.args),
                ..(**request).clone()
            };
            return Some(CallStep::Asked(Box::new(Asked {
                args_digest: digest(started, &request.args),
                place: path(),
                schema: None,
                written: None,
                request,
            })));
        }
        Fact::Confirmed(decided) => {
            return Some(CallStep::Decided {
                request: path(),
                decided: decided.clone(),
            });
        }
        _ => return None,
    };
    let call = state.call_at(place, seq)?;
    match fact {
        CallFact::Asked => {
            let request = state.approval_request(place, call, masker)?;
            Some(CallStep::Asked(Box::new(Asked {
                args_digest: digest(started, &request.args),
                schema: state.schema_of(&request.tool_name),
                written: (!request.repairs.is_empty())
                    .then(|| shown(&masker.text(&call.call.arguments)).into_owned()),
                place: path(),
                request: ApprovalRequest {
                    args: seen(&request.args),
                    ..request
                },
            })))
        }
        CallFact::Decided { decided, .. } => Some(CallStep::Decided {
            request: key(call),
            decided: decided.clone(),
        }),
        CallFact::Begun { intent } => {
            let args = match call.next() {
                Action::Execute(args) => args,
                _ => call.input(),
            };
            Some(CallStep::Began(Box::new(Began {
                call_id: call.id().map(ToString::to_string).unwrap_or_default(),
                request: key(call),
                approved: call.uses_approval(),
                approved_by: call.approver(),
                place: path(),
                agent: agent(),
                tool: call.tool().to_owned(),
                version: call.version().unwrap_or_default().to_owned(),
                effects: call.effects(),
                risk: call.risk(),
                irreversible: call.is_irreversible(),
                has_undo: call.has_undo(),
                args_digest: digest(started, &args),
                args: seen(&args),
                stored_args: args,
                attempt: call.attempt(),
                key: intent.as_ref().map(|intent| intent.key.clone()),
            })))
        }
        _ => None,
    }
}

/// Returns the number of the call whose execution ends with this fact; `None` for other facts. A call that a limiter
/// held back has not run.
fn ended_call(fact: &Fact) -> Option<u32> {
    match fact {
        Fact::Call {
            fact: CallFact::Ended {
                result: Err(cause), ..
            },
            ..
        } if cause.origin() == Origin::RateLimited => None,
        Fact::Call {
            seq,
            fact: CallFact::Ended { .. } | CallFact::Interrupted(_),
        } => Some(*seq),
        _ => None,
    }
}

/// Returns the end of a call's last execution, from the state after the fact.
fn step_after(state: &State, place: PlaceId, seq: u32, masker: &Masker) -> Option<CallStep> {
    let call = state.call_at(place, seq)?;
    let last = call.attempts.last()?;
    let (result, stored_output) = match (&last.error, call.result()) {
        (Some(error), _) => (Err((**error).clone()), None),
        (None, Some(Ok(output))) => (Ok(seen(&masker.seen(output))), Some(output.clone())),
        (None, _) => return None,
    };
    Some(CallStep::Ended(Box::new(Ended {
        call_id: call.id().map(ToString::to_string).unwrap_or_default(),
        request: key(call),
        attempt: last.number,
        result,
        stored_output,
        effect_unknown: last.effect_unknown,
    })))
}

fn key(call: &Call) -> String {
    call.key().map(ToString::to_string).unwrap_or_default()
}

/// Returns the digest of arguments in their canonical form, made with the run's key if the run has a key.
fn digest(started: &Started, args: &Json) -> String {
    let text = crate::json::canonical(args.as_str());
    match started.key {
        Some(key) => key.digest(&text).to_string(),
        None => crate::hex::id(&hmac_sha256::Hash::hash(text.as_bytes())).to_string(),
    }
}

/// Returns the value for people to see: each reference to a secret is replaced by the secret's name.
fn seen(value: &Json) -> Json {
    Json::parse(shown(value.as_str())).unwrap_or_else(|_| value.clone())
}

impl fmt::Debug for Follower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follower")
            .field("run_id", &self.run_id)
            .field("seq", &self.seq())
            .finish_non_exhaustive()
    }
}
