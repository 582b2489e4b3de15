//! Variations of a recorded run: a journal with a change, and without the consequences of what was changed.

use super::{Entry, Fact, JournalError, Recorded, wording};
use crate::{
    Code, Json,
    error::Cause,
    journal::{MemoryJournal, Raiser, State, What, call::CallFact, refold},
    recovery::Plan,
    secret::Masker,
};
use serde::Serialize;
use std::{collections::BTreeMap, fmt};

/// Variation of a recorded run, created by [`Recorded::what_if`]. It shows how the run goes on if a call has another
/// result, or the arms decide otherwise.
///
/// [`journal`](WhatIf::journal) creates a journal that breaks off at the change. Calls of the same reply that do not
/// depend on the change stay as they were. A run with that journal goes on from there. Arms are asked and tools run as
/// in any run, so set `.policy(read_only())` if nothing may be written. With the recorded replies as its model, the run
/// ends at the first request that differs; with a live model, it goes on.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
/// use agents::{Code, journal::{MemoryJournal, Recorded}};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let schema = serde_json::json!({"type": "object"});
/// # let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("light") });
/// # let (model, _) = ScriptedModel::new([Script::call("look", "{}"), Script::text("It is light.")]);
/// # let watcher = AgentBuilder::<String, String>::new("watcher").tool(look).build();
/// let journal = MemoryJournal::new();
/// watcher.run("Is it dark?").model(model).journal(journal.clone()).await?;
///
/// let recorded = Recorded::of(journal.entries())?;
/// let changed = recorded.what_if().error(0, Code::Timeout, "the lamp is broken");
/// # let (live, _) = ScriptedModel::new([Script::text("I cannot say.")]);
/// let answer = watcher.run("Is it dark?").model(live).journal(changed.journal()?).await?;
/// assert_eq!(answer, "I cannot say.");
///
/// // Or no further than to the first difference.
/// let changed = recorded.what_if().output(0, "darkness").journal()?;
/// let model = recorded.model();
/// watcher.run("Is it dark?").model(model.clone()).journal(changed).await.unwrap_err();
/// assert_eq!(model.difference().unwrap().now, "darkness");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "it is a journal only with `.journal()`"]
pub struct WhatIf<'a> {
    recorded: &'a Recorded,
    changes: Vec<(RecordedCall, Change)>,
    /// Reason why a change is not possible, which [`journal`](WhatIf::journal) returns as an error; `None` if no reason
    /// is known.
    fault: Option<String>,
}

/// Selector of a call of a recorded run: its index in [`Recorded::receipts`], or the id of its receipt.
#[derive(Clone, Debug)]
pub enum RecordedCall {
    /// The call with this index in [`Recorded::receipts`], from 0.
    Nth(usize),
    /// The call whose receipt has this id.
    Id(String),
}

impl From<usize> for RecordedCall {
    fn from(nth: usize) -> Self {
        RecordedCall::Nth(nth)
    }
}

impl From<&str> for RecordedCall {
    fn from(id: &str) -> Self {
        RecordedCall::Id(id.to_owned())
    }
}

impl fmt::Display for RecordedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordedCall::Nth(nth) => write!(f, "{nth}, counted from 0"),
            RecordedCall::Id(id) => write!(f, "`{id}`"),
        }
    }
}

/// Change that a variation makes to a recorded call.
#[derive(Clone, Debug)]
enum Change {
    Result(Result<Json, Cause>),
    Plan(Plan),
    /// The attachments are removed, because they belong to the output that is replaced.
    NoAttachments,
}

impl Change {
    /// Returns `true` if this change replaces the recorded fact by another.
    fn is_of(&self, fact: &CallFact) -> bool {
        match self {
            Change::Result(_) => matches!(
                fact,
                CallFact::Ended { .. } | CallFact::Cached(_) | CallFact::Interrupted(_)
            ),
            Change::Plan(_) => matches!(fact, CallFact::Planned(_)),
            Change::NoAttachments => matches!(fact, CallFact::Attached(_)),
        }
    }

    /// Returns the changed fact that stands in place of the recorded one.
    fn instead_of(self, fact: &CallFact) -> CallFact {
        match (self, fact) {
            (Change::Plan(plan), _) => CallFact::Planned(Some(plan)),
            (Change::NoAttachments, _) => CallFact::Attached(Vec::new()),
            (Change::Result(Ok(output)), CallFact::Cached(_)) => CallFact::Cached(output),
            (Change::Result(result), _) => CallFact::Ended {
                result,
                partial: false,
            },
        }
    }

    fn missing(&self, call: &RecordedCall) -> String {
        match self {
            Change::Result(_) | Change::NoAttachments => wording::never_executed(call),
            Change::Plan(_) => wording::no_arm_asked(call),
        }
    }
}

impl<'a> WhatIf<'a> {
    pub(super) fn new(recorded: &'a Recorded) -> Self {
        WhatIf {
            recorded,
            changes: Vec::new(),
            fault: None,
        }
    }

