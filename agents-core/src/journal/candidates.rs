//! State machine of recovery: the texts that were tried for a call, or for a final answer, one after the other.
//!
//! The model's text is the first candidate. When a candidate fails, an arm gives a plan. A step of the plan gives the
//! next candidate, which takes the place of the one that failed. When the plan is used up, the candidate before it goes
//! on with its own plan.
//!
//! ```text
//! candidate ─ fails ─► arms ─► plan ─► next candidate ─ fails ─► ..
//!     ▲                          │ spent
//!     └── the candidate before ◄─┘
//! ```
//!
//! The machine is data and calls no user code. Receipts, events and the input of repair agents are projections of it.

use super::wording::{self, FAILED_ALREADY};
use crate::{
    Severity,
    error::ToolError,
    reader::{Changes, ReadError},
    recovery::{
        Backoff, FailedRepair, FixError, Plan, PlanStep, RepairAgentRef, THE_MODEL, put_at,
    },
};
use serde_json::Value;
use std::{fmt, time::Duration};

/// Maximum number of tries for one call or one answer: texts given in place of the model's, and failures of repair
/// agents. Steps that would add another try are skipped.
const MOST: usize = 8;

/// Error that a candidate (a text for a call or an answer) failed with.
pub(crate) trait Fault: fmt::Display {
    /// Returns the path of the field at fault; `None` if the fault is not in one field.
    fn field(&self) -> Option<&str>;
}

impl Fault for ToolError {
    fn field(&self) -> Option<&str> {
        ToolError::field(self)
    }
}

impl Fault for ReadError {
    /// Returns `None`: a final answer is repaired as a whole.
    fn field(&self) -> Option<&str> {
        None
    }
}

/// Texts that were tried for one call or one answer (its candidates), in the order in which they were given. The first
/// is the model's own.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Candidates<F> {
    all: Vec<Candidate<F>>,
    /// Index of the current candidate: the one that is tried now. The current text and the current failure belong to
    /// it.
    at: usize,
    /// Is `true` if a step was skipped because the maximum number of tries was reached.
    cut_short: bool,
}

/// Candidate for the arguments of a call or for an answer: a text, or a try that gave none.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Candidate<F> {
    pub(crate) by: By,
    pub(crate) gave: Gave,
    /// Number of tokens that a repair agent used to give the candidate.
    pub(crate) tokens: u64,
    /// Round of the call, or turn of the answer, in which the candidate was given.
    pub(crate) round: u32,
    /// Index of the candidate for whose failure this one was given; `None` for the model's own text.
    pub(crate) instead_of: Option<usize>,
    /// Is `true` if the fault that the candidate was given for is gone: the text fails because of another field now.
    settled_it: bool,
    /// Changes that the reader made to the candidate's text.
    pub(crate) changes: Changes,
    /// Failures of the candidate's text, the latest last.
    failures: Vec<Failed<F>>,
    /// Reasons why the candidate's text failed, for those who repair the text: its first failure, and the remarks of
    /// arms on the text.
    pub(crate) why: String,
    plan: Plan,
    /// Index of the step of `plan` that is tried next.
    step: usize,
    standing: Standing,
}

/// Author of a candidate: the model, an approver, a verb of an arm or a repair agent.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) enum By {
    Model,
    Fix,
    Sanitize,
    Agent(String),
    Approver,
}

/// Result of asking an author of candidates, such as a verb or a repair agent, for a text.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) enum Gave {
    /// The author gave a text, which has to be read.
    Text(String),
    /// The author gave a text that failed before, so that the text is not tried.
    Again(String),
    /// The author, a repair agent, gave no text, for this reason.
    Nothing(FixError),
    /// The step was withheld, because the tool may have taken effect already. The text is that of a verb; `None` if a
    /// repair agent was not asked.
    Withheld(Option<String>),
    /// The repair agent's work ended before it answered.
    CutOff,
}

/// State of a candidate's text: how far it has come towards an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
enum Standing {
    #[default]
    Given,
    /// The text of the candidate was read and fits.
    Accepted,
    /// The text was executed as the arguments of the call.
    Ran,
}

/// Failure of a candidate, with the text that the error is about: the JSON that was read, if an object was read.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Failed<F> {
    pub(crate) text: String,
    pub(crate) error: F,
}

/// Circumstances of a failure that decide which steps of a plan are still possible.
#[derive(Default)]
pub(crate) struct Circumstances {
    /// Number of rounds of the call so far: executions, and rounds in which a limiter held it back.
    pub(crate) rounds: u32,
    /// Is `true` if the call may be executed again without harm.
    pub(crate) repeatable: bool,
    /// Is `true` if the tool may have taken effect, so that other arguments could apply it twice.
    pub(crate) in_doubt: bool,
    /// Wait that the failure itself asks for; `None` if it asks for none.
    pub(crate) retry_after: Option<Duration>,
}

