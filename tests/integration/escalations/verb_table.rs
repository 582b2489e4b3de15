//! The table "Which verb?" of the book's chapter "Recovery by example", with a run for each row.

use crate::world::{Plain, scripted_model, told};
use agents::{
    Agent, AgentBuilder, Outcome, Severity,
    escalation::{Escalation, Settlement, reroute_to, retry_with_model, return_partial_result},
    prelude::*,
    recovery::Repair,
    run::Stopped,
    testing::{Script, ScriptedModel},
};
use std::{
    fmt,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
};

#[derive(Debug)]
enum Trouble {
    Network,
    NotFound,
    Credentials,
    DiskFull,
    Corrupted,
    Deprecated,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A repair agent that always gives an invalid text.
#[agent]
fn nonsense(request: Repair) -> String {
    format!("nonsense {}", request.attempt)
}

/// Number of network requests.
static ASKED: AtomicU32 = AtomicU32::new(0);

tool! {
    /// Store a report.
    #[tool(writes, idempotent)]
    async fn store(
        /// Path of the report.
        path: String,
    ) -> Result<String, Trouble> {
        Err(match path.as_str() {
            "far" if ASKED.fetch_add(1, SeqCst) == 0 => Trouble::Network,
            "typo" => Trouble::NotFound,
            "safe" => Trouble::Credentials,
            "full" => Trouble::DiskFull,
            "torn" => Trouble::Corrupted,
            "old" => Trouble::Deprecated,
            "bug" => panic!("index out of bounds"),
            _ => return Ok(format!("stored at {path}")),
        })
    }

    on_error {
        invalid_args(_, _) => fix(agent = Nonsense, retries = 3).or(escalate("three repairs were nonsense")),
        execution_error(Returned(trouble)) => match trouble {
            Trouble::Network     => retry(max_attempts = 3),
            Trouble::NotFound    => escalate("the folder is not there", severity = Medium),
            Trouble::Credentials => throw("the credentials are invalid"),
            Trouble::DiskFull    => escalate("the disk is full"),
            Trouble::Corrupted   => throw("the archive is corrupted"),
            Trouble::Deprecated  => escalate("deprecated, use `archive`", severity = Low),
        },
        execution_error(TimedOut(_))   => retry(max_attempts = 3),
        execution_error(Panicked(why)) => throw(format!("a bug in `store`: {why}")),
    }
}

/// Stores the report with the tool that replaces the old one.
#[agent]
fn archivist(task: String) -> String {
    format!("{task}: archived")
}

/// Runs a parent with handlers that stores a report at this path.
async fn storing(path: &str) -> (Outcome<String>, ScriptedModel) {
    let arguments = match path {
        "" => "to the archive".to_owned(),
        path => format!(r#"{{"path":"{path}"}}"#),
    };
    let (model, handle) = ScriptedModel::new([
        Script::call("store", arguments),
        Script::text("the report is stored"),
    ]);
    let clerk: Plain = AgentBuilder::new("clerk")
        .tool(Store)
        .model(model)
        .on_escalation(|escalation: Escalation| match &*escalation.reason {
            "the folder is not there" => {
                let again = [
                    Script::call("store", r#"{"path":"near"}"#),
                    Script::text("the report is stored elsewhere"),
                ];
                Some(retry_with_model(scripted_model(again)))
            }
            "three repairs were nonsense" => {
                Some(return_partial_result("without that report".to_owned()))
            }
            reason if reason.starts_with("deprecated") => Some(reroute_to(Archivist)),
            // The model decides about a full disk.
            _ => None,
        })
        .build();
    (clerk.run("report").outcome().await.unwrap(), handle)
}

fn said(outcome: Outcome<String>) -> String {
    outcome.result.unwrap()
}

#[track_caller]
fn thrown(outcome: &Outcome<String>, why: &str) {
    assert!(
        matches!(&outcome.stopped, Some(Stopped::Thrown { reason, .. }) if reason == why),
        "{:?}",
        outcome.stopped
    );
}

#[tokio::test(start_paused = true)]
async fn a_network_timeout_is_retried() {
    let (outcome, handle) = storing("far").await;
    assert_eq!(told(&handle), ["stored at far"]);
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!((receipt.attempts.len(), outcome.escalations.len()), (2, 0));
}

#[tokio::test]
async fn a_file_that_is_not_there_is_escalated_and_another_path_is_tried() {
    let (outcome, _) = storing("typo").await;
    assert_eq!(outcome.escalations[0].escalation.severity, Severity::Medium);
    assert_eq!(said(outcome), "the report is stored elsewhere");
}

#[tokio::test]
async fn nonsense_three_times_is_escalated_and_the_task_left_out() {
    let (outcome, _) = storing("").await;
    assert_eq!(outcome.escalations[0].escalation.attempts, 3);
    assert!(outcome.partial);
    assert_eq!(said(outcome), "without that report");
}

#[tokio::test]
async fn invalid_credentials_are_thrown() {
    thrown(&storing("safe").await.0, "the credentials are invalid");
}

#[tokio::test]
async fn a_full_disk_is_escalated_and_whoever_called_decides() {
    let (outcome, handle) = storing("full").await;
    assert_eq!(outcome.escalations[0].settled, Settlement::ReportedToModel);
    let told = told(&handle);
    assert!(told[0].contains("(HIGH): the disk is full"), "{told:?}");
}

#[tokio::test]
async fn corrupted_data_is_thrown() {
    thrown(&storing("torn").await.0, "the archive is corrupted");
}

#[tokio::test]
async fn a_deprecated_tool_is_escalated_and_its_replacement_found() {
    assert_eq!(said(storing("old").await.0), "report: archived");
}

#[tokio::test]
async fn a_bug_in_the_tool_is_thrown() {
    thrown(
        &storing("bug").await.0,
        "a bug in `store`: index out of bounds",
    );
}
