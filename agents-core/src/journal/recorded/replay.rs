//! Replay of a recorded run: what its tools, approvers and arms gave is given again, and compared on the way.

use super::{
    Difference, Recorded, RecordedModel,
    outside::{Doing, Outside, TakenUp, Told},
    wording,
};
use crate::{
    Error, Json,
    journal::{
        Call, Finished,
        replayed::{Dropped, Executed},
    },
    json::canonical,
    recovery::Plan,
    run::{ApprovalDecision, Attachment, Instruction, Limit, Stop, Timestamp},
    tool::RemoteTool,
};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::Notify;

/// Time for which a replay waits for dropped work beyond the time of the recorded run.
const MORE: Duration = Duration::from_secs(10);

/// Longest time for which a replay waits for dropped work: a recorded run may have waited for people for days.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// Replay of a recorded run, for its engine.
pub(crate) struct Replay {
    outside: Arc<Outside>,
    model: RecordedModel,
    /// Is `true` if the recorded run ended with an answer or a failure, and was not stopped.
    has_ended: bool,
    used: Mutex<Used>,
    /// Is notified when an agent goes on to its next action.
    went_on: Notify,
}

/// Indices of what was given again.
#[derive(Default)]
struct Used {
    executions: BTreeSet<usize>,
    questions: BTreeSet<usize>,
    plans: BTreeSet<usize>,
    told: BTreeSet<usize>,
    instructions: BTreeSet<usize>,
}

/// Returns the time for which a replay waits for work that the recorded run began and dropped at these times.
pub(super) fn patience(begun: Timestamp, dropped: Timestamp) -> Duration {
    LONGEST.min(dropped.since(begun) + MORE)
}

impl Replay {
    pub(super) fn new(recorded: &Recorded, model: RecordedModel) -> Replay {
        Replay {
            outside: recorded.outside.clone(),
            model,
            has_ended: recorded.exchanges.has_ended,
            used: Mutex::default(),
            went_on: Notify::new(),
        }
    }

    /// Tells calls in the background that an agent goes on to its next action.
    pub(crate) fn goes_on(&self) {
        self.went_on.notify_waiters();
    }

    /// Waits until a call in the background may end: its agent has come to the turn before which the recorded agent was
    /// told the result, and has been told the results that came earlier. `so_far` returns the number of turns that the
    /// agent has taken, and the paths of its calls that have not ended.
    pub(crate) async fn may_end(&self, path: &str, so_far: impl Fn() -> (u32, Vec<String>)) {
        loop {
            let went_on = self.went_on.notified();
            let (turns, open) = so_far();
            if self.ends_now(path, turns, &open) {
                return self.goes_on();
            }
            went_on.await;
        }
    }

    /// Marks the call in the background as ended if its result is what the agent, which has taken this many turns, was
    /// told next. Returns `false` if other turns come first, or the results of other open calls.
    fn ends_now(&self, path: &str, turns: u32, open: &[String]) -> bool {
        let mut used = self.used();
        let left = self.outside.told.iter().enumerate();
        let mut left = left.filter(|(index, _)| !used.told.contains(index));
        let Some((own, told)) = left.clone().find(|(_, told)| told.path == *path) else {
            return true;
        };
        let is_open = |other: &Told| other.agent == told.agent && open.contains(&other.path);
        let first = left.find(|(index, other)| *index == own || is_open(other));
        let ends = first.is_some_and(|(index, _)| index == own) && turns + 1 >= told.turn;
        if ends {
            used.told.insert(own);
        }
        ends
    }

    /// Returns `true` if the agent at this path has to be told results of calls in the background before this turn, and
    /// these are among the calls that are open.
    pub(crate) fn owes_results(&self, agent: &str, turn: u32, open: &[String]) -> bool {
        let mut told = self.outside.told.iter();
        told.any(|told| told.agent == agent && told.turn <= turn && open.contains(&told.path))
    }

    /// Returns the instructions that the agent at this path was told before this turn, and has not been told again.
    pub(crate) fn instructions(&self, agent: &str, turn: u32) -> Vec<Instruction> {
        let mut used = self.used();
        let all = self.outside.instructions.iter().enumerate();
        let due = all.filter(|(_, told)| told.agent == agent && told.turn <= turn);
        due.filter(|(index, _)| used.instructions.insert(*index))
            .map(|(_, told)| told.instruction.clone())
            .collect()
    }

    /// Returns `true` if the recorded run executed the call at this path.
    pub(crate) fn has_executed(&self, path: &str) -> bool {
        let mut executions = self.outside.executions.iter();
        executions.any(|one| one.call.path == path)
    }

    /// Returns `true` if a person was asked about the call at this path in the recorded run.
    pub(crate) fn has_asked(&self, path: &str) -> bool {
        let mut questions = self.outside.questions.iter();
        questions.any(|one| one.call.path == path)
    }

