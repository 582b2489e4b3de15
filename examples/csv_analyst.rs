//! An analyst of a CSV file: looks at columns, computes, and writes a report if a person agrees.
//!
//! `cargo run --example csv_analyst -- qwen3:4b` asks a model of Ollama, and you about the report. Without a name, a
//! scripted model answers, and a function agrees.

use agents::{
    approve::ask_me,
    console::print_line,
    prelude::*,
    run::{Approval, ApprovalRequest},
    testing::{Script, ScriptedModel},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{env, fs, io, path::PathBuf};

const SALES: &str = "city,month,sold\nLisbon,1,120\nLisbon,2,140\nPorto,1,80\nPorto,2,n/a\n";

/// A table: the names of its columns, and its rows.
#[derive(Clone)]
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn parse(text: &str) -> Option<Table> {
        let cells = |line: &str| line.split(',').map(|cell| cell.trim().to_owned()).collect();
        let mut lines = text.lines().map(cells);
        let columns = lines.next()?;
        Some(Table {
            columns,
            rows: lines.collect(),
        })
    }

    fn column(&self, name: &str) -> io::Result<impl Iterator<Item = &str>> {
        let at = self.columns.iter().position(|column| column == name);
        let at = at.ok_or_else(|| {
            let known = self.columns.join(", ");
            io::Error::new(
                io::ErrorKind::NotFound,
                format!("no column `{name}`; there are {known}"),
            )
        })?;
        Ok(self
            .rows
            .iter()
            .filter_map(move |row| row.get(at))
            .map(String::as_str))
    }
}

/// Lists the columns and the first rows.
#[agents::tool(reads)]
async fn look(#[inject] table: Table) -> String {
    let first = table.rows.iter().take(3).map(|row| row.join(","));
    let lines: Vec<_> = [table.columns.join(",")].into_iter().chain(first).collect();
    lines.join("\n")
}

/// What a column of numbers holds.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Numbers {
    count: usize,
    sum: f64,
    mean: f64,
    /// Cells that are no numbers.
    left_out: Vec<String>,
}

tool! {
    /// Adds up a column of numbers.
    #[tool(reads)]
    async fn add_up(
        /// Name of the column.
        column: String,
        #[inject] table: Table,
    ) -> io::Result<Numbers> {
        let (numbers, left_out): (Vec<_>, Vec<_>) =
            table.column(&column)?.map(|cell| cell.parse::<f64>().map_err(|_| cell.to_owned())).partition(Result::is_ok);
        let (count, sum) = (numbers.len(), numbers.iter().flatten().sum::<f64>());
        Ok(Numbers {
            count,
            sum,
            mean: sum / count.max(1) as f64,
            left_out: left_out.into_iter().filter_map(Result::err).collect(),
        })
    }

    on_error {
        execution_error(Returned(_)) => feedback("call `look` for the names of the columns"),
    }
}

/// Writes the report.
#[agents::tool(writes, idempotent, approval = always)]
async fn write_report(
    /// The report, as Markdown.
    text: String,
    #[inject] file: PathBuf,
) -> io::Result<String> {
    fs::write(&file, &text)?;
    Ok(format!("{} bytes written", text.len()))
}

struct Analyst {
    table: Table,
    report: PathBuf,
}

#[agent(tools = [
    Look { table: self.table.clone() },
    AddUp { table: self.table.clone() },
    WriteReport { file: self.report.clone() },
])]
impl Analyst {
    /// You analyse a table with your tools, and write a report. Say which cells you had to leave out.
    async fn analyse(&self, question: String) -> String;
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let analyst = Analyst {
        table: Table::parse(SALES).unwrap_or_else(|| unreachable!("the table has columns")),
        report: env::temp_dir().join(format!("report-{}.md", std::process::id())),
    };
    let run = analyst.run("How many were sold?").on_event(print_line);
    let answer = match env::args().nth(1) {
        Some(name) => run.model(ollama(name)).approver(ask_me).await?,
        None => {
            let agrees = async |_: ApprovalRequest| Approval::Approve;
            run.model(scripted()).approver(agrees).await?
        }
    };
    println!("= {answer}");
    println!("{}", fs::read_to_string(&analyst.report)?);
    fs::remove_file(&analyst.report)?;
    Ok(())
}

fn scripted() -> ScriptedModel {
    let answers = [
        Script::call("add_up", r#"{"column": "sales"}"#),
        Script::call("look", "{}"),
        Script::call("add_up", r#"{"column": "sold",}"#),
        Script::call(
            "write_report",
            r##"{"text": "# Sales\n\n340 were sold; one cell was no number."}"##,
        ),
        Script::text("340 were sold; the report says so."),
    ];
    ScriptedModel::new(answers).0
}
