//! Reports and their differences as tables.

use super::{CaseReport, Change, Diff, Report, Score, Spent};
use crate::width::{columns, cut, pad};
use agents_core::{run::Cost, screen::shown};
use std::{fmt, fmt::Write as _};

/// Greatest width of a name, and of a note, in columns.
const NAME: usize = 40;
const NOTE: usize = 160;

/// Table of text: lines of cells, each column as wide as its widest cell.
struct Table(Vec<Vec<String>>);

impl Table {
    /// Returns the lines of the table. A column is aligned to the right if `right` returns `true` for its number,
    /// counted from 0, and to the left otherwise.
    fn lines(&self, right: impl Fn(usize) -> bool) -> Vec<String> {
        let mut widths = Vec::new();
        for row in &self.0 {
            widths.resize(row.len().max(widths.len()), 0);
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = columns(cell).max(*width);
            }
        }
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(at, (cell, width))| match right(at) {
                true => format!("{}{cell}", " ".repeat(width - columns(cell))),
                false => pad(cell, *width),
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            line.trim_end().to_owned()
        };
        self.0.iter().map(line).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scorers = self.scorers();
        let mut headings = vec![String::new(), "case".into()];
        headings.extend(scorers.iter().map(|name| cut(&shown(name), NAME)));
        headings.extend(["calls", "tokens", "cost", "time"].map(String::from));
        let mut table = Table(vec![headings]);
        for case in &self.cases {
            table.0.push(row(case, &scorers));
        }
        let of = self.cases.len();
        let total = money(self.spent());
        writeln!(
            f,
            "{}: {} of {of} passed, {total}",
            shown(&self.name),
            self.passed()
        )?;
        let first_number = scorers.len() + 2;
        let mut lines = table.lines(|at| at >= first_number).into_iter();
        if let Some(headings) = lines.next() {
            f.write_str(&headings)?;
        }
        for (line, case) in lines.zip(&self.cases) {
            write!(f, "\n{line}")?;
            for why in why(case) {
                write!(f, "\n     {}", cut(&shown(&why), NOTE))?;
            }
        }
        Ok(())
    }
}

impl Report {
    /// Returns the names of all scorers in the report, in order.
    fn scorers(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for score in self.cases.iter().flat_map(|case| &case.scores) {
            if !names.contains(&&*score.by) {
                names.push(&*score.by);
            }
        }
        names
    }
}

fn row(case: &CaseReport, scorers: &[&str]) -> Vec<String> {
    let mut row = vec![mark(case.passed).to_owned(), cut(&shown(&case.name), NAME)];
    row.extend(scorers.iter().map(|name| {
        let score = case.scores.iter().find(|score| score.by == *name);
        score.map_or_else(|| "-".to_owned(), |score| value(&score.score))
    }));
    let mut spent = case.spent;
    spent += case.judging;
    row.push(case.calls.to_string());
    row.push(spent.usage.tokens().to_string());
    row.push(cost(spent.cost));
    row.push(format!("{:.1} s", case.duration_ms as f64 / 1000.0));
    row
}

/// Returns the reasons why a case did not pass, as far as they are known: its error, and the notes of its failed
/// scores.
fn why(case: &CaseReport) -> Vec<String> {
    let failed = case.scores.iter().filter(|score| !score.score.passed);
    let notes = failed.filter_map(|score| {
        let note = score.score.note.as_deref()?;
        Some(format!("{}: {note}", score.by))
    });
    case.error.clone().into_iter().chain(notes).collect()
}

fn mark(passed: bool) -> &'static str {
    if passed { "✓" } else { "✗" }
}

fn value(score: &Score) -> String {
    match score.value {
        1.0 if score.passed => "✓".to_owned(),
        0.0 if !score.passed => "✗".to_owned(),
        value => format!("{} {value:.2}", mark(score.passed)),
    }
}

fn cost(cost: Option<Cost>) -> String {
    cost.map_or_else(|| "-".to_owned(), |cost| cost.to_string())
}

fn money(spent: Spent) -> String {
    let tokens = spent.usage.tokens();
    match spent.cost {
        Some(cost) => format!("{tokens} tokens, cost {cost}"),
        None => format!("{tokens} tokens, cost unknown"),
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} worse, {} better, {} new, {} gone, {} as before",
            shown(&self.name),
            self.worse.len(),
            self.better.len(),
            self.new.len(),
            self.gone.len(),
            self.same
        )?;
        let changes = [("worse", &self.worse), ("better", &self.better)];
        let changes = changes
            .into_iter()
            .flat_map(|(word, changes)| changes.iter().map(move |change| (word, change)));
        let changes = changes.map(|(word, change)| row_of_change(word, change));
        let new = self.new.iter().map(|case| {
            let what = if case.passed {
                "passes"
            } else {
                "does not pass"
            };
            vec!["new".into(), cut(&shown(&case.name), NAME), what.into()]
        });
        let gone = self.gone.iter();
        let gone = gone.map(|name| vec!["gone".into(), cut(&shown(name), NAME), String::new()]);
        let table = Table(changes.chain(new).chain(gone).collect());
        for line in table.lines(|_| false) {
            write!(f, "\n{line}")?;
        }
        write!(
            f,
            "\nbefore: {}; now: {}",
            money(self.before),
            money(self.now)
        )
    }
}

fn row_of_change(word: &str, change: &Change) -> Vec<String> {
    let mut what = String::new();
    for (at, one) in change.what.iter().enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        _ = write!(what, "{comma}{one}");
    }
    let name = cut(&shown(&change.name), NAME);
    vec![word.to_owned(), name, cut(&shown(&what), NOTE)]
}