    /// Returns the recorded execution of this call. The error says what differs; the run ends with it.
    pub(crate) fn execution(
        &self,
        path: String,
        call: &Call,
        args: Json,
    ) -> Result<Executed, String> {
        let now = Doing {
            args,
            ..Doing::of(&path, call)
        };
        let all = &self.outside.executions;
        let mut used = self.used();
        let found = nearest(all, &used.executions, &now, |one| &one.call);
        let Some(index) = found else {
            let of_call = all.iter().enumerate();
            let left = of_call.filter(|(index, _)| !used.executions.contains(index));
            let other = left.map(|(_, one)| one).find(|one| one.call.path == path);
            let others = other.map(|one| (&one.call, one.fact));
            let others = others.filter(|(call, _)| call.tool == now.tool);
            return Err(self.differs(match (others, self.dropped_at(&path)) {
                (Some((then, fact)), _) => other_arguments(then, &now, fact),
                (None, Some(at)) => {
                    let call = self.outside.calls.get(&path);
                    let begun = call.map_or((self.outside.last, at), |call| (call.fact, call.at));
                    let dropped = dropped(begun, at, &now, wording::work_dropped);
                    return Ok(Executed {
                        has_begun: false,
                        attached: None,
                        end: Err(dropped),
                    });
                }
                (None, None) => match self.outside.undecided(&path) {
                    Some(fact) => Difference::at(fact, path, wording::needs_no_approval(&now.tool)),
                    None => self.unknown(&now, wording::not_executed),
                },
            }));
        };
        used.executions.insert(index);
        let one = &all[index];
        let at = |what: String| Difference::at(one.fact, &*now.path, what);
        if one.call.version != now.version {
            let what = wording::other_version(&now.tool, &one.call.version, &now.version);
            return Err(self.differs(at(what)));
        }
        if one.approved && !call.is_approved() {
            return Err(self.differs(at(wording::needs_no_approval(&now.tool))));
        }
        let end = match (&one.end, self.dropped_at(&one.call.path)) {
            (Some(end), _) => Ok(end.clone()),
            (None, Some(at)) => Err(dropped((one.fact, one.at), at, &now, wording::work_dropped)),
            (None, None) => return Err(self.differs(Difference::of_end(now.path.clone()))),
        };
        Ok(Executed {
            has_begun: one.has_begun,
            attached: one.attached.clone(),
            end,
        })
    }

    /// Returns the recorded decision about a call, or about an agent that code runs, unless nobody had decided before the
    /// work was dropped. The error says what differs; the run ends with it.
    pub(crate) fn decision(
        &self,
        path: &str,
        tool: &str,
        args: &Json,
    ) -> Result<Result<ApprovalDecision, Dropped>, String> {
        let now = Doing {
            path: path.to_owned(),
            tool: tool.to_owned(),
            version: String::new(),
            args: args.clone(),
        };
        let all = &self.outside.questions;
        let mut used = self.used();
        if let Some(index) = nearest(all, &used.questions, &now, |one| &one.call) {
            used.questions.insert(index);
            let one = &all[index];
            return match (&one.decided, self.dropped_at(&one.call.path)) {
                (Some(decided), _) => Ok(Ok(decided.clone())),
                (None, Some(at)) => {
                    let begun = (one.fact, one.at);
                    Ok(Err(dropped(begun, at, &now, wording::question_dropped)))
                }
                (None, None) => Err(self.differs(Difference::of_end(path.to_owned()))),
            };
        }
        let asked = all.iter().enumerate();
        let mut left = asked.filter(|(index, _)| !used.questions.contains(index));
        let other = left.find(|(_, one)| one.call.path == path && one.call.tool == tool);
        Err(self.differs(match (other, self.dropped_at(path)) {
            (Some((_, one)), _) => other_arguments(&one.call, &now, one.fact),
            (None, Some(at)) => {
                let begun = (self.outside.last, at);
                return Ok(Err(dropped(begun, at, &now, wording::question_dropped)));
            }
            (None, None) => self.unknown(&now, |tool, _| wording::needs_approval(tool)),
        }))
    }

    /// Returns the next recorded decision of the arms about a failed execution of a call; `None` if none is left.
    pub(crate) fn plan(&self, path: &str) -> Option<Option<Plan>> {
        let mut used = self.used();
        let all = self.outside.plans.iter().enumerate();
        let mut left = all.filter(|(index, _)| !used.plans.contains(index));
        let (index, (_, plan)) = left.find(|(_, (own, _))| own == path)?;
        used.plans.insert(index);
        Some(plan.clone())
    }

    /// Returns the list of tools that a source gave to the agent at this path; `None` if no list was recorded.
    pub(crate) fn listed(&self, path: String, from: &str) -> Option<Arc<[RemoteTool]>> {
        self.outside.lists.get(&(path, from.into())).cloned()
    }

    /// Returns the attachment with the whole output of a call; `None` if the recorded run did not store the output.
    pub(crate) fn kept(&self, path: &str) -> Option<Attachment> {
        self.outside.kept.get(path).cloned()
    }

