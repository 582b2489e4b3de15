//! The difference between two reports.

use super::{CaseReport, Report, Score, Spent, wording};
use serde::Serialize;
use std::{collections::HashMap, process::ExitCode};

/// Difference between two [`Report`]s. Its `Display` output is a table.
///
/// A case that passes now and did not before is better, and the reverse is worse. Of the others, a case is worse if one
/// of its scores is lower, and otherwise better if one is higher. A score that does not pass is lower than one that
/// passes. A score that is missing because the case has an error counts as 0 and does not pass. In a case without an
/// error, a score that only one of the reports has is not compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Diff {
    /// Name of the later of the two reports.
    pub name: String,
    /// Cases whose results got worse.
    pub worse: Vec<Change>,
    /// Cases whose results got better.
    pub better: Vec<Change>,
    /// Results of cases that the earlier report does not have.
    pub new: Vec<CaseReport>,
    /// Names of cases that the later report does not have.
    pub gone: Vec<String>,
    /// Number of cases in both reports that got neither worse nor better.
    pub same: usize,
    /// Tokens and money that the earlier report says were used.
    pub before: Spent,
    /// Tokens and money that the later report says were used.
    pub now: Spent,
}

/// Case whose result differs between two reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// Name of the case whose result differs.
    pub name: String,
    /// Changes of the result, in words: scores that are new or differ, the error if there was none before, or that
    /// there is an answer now. Empty if the result differs only because a scorer is gone.
    pub what: Vec<String>,
}

impl Diff {
    pub(super) fn of(before: &Report, now: &Report) -> Diff {
        let earlier: HashMap<_, _> = before
            .cases
            .iter()
            .map(|case| (&*case.name, case))
            .collect();
        let later: HashMap<_, _> = now.cases.iter().map(|case| (&*case.name, case)).collect();
        let mut diff = Diff {
            name: now.name.clone(),
            worse: Vec::new(),
            better: Vec::new(),
            new: Vec::new(),
            gone: Vec::new(),
            same: 0,
            before: before.spent(),
            now: now.spent(),
        };
        for case in &now.cases {
            let Some(was) = earlier.get(&*case.name) else {
                diff.new.push(case.clone());
                continue;
            };
            match compare(was, case) {
                (Direction::Same, _) => diff.same += 1,
                (Direction::Worse, change) => diff.worse.push(change),
                (Direction::Better, change) => diff.better.push(change),
            }
        }
        let gone = before.cases.iter().map(|case| &case.name);
        let gone = gone.filter(|name| !later.contains_key(&***name));
        diff.gone = gone.cloned().collect();
        diff
    }

    /// Returns `ExitCode::FAILURE` if a case got worse, and `ExitCode::SUCCESS` otherwise. Cases that are new or gone do
    /// not change the exit code.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(u8::from(!self.worse.is_empty()))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Worse,
    Same,
    Better,
}

/// Compares two results of a case: returns whether the case got better, worse or neither, and what has changed. A case
/// that passes now and did not before got better, and the reverse is worse. Otherwise the case got worse if any score
/// is lower, and better if none is lower and any is higher. Of two scores, one that does not pass is lower than one
/// that passes, whatever their values. A score that is missing because of an error counts as 0 and does not pass.
fn compare(was: &CaseReport, is: &CaseReport) -> (Direction, Change) {
    let mut what = Vec::new();
    match (&was.error, &is.error) {
        (None, Some(error)) => what.push(error.clone()),
        (Some(_), None) => what.push(wording::ANSWERED.to_owned()),
        _ => {}
    }
    let (mut lower, mut higher) = (false, false);
    let known: Vec<_> = is.scores.iter().map(|score| &score.by).collect();
    let dropped = was.scores.iter().map(|score| &score.by);
    let dropped = dropped.filter(|by| !known.contains(by)).collect::<Vec<_>>();
    for by in known.iter().chain(&dropped) {
        match (score(was, by), score(is, by)) {
            (Some(before), Some(now)) => {
                let (before_is, now_is) = ((before.passed, before.value), (now.passed, now.value));
                lower |= before_is > now_is;
                higher |= before_is < now_is;
                if before_is != now_is && is.error.is_none() {
                    let note = now.note.filter(|_| before_is > now_is);
                    what.push(wording::changed(by, before.value, now.value, note));
                }
            }
            (None, Some(now)) => what.push(wording::scorer_is_new(by, now.value)),
            (_, None) => {}
        }
    }
    let direction = match (was.passed, is.passed) {
        (true, false) => Direction::Worse,
        (false, true) => Direction::Better,
        _ if lower => Direction::Worse,
        _ if higher => Direction::Better,
        _ => Direction::Same,
    };
    let name = is.name.clone();
    (direction, Change { name, what })
}

/// Returns the score that the scorer `by` gave. If it gave none, the result is the failing score 0 for a case with an
/// error, and `None` for any other case.
fn score(case: &CaseReport, by: &str) -> Option<Score> {
    let mut scores = case.scores.iter();
    let found = scores.find(|score| score.by == by);
    match found {
        Some(found) => Some(found.score.clone()),
        None => case.error.as_ref().map(|_| Score::from(false)),
    }
}
