//! Counts how many damaged tool calls are read right, refused, or read wrong.
//!
//! ```text
//! cargo run --release -p agents-reader --example damage -- [--n N] [--seed S] [--show KIND]
//! cargo run --release -p agents-reader --example damage -- --cases FILE
//! ```
//!
//! The first form makes N schemas with a value each (10,000 by default), and damages the text of each
//! value in every way that applies to it. The second form takes texts from a file, a line of JSON each:
//! `{"kind", "schema", "meant", "text"}`.
//!
//! Each text is read twice: for a tool that only reads, and for a tool that writes, which refuses an
//! uncertain reading. A line is printed for each kind of damage, and one for all. `--show KIND` prints on
//! standard error what a tool that writes would do wrong.

#![allow(clippy::print_stdout)] // A program that prints its result.

mod damages;
mod generate;
mod printed;
mod score;

use score::{Case, Table};
use serde_json::Value;
use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    process::ExitCode,
    thread,
};

const USAGE: &str =
    "usage: damage [--n N] [--seed S] [--show KIND] | damage --cases FILE [--show KIND]";

fn main() -> ExitCode {
    let options = match Options::from_args(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let table = match &options.cases {
        Some(file) => from_file(file, &options),
        None => Ok(generated(&options)),
    };
    match table.and_then(|table| table.print()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

struct Options {
    n: u64,
    seed: u64,
    cases: Option<String>,
    show: Option<String>,
}

impl Options {
    fn from_args(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Options {
            n: 10_000,
            seed: 1,
            cases: None,
            show: None,
        };
        while let Some(name) = args.next() {
            let value = args.next().ok_or_else(|| format!("{name} needs a value"))?;
            let number = || {
                value
                    .parse()
                    .map_err(|_| format!("{name} needs a number, got {value}"))
            };
            match name.as_str() {
                "--n" => options.n = number()?,
                "--seed" => options.seed = number()?,
                "--cases" => options.cases = Some(value),
                "--show" => options.show = Some(value),
                _ => return Err(format!("unknown option {name}")),
            }
        }
        Ok(options)
    }
}

/// Scores generated texts, on as many threads as there are processors.
fn generated(options: &Options) -> Table {
    let threads = thread::available_parallelism().map_or(1, usize::from) as u64;
    thread::scope(|scope| {
        let run = |first: u64| {
            scope.spawn(move || {
                let mut table = Table::new(&[damages::KINDS, printed::KINDS].concat());
                for index in (first..options.n).step_by(threads as usize) {
                    let value = generate::value(options.seed, index);
                    for (kind, text) in damages::all(&value, options.seed, index) {
                        let case = Case {
                            kind,
                            schema: &value.schema,
                            compiled: Some(&value.compiled),
                            meant: &value.meant,
                            text: &text,
                        };
                        table.add(&case, options.show.as_deref());
                    }
                    for outcome in printed::all(options.seed, index) {
                        table.add_printed(&outcome, options.show.as_deref());
                    }
                }
                table
            })
        };
        let mut running: Vec<_> = (0..threads).map(run).collect();
        let mut table = Table::new(&[damages::KINDS, printed::KINDS].concat());
        for thread in running.drain(..) {
            match thread.join() {
                Ok(part) => table.merge(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        table
    })
}

/// Scores the texts of a file.
fn from_file(file: &str, options: &Options) -> io::Result<Table> {
    let name = |error: io::Error| io::Error::new(error.kind(), format!("{file}: {error}"));
    let mut table = Table::new(&[]);
    for (n, line) in BufReader::new(File::open(file).map_err(name)?)
        .lines()
        .enumerate()
    {
        let line = line.map_err(name)?;
        if line.trim().is_empty() {
            continue;
        }
        let invalid = |why: String| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{file}, line {}: {why}", n + 1),
            )
        };
        let case: Value =
            serde_json::from_str(&line).map_err(|error| invalid(error.to_string()))?;
        let text = |field: &str| {
            case[field]
                .as_str()
                .ok_or_else(|| invalid(format!("`{field}` has to be a string")))
        };
        let case = Case {
            kind: text("kind")?,
            schema: case
                .get("schema")
                .ok_or_else(|| invalid("`schema` is missing".to_owned()))?,
            compiled: None,
            meant: case
                .get("meant")
                .ok_or_else(|| invalid("`meant` is missing".to_owned()))?,
            text: text("text")?,
        };
        table.add(&case, options.show.as_deref());
    }
    Ok(table)
}
