//! The results of an eval, as data.

use super::{CaseScore, Diff, case::invalid, wording};
use crate::files;
use agents_core::{Json, Outcome, model::Usage, run::Cost, run::Timestamp};
use serde::{Deserialize, Serialize};
use std::{fs, io, ops::AddAssign, path::Path, process::ExitCode};

/// Version of the format in which reports are written to files.
const FORMAT: u32 = 1;

/// Results of an eval: a row for each case. Its `Display` output is a table.
///
/// ```
/// use agents::{evals::{Case, Eval}, prelude::*};
/// # use agents::testing::{Script, ScriptedModel};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let (model, _) = ScriptedModel::new([Script::text("Oslo"), Script::text("Gothenburg")]);
/// # let geographer = AgentBuilder::<String, String>::new("geographer").model(model).build();
/// let cases = [Case::new("norway", "Norway", "Oslo"), Case::new("sweden", "Sweden", "Stockholm")];
/// let report = Eval::new("capitals", &cases, |country| geographer.run(country)).exact().at_once(1).await;
///
/// println!("{report}");
/// assert_eq!((report.passed(), report.cases.len()), (1, 2));
/// let failed = report.cases.iter().find(|case| !case.passed).unwrap();
/// assert_eq!(failed.name, "sweden");
/// assert_eq!(failed.scores[0].by, "exact");
/// assert_eq!(report.spent().usage.requests, 2);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    agents_evals: u32,
    /// Name of the eval.
    pub name: String,
    /// Time at which the eval began.
    pub at: Timestamp,
    /// Results of the cases, in the order of the cases.
    pub cases: Vec<CaseReport>,
}

/// Result of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CaseReport {
    /// Name of the case, as the eval has it.
    pub name: String,
    /// Is `true` if the run gave an answer and each scorer finds it good enough.
    pub passed: bool,
    /// Answer of the agent, without secrets; `None` if the agent gave no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// Reason why the case has no answer, or why it could not be scored; `None` if neither happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Scores of the case, in the order of the scorers.
    pub scores: Vec<CaseScore>,
    /// Number of tool calls that the run of the case made.
    pub calls: usize,
    /// Tokens and money that the run of the case used.
    pub spent: Spent,
    /// Tokens and money that the judges of the case used.
    pub judging: Spent,
    /// Time that the case took, judges included, in milliseconds.
    pub duration_ms: u64,
}

/// Tokens and money that were used by agents or judges.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Spent {
    /// Tokens and requests that were used.
    pub usage: Usage,
    /// Cost of these requests; `None` if a model that was asked has no price.
    pub cost: Option<Cost>,
}

impl Spent {
    pub(super) fn nothing() -> Self {
        Spent {
            usage: Usage::default(),
            cost: Some(Cost::ZERO),
        }
    }

    pub(super) fn of<T>(outcome: &Outcome<T>) -> Self {
        Spent {
            usage: outcome.usage,
            cost: outcome.cost,
        }
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        self.usage += other.usage;
        self.cost = match (self.cost, other.cost) {
            (Some(mut sum), Some(cost)) => {
                sum += cost;
                Some(sum)
            }
            _ => None,
        };
    }
}

impl CaseReport {
    pub(super) fn new(name: &str) -> Self {
        CaseReport {
            name: name.to_owned(),
            passed: false,
            output: None,
            error: None,
            scores: Vec::new(),
            calls: 0,
            spent: Spent::nothing(),
            judging: Spent::nothing(),
            duration_ms: 0,
        }
    }

    pub(super) fn failed(name: &str, why: &str) -> Self {
        CaseReport {
            error: Some(why.to_owned()),
            ..CaseReport::new(name)
        }
    }
}

impl Report {
    pub(super) fn new(name: String, at: Timestamp, cases: Vec<CaseReport>) -> Self {
        Report {
            agents_evals: FORMAT,
            name,
            at,
            cases,
        }
    }

    /// Returns the number of cases that passed.
    pub fn passed(&self) -> usize {
        self.cases.iter().filter(|case| case.passed).count()
    }

    /// Returns the tokens and the money that all cases and their judges used.
    pub fn spent(&self) -> Spent {
        let mut sum = Spent::nothing();
        for case in &self.cases {
            sum += case.spent;
            sum += case.judging;
        }
        sum
    }

    /// Returns `ExitCode::SUCCESS` if every case passed, and `ExitCode::FAILURE` otherwise.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(u8::from(self.passed() < self.cases.len()))
    }

    /// Compares this report with a later one of the same cases.
    ///
    /// ```
    /// use agents::{evals::{Case, Eval, Report}, prelude::*};
    /// # use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, _) = ScriptedModel::new([Script::text("Oslo"), Script::text("Bergen")]);
    /// # let geographer = AgentBuilder::<String, String>::new("geographer").model(model).build();
    /// # let path = std::env::temp_dir().join(format!("agents-doc-report-{}.json", std::process::id()));
    /// let cases = [Case::new("norway", "Norway", "Oslo".to_owned())];
    /// let report = Eval::new("capitals", &cases, |country| geographer.run(country)).exact().await;
    /// report.write(&path)?;
    ///
    /// // Another day, with another prompt.
    /// let report = Eval::new("capitals", &cases, |country| geographer.run(country)).exact().await;
    /// let diff = Report::read(&path)?.diff(&report);
    /// assert_eq!(diff.worse[0].name, "norway");
    /// println!("{diff}");
    /// let code = diff.exit_code(); // for `main` of a check in CI
    /// # let _ = code;
    /// # std::fs::remove_file(path)?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn diff(&self, later: &Report) -> Diff {
        Diff::of(self, later)
    }

    /// Writes the report to a file, as JSON, in the place of an earlier file. On Unix, only its owner may read the
    /// file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        files::replace(path, format!("{text}\n").as_bytes())
    }

    /// Reads a report from a file.
    ///
    /// # Errors
    /// When the file cannot be read, or holds no report that this version reads. The error names the file, and the
    /// field if one does not fit.
    pub fn read(path: impl AsRef<Path>) -> io::Result<Report> {
        let path = path.as_ref();
        let text = fs::read_to_string(path)
            .map_err(|error| io::Error::new(error.kind(), wording::in_file(path, &error)))?;
        let refused = |what: String| invalid(wording::in_file(path, what));
        let mut reader = serde_json::Deserializer::from_str(&text);
        let report: Report = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            refused(wording::in_field(&error.path().to_string(), error.inner()))
        })?;
        reader.end().map_err(|error| refused(error.to_string()))?;
        match report.agents_evals {
            FORMAT => Ok(report),
            other => Err(refused(wording::of_other_format(other, FORMAT))),
        }
    }
}
