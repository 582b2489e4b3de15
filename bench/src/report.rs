//! Results of a benchmark: a table, the machine and the date, written as JSON, as a chart and into the README.

use crate::{
    plot,
    table::{Cell, Table},
};
use agents::run::Timestamp;
use serde::Serialize;
use std::{
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

/// The machine on which the figures were measured.
#[derive(Debug, Serialize)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
    pub memory_gib: u64,
    pub os: String,
    pub rustc: String,
}

impl Machine {
    /// Describes this machine.
    pub fn here() -> Machine {
        let file = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let (cpus, memory) = (file("/proc/cpuinfo"), file("/proc/meminfo"));
        let kernel = file("/proc/sys/kernel/osrelease");
        let os = file("/etc/os-release");
        let distribution = entry(&os, "PRETTY_NAME", '=').trim_matches('"');
        let kib: u64 = entry(&memory, "MemTotal", ':')
            .trim_end_matches(" kB")
            .parse()
            .unwrap_or(0);
        Machine {
            cpu: entry(&cpus, "model name", ':').to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: kib.div_ceil(1 << 20),
            os: format!("{distribution}, Linux {}", kernel.trim()),
            rustc: crate::command_output("rustc", &["--version"]),
        }
    }

    /// Describes the machine in one line of text.
    pub fn line(&self) -> String {
        let Machine {
            cpu,
            cores,
            memory_gib,
            os,
            rustc,
        } = self;
        format!("{cpu}, {cores} cores, {memory_gib} GiB; {os}; {rustc}")
    }
}

/// Returns the value of a key from lines of keys and values, with the character `between` in the middle.
fn entry<'a>(text: &'a str, key: &str, between: char) -> &'a str {
    let mut lines = text.lines().filter_map(|line| line.split_once(between));
    lines
        .find(|(name, _)| name.trim() == key)
        .map_or("unknown", |(_, value)| value.trim())
}

/// Returns the current date, such as 2026-11-22.
pub fn today() -> String {
    let now = Timestamp::now().to_string();
    now.split('T').next().unwrap_or_default().to_owned()
}

impl Table {
    /// Writes `results/NAME.json` and `results/NAME.svg`, and puts the table between its markers in `README.md`.
    pub fn write(&self) -> io::Result<()> {
        #[derive(Serialize)]
        struct Stored<'a> {
            date: String,
            machine: &'a Machine,
            #[serde(flatten)]
            table: &'a Table,
        }
        let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (machine, date) = (Machine::here(), today());
        let results = bench.join("results");
        fs::create_dir_all(&results)?;
        let file = |kind: &str| -> PathBuf { results.join(format!("{}.{kind}", self.name)) };
        let footer = format!("{date} · {}", machine.line());
        fs::write(file("svg"), plot::svg(self, &footer))?;
        let stored = Stored {
            date,
            machine: &machine,
            table: self,
        };
        fs::write(file("json"), serde_json::to_string_pretty(&stored)? + "\n")?;
        let readme = bench.join("README.md");
        let text = fs::read_to_string(&readme)?;
        fs::write(readme, self.placed_in(&text, &footer))?;
        println!("written: {}", file("json").display());
        Ok(())
    }

    /// Returns the text of the README, with this table between the markers of its name.
    fn placed_in(&self, text: &str, footer: &str) -> String {
        let (begin, end) = (
            format!("<!-- {} -->\n", self.name),
            format!("<!-- end of {} -->", self.name),
        );
        let place = text.split_once(&begin).and_then(|(before, rest)| {
            let (_, after) = rest.split_once(&end)?;
            Some((before, after))
        });
        match place {
            Some((before, after)) => {
                let Table {
                    name,
                    title,
                    method,
                    ..
                } = self;
                let table = self.markdown();
                format!(
                    "{before}{begin}{method}\n\n{table}\n{footer}\n\n![{title}](results/{name}.svg)\n{end}{after}"
                )
            }
            None => text.to_owned(),
        }
    }

    /// Formats the table as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("| {} | {} |\n|-|", self.unit, self.columns.join(" | "));
        out.push_str(&"-:|".repeat(self.columns.len()));
        out.push('\n');
        for row in &self.rows {
            let cells: Vec<_> = row.cells.iter().map(Cell::text).collect();
            // Writing into a string cannot fail.
            let _ = writeln!(out, "| {} | {} |", row.name, cells.join(" | "));
        }
        out
    }
}