    /// Replaces the result of a call's last execution, or the output that the call got from a cache, by this output.
    pub fn output(self, call: impl Into<RecordedCall>, output: impl Serialize) -> Self {
        match Json::of(&output) {
            Ok(output) => self.with(call.into(), Change::Result(Ok(output))),
            Err(error) => WhatIf {
                fault: Some(wording::output_not_json(&error)),
                ..self
            },
        }
    }

    /// Replaces the result of a call's last execution, or the output that the call got from a cache, by this error,
    /// about which the arms are asked.
    pub fn error(
        self,
        call: impl Into<RecordedCall>,
        code: Code,
        message: impl Into<String>,
    ) -> Self {
        let cause = Cause::text(code, message);
        self.with(call.into(), Change::Result(Err(cause)))
    }

    /// Replaces the last plan of the arms for a call's failure, also if no arm decided then.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Severity, journal::{JournalError, MemoryJournal, Recorded}, recovery::*};
    ///
    /// // Would it have been better to give up at once?
    /// fn give_up(recorded: &Recorded) -> Result<MemoryJournal, JournalError> {
    ///     let give_up: Decision<Execution> = escalate("the index is down").severity(Severity::High);
    ///     recorded.what_if().plan(2, give_up).journal()
    /// }
    /// # let _ = give_up;
    /// ```
    pub fn plan(self, call: impl Into<RecordedCall>, plan: impl Into<Plan>) -> Self {
        self.with(call.into(), Change::Plan(plan.into()))
    }

    fn with(mut self, call: RecordedCall, change: Change) -> Self {
        self.changes.push((call, change));
        self
    }

    /// Creates the journal of the variation; [`Run::journal`](crate::agent::Run::journal) takes it.
    ///
    /// # Errors
    /// When the recording has no such call, or the call has nothing of the kind to change. When a change follows from
    /// an earlier one. When an output cannot be written as JSON.
    pub fn journal(self) -> Result<MemoryJournal, JournalError> {
        if let Some(fault) = self.fault {
            return Err(JournalError::new(fault));
        }
        let mut changes = BTreeMap::new();
        for (call, change) in self.changes {
            let path = path_of(self.recorded, &call)?;
            let last_of = |change: &Change| {
                let of_call = self
                    .recorded
                    .facts()
                    .filter_map(|(entry, fact)| match fact {
                        Fact::Call { seq, fact } if entry.run == 0 && change.is_of(&fact) => {
                            let state = &self.recorded.runs[0].state;
                            let here = call_path(state, entry.place, seq);
                            (here == path).then_some(entry.seq)
                        }
                        _ => None,
                    });
                of_call.last()
            };
            let Some(at) = last_of(&change) else {
                return Err(JournalError::new(change.missing(&call)));
            };
            if matches!(change, Change::Result(_))
                && let Some(before) = last_of(&Change::NoAttachments)
            {
                let change = Change::NoAttachments;
                changes.insert(before, (call.clone(), path.clone(), change));
            }
            changes.insert(at, (call, path, change));
        }
        let mut prefix = Prefix::default();
        let mut failed = None;
        refold(
            &self.recorded.entries,
            &Masker::new(),
            |state, fact, position| {
                let entry = position.entry;
                let change = changes.remove(&entry.seq);
                if let Err(error) = prefix.add(state, entry.place, &fact, entry, change) {
                    failed.get_or_insert(error);
                }
                position.fold(state, fact)
            },
        )?;
        match failed {
            Some(error) => Err(error),
            None => Ok(MemoryJournal::of(prefix.entries)),
        }
    }
}

/// Returns the path of a recorded call that has a receipt; the error says that there is no such call.
fn path_of(recorded: &Recorded, call: &RecordedCall) -> Result<String, JournalError> {
    let receipts = recorded.receipts();
    let receipt = match call {
        RecordedCall::Nth(nth) => receipts.get(*nth),
        RecordedCall::Id(id) => receipts.iter().find(|receipt| *receipt.call_id == **id),
    };
    let state = &recorded.runs[0].state;
    let path = receipt.and_then(|receipt| {
        state.steps.iter().find_map(|step| match &step.what {
            What::Call { seq, call_id } if *call_id == receipt.call_id => {
                Some(call_path(state, step.place, *seq))
            }
            _ => None,
        })
    });
    path.ok_or_else(|| {
        let calls = receipts.len();
        JournalError::new(wording::no_call(call, calls))
    })
}

fn call_path(state: &State, place: u32, seq: u32) -> String {
    format!("{}/call{seq:04}", state.path(place))
}