/// Next move after a failure, as the plan of the arms says.
#[derive(Debug, PartialEq)]
pub(crate) enum Move {
    /// Read the text of the current candidate, which is new.
    Read,
    /// Ask this repair agent for a text.
    Ask(RepairAgentRef),
    /// Wait, and execute the same arguments again.
    Retry(Wait),
    /// End the call with its failure, and give the model this hint.
    Tell(String),
    /// Hand the failure up to the agent above.
    Escalate { reason: String, severity: Severity },
    /// End the run, for this reason.
    Throw(String),
    /// End the call with its failure: no step of a plan is left.
    Spent,
}

/// Wait before the next execution of a retry.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Wait {
    backoff: Backoff,
    rounds: u32,
    retry_after: Option<Duration>,
}

impl Wait {
    /// Returns the length of the wait. An exponential back-off waits for the part `chance`, from 0 to 1, of its longest
    /// wait. With any other back-off, and if the failure names a wait, `chance` has no effect.
    pub(crate) fn length(self, chance: f64) -> Duration {
        self.backoff.wait(self.rounds, self.retry_after, chance)
    }
}

impl By {
    /// Returns the name of the author that receipts show.
    pub(crate) fn name(&self) -> &str {
        match self {
            By::Model => THE_MODEL,
            By::Fix => "fix",
            By::Sanitize => "sanitize",
            By::Agent(name) => name,
            By::Approver => wording::APPROVER,
        }
    }
}

impl<F> Candidate<F> {
    fn new(by: By, gave: Gave) -> Self {
        Candidate {
            by,
            gave,
            tokens: 0,
            round: 0,
            instead_of: None,
            settled_it: false,
            changes: Changes::default(),
            failures: Vec::new(),
            why: String::new(),
            plan: Plan::default(),
            step: 0,
            standing: Standing::Given,
        }
    }

    /// Returns the latest failure of the candidate's text; `None` if it has not failed.
    pub(crate) fn failed(&self) -> Option<&Failed<F>> {
        self.failures.last()
    }

    /// Returns `true` if the text differs only in one value from the text that it was given for.
    pub(crate) fn is_one_value(&self) -> bool {
        self.by == By::Sanitize
    }

    pub(crate) fn text(&self) -> &str {
        match &self.gave {
            Gave::Text(text) | Gave::Again(text) => text,
            Gave::Nothing(_) | Gave::Withheld(_) | Gave::CutOff => "",
        }
    }

    /// Returns `true` if the candidate is a try: a text that the model did not write, or a failure of a repair agent
    /// that could be asked. The number of tries is bounded.
    fn is_try(&self) -> bool {
        self.by != By::Model
            && match &self.gave {
                Gave::Text(_) | Gave::Again(_) => true,
                Gave::Nothing(why) => !matches!(why, FixError::Unable(_)),
                Gave::Withheld(_) | Gave::CutOff => false,
            }
    }
}

