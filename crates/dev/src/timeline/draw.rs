use super::row::{Kind, Row};
use crate::{
    console::{Ink, duration},
    width::{columns, cut, pad},
};
use agents_core::{run::Timestamp, screen::shown};

/// Default width of a timeline's line, in columns.
pub(super) const WIDTH: usize = 100;

/// Width of the bar that stands for the whole run, in columns.
const BAR: usize = 20;

/// Layout that the lines of a timeline have in common.
pub(super) struct Sheet {
    start: Timestamp,
    now: Timestamp,
    /// Width of the column of names, in columns of the terminal.
    names: usize,
    width: usize,
    /// Is `false` if each line is drawn when its step ends: the length of the whole run, which
    /// scales the bars, is not known at that time.
    bars: bool,
    ink: Ink,
}

impl Sheet {
    /// Creates the sheet for these rows, from the start of the first one until now; `None` if there
    /// are no rows.
    pub(super) fn over(rows: &[Row], now: Timestamp, colour: bool, width: usize) -> Option<Sheet> {
        let named = |row: &Row| row.depth * 2 + 2 + columns(&row.name);
        Some(Sheet {
            start: rows.iter().map(|row| row.start).min()?,
            now,
            names: rows.iter().map(named).max()?.clamp(22, 34),
            width,
            bars: true,
            ink: Ink { colour },
        })
    }

    pub(super) fn without_bars(self) -> Sheet {
        Sheet {
            bars: false,
            ..self
        }
    }

    pub(super) fn line(&self, row: &Row) -> String {
        let name = format!("{}{} {}", "  ".repeat(row.depth), mark(row), row.name);
        let name = pad(&cut(&name, self.names), self.names);
        let time = row.end.unwrap_or(self.now).since(row.start);
        let time = format!("{:>8}", duration(time));
        let facts = match row.facts.is_empty() {
            true => String::new(),
            false => format!("({}) ", row.facts.join(", ")),
        };
        let bar = match self.bars {
            true => format!(" {}", self.bar(row)),
            false => String::new(),
        };
        let left = self.width.saturating_sub(self.names + columns(&bar) + 11);
        let said = cut(&shown(&format!("{facts}{}", row.note)), left);
        let ink = &self.ink;
        let name = match row.kind {
            Kind::Agent => ink.bold(&name),
            Kind::Turn => ink.dim(&name),
            Kind::Call => ink.green(&name),
            Kind::Failed => ink.red(&name),
        };
        let said = match row.kind {
            Kind::Failed if !said.is_empty() => ink.red(&said),
            Kind::Turn if !said.is_empty() => ink.dim(&said),
            _ => said,
        };
        let line = format!("{name}{bar} {}  {said}", ink.dim(&time));
        line.trim_end().to_owned()
    }

    /// Returns the bar of a row, which shows when in the run the step took place. The bar is at least one character
    /// long.
    fn bar(&self, row: &Row) -> String {
        let whole = self.now.since(self.start).as_millis().max(1);
        let place = |at: Timestamp| {
            let cells = at.since(self.start).as_millis() * BAR as u128 / whole;
            usize::try_from(cells).unwrap_or(BAR).min(BAR)
        };
        let from = place(row.start).min(BAR - 1);
        let to = place(row.end.unwrap_or(self.now)).max(from + 1);
        let cell = if row.end.is_some() { "█" } else { "▒" };
        let bar = format!("{}{}", " ".repeat(from), cell.repeat(to - from));
        format!("{bar:<BAR$}")
    }
}

fn mark(row: &Row) -> char {
    match (row.kind, row.end) {
        (Kind::Failed, _) => '✗',
        (Kind::Agent, _) => '▸',
        (Kind::Turn, _) => '·',
        (Kind::Call, Some(_)) => '✓',
        (Kind::Call, None) => '…',
    }
}
