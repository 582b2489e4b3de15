//! Reads damaged texts and counts the outcomes.

use crate::printed;
use agents_reader::Schema;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{self, Write},
};

/// A damaged text and what it means.
pub(crate) struct Case<'a> {
    /// Kind of damage.
    pub(crate) kind: &'a str,
    /// Schema of the value.
    pub(crate) schema: &'a Value,
    /// Compiled form of `schema`, if it is available.
    pub(crate) compiled: Option<&'a Schema>,
    /// Value that the text had before it was damaged.
    pub(crate) meant: &'a Value,
    /// The damaged text.
    pub(crate) text: &'a str,
}

/// Outcomes of reading, counted.
#[derive(Clone, Copy, Default)]
pub(crate) struct Outcomes {
    pub(crate) right: u64,
    pub(crate) refused: u64,
    pub(crate) wrong: u64,
}

impl Outcomes {
    fn add(&mut self, right: Option<bool>) {
        match right {
            Some(true) => self.right += 1,
            Some(false) => self.wrong += 1,
            None => self.refused += 1,
        }
    }

    fn merge(&mut self, other: Self) {
        self.right += other.right;
        self.refused += other.refused;
        self.wrong += other.wrong;
    }

    fn json(self) -> Value {
        json!({"right": self.right, "refused": self.refused, "wrong": self.wrong})
    }
}

/// Outcomes of one kind of damage.
#[derive(Clone, Copy, Default)]
pub(crate) struct Row {
    pub(crate) n: u64,
    pub(crate) reads: Outcomes,
    pub(crate) writes: Outcomes,
}

impl Row {
    fn merge(&mut self, other: Self) {
        self.n += other.n;
        self.reads.merge(other.reads);
        self.writes.merge(other.writes);
    }
}

/// Outcomes by kind of damage, in the order in which the kinds were first seen.
#[derive(Default)]
pub(crate) struct Table {
    order: Vec<String>,
    rows: BTreeMap<String, Row>,
}

impl Table {
    /// Creates a table with these rows first.
    pub(crate) fn new(kinds: &[&str]) -> Self {
        let mut table = Table::default();
        for kind in kinds {
            table.row(kind);
        }
        table
    }

    fn row(&mut self, kind: &str) -> &mut Row {
        if !self.rows.contains_key(kind) {
            self.order.push(kind.to_owned());
        }
        self.rows.entry(kind.to_owned()).or_default()
    }

    /// Returns the row of a kind.
    #[allow(dead_code, reason = "the test asks for it, the program does not")]
    pub(crate) fn of(&self, kind: &str) -> Row {
        self.rows.get(kind).copied().unwrap_or_default()
    }

    /// Reads a text and counts the outcomes; prints it if it is of the kind to show and went wrong.
    pub(crate) fn add(&mut self, case: &Case<'_>, show: Option<&str>) {
        let made;
        let schema = match case.compiled {
            Some(schema) => schema,
            None => {
                made = Schema::new(case.schema).doubt_unknown_keys();
                &made
            }
        };
        let reading = schema.read(case.text).ok();
        let right = reading.as_ref().map(|reading| {
            serde_json::from_str(&reading.json).is_ok_and(|value| same(&value, case.meant))
        });
        let certain = reading
            .as_ref()
            .is_some_and(|reading| reading.changes.uncertain().is_none());
        self.count(case.kind, right, certain);
        if let Some(reading) = reading
            && right == Some(false)
            && certain
            && show.is_some_and(|show| show == case.kind || show == "all")
        {
            eprintln!(
                "{}\n  text    {:?}\n  read    {}\n  meant   {}\n  changes {}\n  schema  {}",
                case.kind, case.text, reading.json, case.meant, reading.changes, case.schema
            );
        }
    }

    /// Counts one text: `right` is `None` if it was refused.
    pub(crate) fn count(&mut self, kind: &str, right: Option<bool>, certain: bool) {
        let row = self.row(kind);
        row.n += 1;
        row.reads.add(right);
        row.writes.add(right.filter(|_| certain));
    }

    /// Counts a text with printed calls; prints it if it is of the kind to show and went wrong.
    pub(crate) fn add_printed(&mut self, outcome: &printed::Outcome, show: Option<&str>) {
        let printed::Outcome {
            kind,
            text,
            right,
            certain,
            read,
        } = outcome;
        self.count(kind, *right, *certain);
        if *right == Some(false)
            && *certain
            && show.is_some_and(|show| show == *kind || show == "all")
        {
            eprintln!("{kind}\n  text    {text:?}\n  read    {read}");
        }
    }

    /// Adds the counts of another table.
    pub(crate) fn merge(&mut self, other: Table) {
        for kind in &other.order {
            self.row(kind).merge(other.rows[kind]);
        }
    }

    /// Prints a line for each kind and one for all.
    pub(crate) fn print(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let mut all = Row::default();
        let mut line = |kind: &str, row: Row| {
            let Row { n, reads, writes } = row;
            let row = json!({"kind": kind, "n": n, "reads": reads.json(), "writes": writes.json()});
            writeln!(out, "{row}")
        };
        for kind in &self.order {
            let row = self.rows[kind];
            all.merge(row);
            line(kind, row)?;
        }
        line("all", all)?;
        out.flush()
    }
}

/// Returns `true` if two values are equal; `1` equals `1.0`.
fn same(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Number(one), Value::Number(two)) => one == two || one.as_f64() == two.as_f64(),
        (Value::Array(one), Value::Array(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| same(one, two))
        }
        (Value::Object(one), Value::Object(two)) => {
            one.len() == two.len()
                && one
                    .iter()
                    .all(|(key, value)| two.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == two,
    }
}
