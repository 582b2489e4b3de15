//! Record of what came from outside of a run's models: results of tools, decisions of people and of arms, and when
//! agents were told what.

use crate::{
    Json,
    error::Cause,
    journal::{
        Call, CallFact, Called, Entry, Fact, Interrupted, PlaceId, State, call_path,
        is_given_again, of_an_execution,
    },
    json::canonical,
    media::Attached,
    recovery::Plan,
    run::{ApprovalDecision, Attachment, Instruction, Timestamp},
    tool::RemoteTool,
};
use std::{collections::BTreeMap, sync::Arc};

/// Parts of a recorded run that came from outside of its models.
#[derive(Default)]
pub(super) struct Outside {
    pub(super) executions: Vec<Execution>,
    pub(super) questions: Vec<Question>,
    /// Decisions of arms about executions that failed, each with the path of its call.
    pub(super) plans: Vec<(String, Option<Plan>)>,
    /// Lists of tools, by the path of the agent and the name of the source.
    pub(super) lists: BTreeMap<(String, Box<str>), Arc<[RemoteTool]>>,
    pub(super) kept: BTreeMap<String, Attachment>,
    /// Attachments of executions under way, by the paths of their calls.
    attached: BTreeMap<String, Vec<Attached>>,
    /// Calls that were taken up, by their paths.
    pub(super) calls: BTreeMap<String, TakenUp>,
    /// Times at which the work of calls was dropped, by the paths of the calls.
    pub(super) dropped: BTreeMap<String, Timestamp>,
    /// Calls in the background whose results agents were told, in the order in which they were told.
    pub(super) told: Vec<Told>,
    /// Instructions of people, in the order in which agents were told them.
    pub(super) instructions: Vec<Instructed>,
    /// Number of the last fact of the recording.
    pub(super) last: u64,
}

/// Recorded call.
pub(super) struct TakenUp {
    /// Number of the fact that the call was taken up; `at` is its time.
    pub(super) fact: u64,
    pub(super) at: Timestamp,
    /// Is `true` if a part of the run itself carried the call out, as a delegate does.
    pub(super) is_delegated: bool,
    /// Is `true` if the call got its receipt, and its work was not dropped.
    pub(super) is_settled: bool,
}

/// Call that is about to run, or that a person was asked about.
pub(super) struct Doing {
    /// Path of the call.
    pub(super) path: String,
    pub(super) tool: String,
    pub(super) version: String,
    pub(super) args: Json,
}

impl Doing {
    pub(super) fn of(path: &str, call: &Call) -> Doing {
        Doing {
            path: path.to_owned(),
            tool: call.tool().to_owned(),
            version: call.version().unwrap_or_default().to_owned(),
            args: call.input(),
        }
    }

    pub(super) fn is_same(&self, other: &Doing) -> bool {
        let is_equal = canonical(self.args.as_str()) == canonical(other.args.as_str());
        self.tool == other.tool && is_equal
    }
}

/// Recorded execution of a tool that reads or writes.
pub(super) struct Execution {
    pub(super) call: Doing,
    pub(super) approved: bool,
    /// Number of the fact with which the execution began; `at` is its time.
    pub(super) fact: u64,
    pub(super) at: Timestamp,
    /// Is `true` if the tool began to run, and was not served from a cache or held back.
    pub(super) has_begun: bool,
    pub(super) end: Option<CallFact>,
    pub(super) attached: Option<Vec<Attached>>,
}

/// Result of a call in the background that an agent was told.
pub(super) struct Told {
    /// Path of the call.
    pub(super) path: String,
    /// Path of the agent that was told; `place` is the number of its run, and its place there.
    pub(super) agent: String,
    place: (u32, PlaceId),
    /// Number of the agent's turn before which the agent was told.
    pub(super) turn: u32,
}

/// Instruction of a person that an agent was told.
pub(super) struct Instructed {
    /// Path of the agent.
    pub(super) agent: String,
    /// Number of the agent's turn before which the agent was told.
    pub(super) turn: u32,
    pub(super) instruction: Instruction,
}

/// Recorded question to an approver.
pub(super) struct Question {
    pub(super) call: Doing,
    /// Number of the fact that the question was asked; `at` is its time.
    pub(super) fact: u64,
    pub(super) at: Timestamp,
    pub(super) decided: Option<ApprovalDecision>,
}

impl Outside {
    /// Records what a fact tells, before the fact is folded.
    pub(super) fn on(&mut self, state: &State, place: PlaceId, fact: &Fact, raw: &Entry) {
        let agent = || state.path(place).to_string();
        match fact {
            Fact::Call { seq, fact } => {
                let path = call_path(&agent(), *seq);
                if let Some(call) = state.call_at(place, *seq) {
                    self.on_call(path, call, fact, raw);
                }
            }
            Fact::Resumed => (0..)
                .take(state.places.len())
                .for_each(|place| self.gave_no_reply(state, (raw.run, place))),
            Fact::Unanswered { .. } => self.gave_no_reply(state, (raw.run, place)),
            Fact::Instructed(instruction) => {
                let frame = state.place(place).frame.as_ref();
                self.instructions.push(Instructed {
                    agent: agent(),
                    turn: frame.map_or(0, |frame| frame.turns) + 1,
                    instruction: instruction.clone(),
                });
            }
            Fact::Settled { seq } => {
                let path = call_path(&agent(), *seq);
                let frame = state.place(place).frame.as_ref();
                if let Some(frame) = frame
                    && state
                        .call_at(place, *seq)
                        .is_some_and(Call::is_in_background)
                {
                    self.told.push(Told {
                        path: path.clone(),
                        agent: agent(),
                        place: (raw.run, place),
                        // A model that is writing is told after its reply.
                        turn: frame.turns + 1 + u32::from(frame.asked.is_some()),
                    });
                }
                let was_dropped = self.dropped.contains_key(&path);
                if let Some(call) = self.calls.get_mut(&path) {
                    call.is_settled = !was_dropped;
                }
            }
            Fact::Listed { from, tools } => {
                self.lists.insert((agent(), from.clone()), tools.clone());
            }
            Fact::Confirming(_) if self.is_asked(&agent()) => {}
            Fact::Confirming(request) => self.questions.push(Question {
                call: Doing {
                    path: agent(),
                    tool: request.tool_name.clone(),
                    version: request.tool_version.clone(),
                    args: request.args.clone(),
                },
                fact: raw.seq,
                at: raw.at,
                decided: None,
            }),
            Fact::Confirmed(decided) => self.decided(&agent(), decided),
            _ => {}
        }
        self.last = raw.seq;
    }