    /// Compares the end of the replay with the end of the recorded run.
    pub(crate) fn compare(
        &self,
        recorded: &Recorded,
        result: Result<Option<&str>, &Error>,
    ) -> Result<(), Difference> {
        let state = &recorded.runs[0].state;
        let is_open = match (&state.finished, &state.stop) {
            (None, _) => true,
            (Some(Finished::Stopped), None) => true,
            (Some(Finished::Stopped), Some(stop)) => is_from_outside(stop),
            (Some(_), _) => false,
        };
        match self.model.difference() {
            Some(difference) if difference.is_end() && !self.has_ended => return Ok(()),
            Some(difference) => return Err(difference),
            None => {}
        }
        let at = |what: String| Err(Difference::at(self.outside.last, "", what));
        if is_open {
            return self.all_made();
        }
        let failed = match (&state.finished, &state.stop) {
            (Some(Finished::Failed { kind, message }), _) => Some((*kind, message.clone())),
            (Some(Finished::Stopped), Some(stop)) => {
                let error = stop.error();
                Some((error.kind(), format!("{error:#}")))
            }
            _ => None,
        };
        match (failed, result) {
            (Some((kind, then)), Err(error)) => {
                let now = format!("{error:#}");
                if kind == error.kind() && then == now {
                    return self.all_made();
                }
                let differs = Difference::at(self.outside.last, "", String::new());
                Err(differs.between(&then, &now, wording::fails_otherwise))
            }
            (None, Err(error)) => at(wording::fails_now(&format!("{error:#}"))),
            (Some((_, then)), Ok(_)) => at(wording::answers_now(&then)),
            (None, Ok(answer)) => {
                let then = match &state.finished {
                    Some(Finished::Answer(answer)) => answer.as_str(),
                    _ => "null",
                };
                let now = answer.unwrap_or("null");
                if canonical(then) == canonical(now) {
                    return self.all_made();
                }
                let differs = Difference::at(self.outside.last, "", String::new());
                Err(differs.between(then, now, wording::other_answer))
            }
        }
    }

    fn all_made(&self) -> Result<(), Difference> {
        self.model.not_made().map_or(Ok(()), Err)
    }

    /// Returns the difference of a call that has no counterpart in the recording. A recording that breaks off before the
    /// call is settled ends there.
    fn unknown(&self, now: &Doing, what: impl FnOnce(&str, &str) -> String) -> Difference {
        let call = self.outside.calls.get(&now.path);
        match call {
            None
            | Some(TakenUp {
                is_settled: false, ..
            }) if !self.has_ended => Difference::of_end(now.path.clone()),
            call => {
                let fact = call.map_or(self.outside.last, |call| call.fact);
                let what = what(&now.tool, now.args.as_str());
                Difference::at(fact, &*now.path, what)
            }
        }
    }

    /// Returns the time at which the work of this call was dropped; `None` if the work was not dropped, or the recorded
    /// run was stopped or has not ended.
    fn dropped_at(&self, path: &str) -> Option<Timestamp> {
        let at = self.outside.dropped.get(path);
        at.copied().filter(|_| self.has_ended)
    }

    /// Returns the difference of a run that has waited for dropped work to no purpose; the run ends with it.
    pub(crate) fn is_kept(&self, dropped: Dropped) -> String {
        let Dropped {
            fact, path, kept, ..
        } = dropped;
        self.differs(Difference::at(fact, path, kept))
    }

    fn differs(&self, difference: Difference) -> String {
        let what = difference.to_string();
        self.model.note(difference);
        what
    }

    fn used(&self) -> std::sync::MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns `true` if the run was stopped by something that does not happen again in a replay.
fn is_from_outside(stop: &Stop) -> bool {
    match stop {
        Stop::Cancelled | Stop::Journal { .. } | Stop::Diverged { .. } => true,
        Stop::Budget { limit, .. } => matches!(limit, Limit::Time(_) | Limit::Cost(_)),
        _ => false,
    }
}

/// Returns work on a call that began with this fact and at this time, and was dropped later.
fn dropped(
    (fact, begun): (u64, Timestamp),
    at: Timestamp,
    call: &Doing,
    what: impl FnOnce(&str) -> String,
) -> Dropped {
    Dropped {
        patience: patience(begun, at),
        fact,
        path: call.path.clone(),
        kept: what(&call.tool),
    }
}

fn other_arguments(then: &Doing, now: &Doing, fact: u64) -> Difference {
    let differs = Difference::at(fact, &*now.path, String::new());
    differs.between(then.args.as_str(), now.args.as_str(), |then, is| {
        wording::other_arguments(&now.tool, then, is)
    })
}

/// Returns the index of the first record of a call with the same tool and arguments that is not used: one in the same
/// place, or else one in another. `None` if no such record is left.
fn nearest<T>(
    all: &[T],
    used: &BTreeSet<usize>,
    now: &Doing,
    call: impl Fn(&T) -> &Doing,
) -> Option<usize> {
    let left = all
        .iter()
        .enumerate()
        .filter(|(index, _)| !used.contains(index));
    let same = left.filter(|(_, one)| call(one).is_same(now));
    let place = |one: &T| call(one).path != now.path;
    same.min_by_key(|(index, one)| (place(one), *index))
        .map(|(index, _)| index)
}