impl<F: Fault> Candidates<F> {
    /// Creates the list of candidates, which begins with the model's own text.
    pub(crate) fn of(text: String) -> Self {
        Candidates {
            all: vec![Candidate::new(By::Model, Gave::Text(text))],
            at: 0,
            cut_short: false,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Candidate<F>> {
        self.all.iter()
    }

    pub(crate) fn get(&self, index: usize) -> &Candidate<F> {
        &self.all[index]
    }

    /// Returns the index of the current candidate, whose text is tried.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn at_hand(&self) -> &Candidate<F> {
        &self.all[self.at]
    }

    fn at_hand_mut(&mut self) -> &mut Candidate<F> {
        &mut self.all[self.at]
    }

    /// Returns the text of the current candidate, which is tried.
    pub(crate) fn text(&self) -> &str {
        self.at_hand().text()
    }

    /// Returns the latest failure of the current candidate.
    pub(crate) fn failed(&self) -> Option<&Failed<F>> {
        self.at_hand().failed()
    }

    /// Returns `true` if the current text was given for a failure that is still open.
    pub(crate) fn is_given(&self) -> bool {
        self.before(self.at).is_some()
    }

    /// Returns the index of the candidate to go back to if the candidate `index` is of no use: the candidate for whose
    /// failure the candidate `index` was given, or an earlier one if the fault of that failure is gone. Returns `None`
    /// for the model's text, for a text of the approver, and for a candidate that was accepted and has thus settled the
    /// failure.
    fn before(&self, index: usize) -> Option<usize> {
        let candidate = &self.all[index];
        // What a person gave is not given up for what a person did not approve.
        if candidate.standing != Standing::Given || candidate.by == By::Approver {
            return None;
        }
        let before = candidate.instead_of?;
        match candidate.settled_it {
            true => self.before(before),
            false => Some(before),
        }
    }

    /// Returns the failure to report: that of the model's text or of an execution, not that of a text given in its
    /// place.
    pub(crate) fn own_failure(&self) -> Option<&Failed<F>> {
        let mut at = self.at;
        while let Some(before) = self.before(at) {
            at = before;
        }
        self.all[at].failed()
    }

    /// Makes the candidate whose failure is to be reported the current one: see [`own_failure`](Self::own_failure).
    pub(crate) fn go_back_to_own(&mut self) {
        while self.go_back() {}
    }

    /// Records the changes with which the reader has read the current candidate's text.
    pub(crate) fn read(&mut self, changes: Changes) {
        self.at_hand_mut().changes.extend(changes);
    }

    /// Records that the text of the current candidate fits.
    pub(crate) fn accept(&mut self) {
        let at = self.at_hand_mut();
        if at.standing == Standing::Given {
            at.standing = Standing::Accepted;
        }
    }

    /// Records that the approver gave this text in the place of the current one.
    pub(crate) fn edit(&mut self, text: String, round: u32) {
        self.push(By::Approver, Gave::Text(text), 0, round);
        self.at = self.all.len() - 1;
    }

    /// Records that the text of the current candidate is executed, so that a later failure is that of the execution.
    pub(crate) fn run(&mut self) {
        self.at_hand_mut().standing = Standing::Ran;
    }

    /// Records that the current candidate's text may not run after all: the failure for which it was given is open
    /// again.
    pub(crate) fn withdraw(&mut self) {
        let at = self.at_hand_mut();
        if at.standing == Standing::Accepted {
            at.standing = Standing::Given;
        }
    }

    /// Withdraws, for this reason, every text that was accepted for a failure and did not run. Returns `true` if that
    /// failure is the current one again.
    pub(crate) fn withdraw_all(&mut self, why: &str) -> bool {
        let mut any = false;
        while self.at_hand().standing == Standing::Accepted {
            self.withdraw();
            if !self.is_given() {
                // The text is the model's own, or the failure that it was given for is settled.
                self.accept();
                break;
            }
            any = true;
            self.at_hand_mut().fail_for(why);
            while self.go_back() {}
        }
        any
    }

    /// Records that the current candidate failed. `text` is the text that the error is about, as in [`Failed`].
    pub(crate) fn fail(&mut self, text: String, error: F) {
        let why = error.to_string();
        let at = self.at_hand_mut();
        at.fail_for(&why);
        at.failures.push(Failed { text, error });
    }

    /// Records that the fault is gone for which the current candidate was given.
    pub(crate) fn settle_before(&mut self) {
        self.at_hand_mut().settled_it = true;
    }

    /// Records the plan of the arms for the current candidate's failure.
    pub(crate) fn follow(&mut self, plan: Plan) {
        let at = self.at_hand_mut();
        at.plan = plan;
        at.step = 0;
    }

    /// Returns the number of rounds that the current step allows, if it is a `retry`; else `None`.
    pub(crate) fn most_rounds(&self) -> Option<u32> {
        let at = self.at_hand();
        match at.plan.0.get(at.step)? {
            PlanStep::Retry { max_attempts, .. } => Some(*max_attempts),
            _ => None,
        }
    }

    /// Goes back to the candidate for whose failure the current candidate was given, or to an earlier one if the fault
    /// of that failure is gone. Returns `false` if there is no candidate to go back to.
    pub(crate) fn go_back(&mut self) -> bool {
        match self.before(self.at) {
            Some(before) => {
                self.at = before;
                true
            }
            None => false,
        }
    }

    /// Returns the next move after a failure. The first step that is still possible makes the move: a step of the
    /// current candidate's plan, or else of the plans of the candidates before it.
    pub(crate) fn next(&mut self, of: impl Fn(&F) -> Circumstances) -> Move {
        loop {
            let at = self.at_hand();
            let (Some(step), Some(failed)) = (at.plan.0.get(at.step).cloned(), at.failed()) else {
                match self.go_back() {
                    true => continue,
                    false => return Move::Spent,
                }
            };
            let circumstances = of(&failed.error);
            if circumstances.in_doubt && self.withheld(&step, circumstances.rounds) {
                self.at_hand_mut().step += 1;
                continue;
            }
            match self.take(step, &circumstances) {
                // An arm's remark on a text that the model did not write is for the author of the next text.
                Some(Move::Tell(said) | Move::Escalate { reason: said, .. }) if self.is_given() => {
                    let at = self.at_hand_mut();
                    at.why.push_str("; ");
                    at.why.push_str(&said);
                    self.go_back();
                }
                Some(next) => return next,
                None => self.at_hand_mut().step += 1,
            }
        }
    }

    fn take(&mut self, step: PlanStep, circumstances: &Circumstances) -> Option<Move> {
        match step {
            PlanStep::Fix(text) => self.put(By::Fix, text?, 0, circumstances.rounds),
            PlanStep::Sanitize(value) => {
                let text = self.sanitized(&value?)?;
                self.put(By::Sanitize, text, 0, circumstances.rounds)
            }
            PlanStep::Ask { fixer, retries } => {
                self.may_ask(&fixer, retries).then_some(Move::Ask(fixer))
            }
            PlanStep::Retry {
                max_attempts,
                backoff,
            } => (circumstances.rounds < max_attempts && circumstances.repeatable).then_some(
                Move::Retry(Wait {
                    backoff,
                    rounds: circumstances.rounds,
                    retry_after: circumstances.retry_after,
                }),
            ),
            PlanStep::Feedback(hint) => Some(Move::Tell(hint)),
            PlanStep::Escalate { reason, severity } => Some(Move::Escalate { reason, severity }),
            PlanStep::Throw { reason } => Some(Move::Throw(reason)),
            // The steps of the next layer are in its place already.
            PlanStep::Inherit => None,
        }
    }

    /// Returns the current text with this value in the place of the field at fault; `None` if the text has no such
    /// place.
    fn sanitized(&self, value: &Value) -> Option<String> {
        let failed = self.failed()?;
        let path = failed.error.field().unwrap_or_default();
        // If no field is at fault, the value replaces all arguments.
        match path.is_empty() && !value.is_object() {
            true => None,
            false => put_at(&failed.text, path, value),
        }
    }

    /// Records that a step of the plan that gives other arguments was withheld. Returns `false` if the step is not of
    /// that kind.
    fn withheld(&mut self, step: &PlanStep, round: u32) -> bool {
        let (by, text) = match step {
            PlanStep::Fix(Some(text)) => (By::Fix, Some(text.clone())),
            PlanStep::Sanitize(Some(value)) => match self.sanitized(value) {
                Some(text) => (By::Sanitize, Some(text)),
                None => return false,
            },
            PlanStep::Ask { fixer, .. } => (By::Agent(fixer.name().to_owned()), None),
            _ => return false,
        };
        self.push(by, Gave::Withheld(text), 0, round);
        true
    }

    /// Returns `true` if a step that gives other arguments was withheld, because the tool may have taken effect.
    pub(crate) fn any_withheld(&self) -> bool {
        let mut all = self.all.iter();
        all.any(|one| matches!(one.gave, Gave::Withheld(_)))
    }

    /// Adds a text as the next candidate, and makes it the current one. Returns `None` if the text failed before, so
    /// that the call would never end, or if no try is left.
    fn put(&mut self, by: By, text: String, tokens: u64, round: u32) -> Option<Move> {
        if self.has_failed(&text) || !self.may_try() {
            return None;
        }
        self.push(by, Gave::Text(text), tokens, round);
        self.at = self.all.len() - 1;
        Some(Move::Read)
    }

    fn push(&mut self, by: By, gave: Gave, tokens: u64, round: u32) {
        self.all.push(Candidate {
            tokens,
            round,
            instead_of: Some(self.at),
            ..Candidate::new(by, gave)
        });
    }

    fn has_failed(&self, text: &str) -> bool {
        let failed = [self.failed(), self.all[0].failed()];
        let mut failed = failed.into_iter().flatten();
        let mut tries = self.all.iter().filter(|one| one.is_try());
        failed.any(|failed| failed.text == text) || tries.any(|tried| tried.text() == text)
    }

    fn may_ask(&mut self, fixer: &RepairAgentRef, retries: u32) -> bool {
        let unable = |one: &Candidate<F>| {
            one.is_of(fixer.name()) && matches!(one.gave, Gave::Nothing(FixError::Unable(_)))
        };
        self.asked(fixer.name()) < retries && !self.all.iter().any(unable) && self.may_try()
    }

    fn may_try(&mut self) -> bool {
        let may = self.tries().count() < MOST;
        self.cut_short |= !may;
        may
    }

    fn tries(&self) -> impl Iterator<Item = &Candidate<F>> {
        self.all.iter().filter(|one| one.is_try())
    }

    /// Returns the remark that repairs were cut short; `None` unless a step was skipped for the maximum number of
    /// tries.
    pub(crate) fn cut_short(&self) -> Option<String> {
        self.cut_short.then(|| wording::no_more_repairs(MOST))
    }

    /// Records the answer of a repair agent; returns `true` if it gave a text to read, which has not failed before.
    pub(crate) fn answered(
        &mut self,
        fixer: &str,
        answer: Result<String, FixError>,
        tokens: u64,
        round: u32,
    ) -> bool {
        let by = By::Agent(fixer.to_owned());
        match answer {
            Ok(text) if self.has_failed(&text) => {
                self.push(by, Gave::Again(text), tokens, round);
                self.last_failed(FAILED_ALREADY);
                false
            }
            Ok(text) => self.put(by, text, tokens, round).is_some(),
            Err(why) => {
                let reason = why.reason().to_owned();
                self.push(by, Gave::Nothing(why), tokens, round);
                self.last_failed(&reason);
                false
            }
        }
    }

    fn last_failed(&mut self, why: &str) {
        if let Some(last) = self.all.last_mut() {
            last.fail_for(why);
        }
    }

    /// Records that this repair agent was asked, and that its work ended before it answered.
    pub(crate) fn cut_off(&mut self, fixer: &str) {
        self.push(By::Agent(fixer.to_owned()), Gave::CutOff, 0, 0);
    }

    /// Returns the number of tries of this repair agent. A request to a repair agent that cannot be asked is no try.
    pub(crate) fn asked(&self, fixer: &str) -> u32 {
        count(self.tries().filter(|one| one.is_of(fixer)))
    }

    /// Returns the number of tries of all repair agents.
    pub(crate) fn asked_in_all(&self) -> u32 {
        count(self.tries().filter(|one| matches!(one.by, By::Agent(_))))
    }

    /// Returns the number of tokens that repair agents have used in this round of the call, or in this turn of the
    /// answer.
    pub(crate) fn tokens_in(&self, round: u32) -> u64 {
        let of_round = self.all.iter().filter(|one| one.round == round);
        of_round.fold(0, |sum, one| sum.saturating_add(one.tokens))
    }

    /// Returns all tries so far, as arms see them.
    pub(crate) fn tried(&self) -> Vec<FailedRepair> {
        self.tries().map(Candidate::told).collect()
    }

    /// Returns the texts that failed, for a repair agent: the model's text, then the tries. The current candidate is
    /// left out.
    pub(crate) fn previous(&self) -> Vec<FailedRepair> {
        let written = self.all[0].failed().filter(|_| self.at > 0);
        let written = written.map(|failed| FailedRepair {
            by: THE_MODEL.to_owned(),
            text: failed.text.clone(),
            error: failed.error.to_string(),
        });
        let others = self.all.iter().enumerate();
        let others = others.filter(|(at, one)| *at != self.at && one.is_try());
        let others = others.map(|(_, one)| one.told());
        written.into_iter().chain(others).collect()
    }

    /// Returns the index of the first candidate after the last accepted one before the current candidate. The changes
    /// of the candidates from that index on belong to the present failure.
    pub(crate) fn first_new(&self) -> usize {
        let mut before = self.all[..self.at].iter();
        let last = before.rposition(|one| one.standing != Standing::Given);
        last.map_or(0, |last| last + 1)
    }

    /// Returns, for each candidate, whether its text is used: the accepted candidates, and the ones that they change in
    /// one value.
    pub(crate) fn used(&self) -> Vec<bool> {
        let mut used = vec![false; self.all.len()];
        for (at, one) in self.all.iter().enumerate() {
            let mut next = (one.standing != Standing::Given).then_some(at);
            while let Some(at) = next {
                used[at] = true;
                next = match self.all[at].is_one_value() {
                    true => self.all[at].instead_of,
                    false => None,
                };
            }
        }
        used
    }
}

impl<F> Candidate<F> {
    fn fail_for(&mut self, why: &str) {
        if self.why.is_empty() {
            self.why = why.to_owned();
        }
    }

    fn is_of(&self, fixer: &str) -> bool {
        matches!(&self.by, By::Agent(name) if name == fixer)
    }

    fn told(&self) -> FailedRepair {
        FailedRepair {
            by: self.by.name().to_owned(),
            text: self.text().to_owned(),
            error: self.why.clone(),
        }
    }
}

fn count<T>(all: impl Iterator<Item = T>) -> u32 {
    u32::try_from(all.count()).unwrap_or(u32::MAX)
}