    /// Records that the model of the agent at this place has given no reply to its request: it is told what has come
    /// meanwhile when it is asked again, and not after the reply.
    fn gave_no_reply(&mut self, state: &State, place: (u32, PlaceId)) {
        let frame = state.place(place.1).frame.as_ref();
        if let Some(frame) = frame.filter(|frame| frame.asked.is_some()) {
            let told = self.told.iter_mut().filter(|told| told.place == place);
            told.for_each(|told| told.turn = told.turn.min(frame.turns + 1));
        }
    }

    fn on_call(&mut self, path: String, call: &Call, fact: &CallFact, raw: &Entry) {
        match fact {
            CallFact::TakenUp { tool } => {
                let is_delegate = |tool: &Called| tool.goes_on && !tool.knowledge;
                let taken_up = TakenUp {
                    fact: raw.seq,
                    at: raw.at,
                    is_delegated: tool.as_ref().is_some_and(is_delegate),
                    is_settled: false,
                };
                self.calls.insert(path, taken_up);
            }
            // A run that was put down asks again when it goes on.
            CallFact::Asked if self.is_asked(&path) => {}
            CallFact::Asked => self.questions.push(Question {
                // Requests have the name by which the model knows the tool.
                call: Doing {
                    tool: call.call.name.clone(),
                    ..Doing::of(&path, call)
                },
                fact: raw.seq,
                at: raw.at,
                decided: None,
            }),
            CallFact::Decided { decided, .. } => self.decided(&path, decided),
            CallFact::Abandoned { .. } => {
                self.dropped.insert(path, raw.at);
            }
            _ if !is_given_again(call.effects(), call.goes_on()) => {}
            // An execution that was interrupted begins again.
            CallFact::Begun { .. } if self.open(&path).is_some() => {}
            CallFact::Begun { .. } => self.executions.push(Execution {
                call: Doing::of(&path, call),
                approved: call.is_approved(),
                fact: raw.seq,
                at: raw.at,
                has_begun: true,
                end: None,
                attached: None,
            }),
            CallFact::Withdrawn | CallFact::Interrupted(Interrupted::NotDone) => {
                self.executions
                    .retain(|one| one.call.path != path || one.end.is_some());
            }
            CallFact::Attached(attached) => {
                self.attached.insert(path, attached.clone());
            }
            CallFact::Ended { .. } | CallFact::Cached(_) | CallFact::TooLate => {
                self.ended(path, call, fact.clone(), raw);
            }
            CallFact::Interrupted(Interrupted::Done(output)) => {
                self.ended(path, call, ended(Ok(output.clone())), raw);
            }
            CallFact::Interrupted(Interrupted::Unknown(cause)) => {
                self.ended(path, call, ended(Err(cause.clone())), raw);
            }
            CallFact::Planned(plan) if of_an_execution(call) => {
                self.plans.push((path, plan.clone()));
            }
            CallFact::Kept(attachment) => {
                self.kept.insert(path, attachment.clone());
            }
            _ => {}
        }
    }

    /// Returns `true` if a question about this call is open.
    fn is_asked(&self, path: &str) -> bool {
        self.undecided(path).is_some()
    }

    /// Returns the number of the fact that an approver was asked about this call; `None` if no question about it is
    /// open.
    pub(super) fn undecided(&self, path: &str) -> Option<u64> {
        let mut asked = self.questions.iter();
        let open = asked.find(|one| one.call.path == path && one.decided.is_none());
        open.map(|one| one.fact)
    }

    fn open(&mut self, path: &str) -> Option<&mut Execution> {
        let mut all = self.executions.iter_mut().rev();
        all.find(|one| one.call.path == path && one.end.is_none())
    }

    fn ended(&mut self, path: String, call: &Call, end: CallFact, raw: &Entry) {
        let attached = self.attached.remove(&path);
        if let Some(open) = self.open(&path) {
            (open.end, open.attached) = (Some(end), attached);
            return;
        }
        self.executions.push(Execution {
            call: Doing::of(&path, call),
            approved: call.is_approved(),
            fact: raw.seq,
            at: raw.at,
            has_begun: false,
            end: Some(end),
            attached,
        });
    }

    fn decided(&mut self, path: &str, decided: &ApprovalDecision) {
        let mut asked = self.questions.iter_mut().rev();
        if let Some(asked) = asked.find(|one| one.call.path == path && one.decided.is_none()) {
            asked.decided = Some(decided.clone());
        }
    }
}

fn ended(result: Result<Json, Cause>) -> CallFact {
    CallFact::Ended {
        result,
        partial: false,
    }
}