/// Entries of the variation: those up to the change, and later ones that do not follow from it.
#[derive(Default)]
struct Prefix {
    entries: Vec<Entry>,
    /// Paths of the calls that are changed; later facts of these calls are left out.
    changed: Vec<String>,
    /// Paths of agents that have gone on after a change: their later facts are left out.
    gone_on: Vec<String>,
    /// Number of each run in the variation, by its recorded number. The next two maps have the numbers of escalations.
    runs: BTreeMap<u32, u32>,
    escalations: BTreeMap<(u32, u64), Renumbered>,
    raised: BTreeMap<u32, (u64, u64)>,
}

impl Prefix {
    /// Adds an entry to the variation, unless it follows from a changed one.
    fn add(
        &mut self,
        state: &State,
        place: u32,
        fact: &Fact,
        entry: &Entry,
        change: Option<(RecordedCall, String, Change)>,
    ) -> Result<(), JournalError> {
        let follows = self.follows(state, place, fact, entry.run);
        let mut fact = fact.clone();
        let mut is_changed = false;
        if let Some((call, path, change)) = change {
            if follows {
                return Err(JournalError::new(wording::change_follows(&call)));
            }
            // The facts of the call until its end stay.
            if !matches!(change, Change::NoAttachments) {
                self.changed.push(path);
            }
            if let Fact::Call { fact, .. } = &mut fact {
                *fact = change.instead_of(fact);
            }
            is_changed = true;
        }
        // Entries that are left are numbered as if the others had never been.
        let mut renumbered = is_changed;
        match &mut fact {
            Fact::Started(_) if !follows => {
                let number = u32::try_from(self.runs.len()).unwrap_or(u32::MAX);
                self.runs.insert(entry.run, number);
            }
            Fact::Raised { of, .. } => {
                let (all, left) = self.raised.entry(entry.run).or_default();
                *all += 1;
                *left += u64::from(!follows);
                let renumbered = Renumbered {
                    number: *left,
                    place,
                    of: *of,
                };
                self.escalations.insert((entry.run, *all), renumbered);
            }
            _ => {}
        }
        if let Some(number) = number_of(&mut fact)
            && let Some(left) = self.escalations.get(&(entry.run, *number))
        {
            renumbered |= left.number != *number;
            *number = left.number;
        }
        if follows {
            return Ok(());
        }
        let Some(run) = self.runs.get(&entry.run) else {
            return Ok(());
        };
        let fact = match renumbered {
            true => Json::of(&fact).map_err(|error| JournalError::new(error.to_string()))?,
            false => entry.fact.clone(),
        };
        self.entries.push(Entry {
            seq: self.entries.len() as u64 + 1,
            at: entry.at,
            run: *run,
            place: entry.place,
            fact,
        });
        Ok(())
    }

    /// Returns `true` if the fact follows from a change, or may follow, so that it is left out.
    fn follows(&mut self, state: &State, place: u32, fact: &Fact, run: u32) -> bool {
        if self.changed.is_empty() {
            return false;
        }
        // The facts of an escalation belong to the call that it is about.
        let mut about = fact.clone();
        let escalation =
            number_of(&mut about).and_then(|number| self.escalations.get(&(run, *number)));
        let (place, raiser) = match (fact, escalation) {
            (Fact::Raised { of, .. }, _) => (place, Some(*of)),
            (_, Some(escalation)) => (escalation.place, Some(escalation.of)),
            _ => (place, None),
        };
        let path = state.path(place).to_string();
        let here = match fact {
            _ if let Some(Raiser::Call(seq)) = raiser => call_path(state, place, seq),
            // Places and offers are numbered, so these facts stay; they have no effect.
            Fact::Opened { .. } | Fact::Offered(_) => return !self.runs.contains_key(&run),
            Fact::Call { seq, .. } | Fact::TicketGiven { seq, .. } | Fact::Settled { seq, .. } => {
                call_path(state, place, *seq)
            }
            _ => path.clone(),
        };
        let is_call = here.len() > path.len();
        let changed = |changed: &String| match is_call {
            // The changed call, the work around it, and the work within it.
            true => is_within(&here, changed) || is_within(changed, &here),
            false => is_within(&path, changed),
        };
        if self.changed.iter().any(changed)
            || self.gone_on.iter().any(|gone| is_within(&here, gone))
        {
            return true;
        }
        // The agent that made the changed call goes on, or an agent around it.
        let goes_on = !is_call && self.changed.iter().any(|changed| is_within(changed, &path));
        if goes_on {
            self.gone_on.push(path);
        }
        goes_on
    }
}

/// Escalation of a varied run: its number there, and the call or answer that it is about.
struct Renumbered {
    number: u64,
    place: u32,
    of: Raiser,
}

/// Returns the number of the escalation that a fact is about, to change it; `None` for other facts.
fn number_of(fact: &mut Fact) -> Option<&mut u64> {
    match fact {
        Fact::Reached { number, .. }
        | Fact::Decided { number, .. }
        | Fact::Dropped { number, .. } => Some(number),
        _ => None,
    }
}

/// Returns `true` if `path` equals `outer`, or lies within it. The path of a place within a call is the path of the
/// call, a point and the round.
fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
}
