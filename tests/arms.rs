//! The arms of `on_error`, at run time.

use agents::{
    prelude::*,
    recovery::*,
    testing::{Script, ScriptedModel},
};
use serde_json::json;
use std::{
    io::{self, ErrorKind},
    time::Duration,
};

/// Repairs JSON.
#[agent]
fn json_fixer(request: String) -> String {
    let _ = request;
    r#"{"path": "fixed"}"#.to_owned()
}

tool! {
    /// Read a file's contents.
    #[tool(reads)]
    pub async fn read_file(
        /// Path, relative to the workspace.
        path: String,
        /// Maximum number of lines.
        #[serde(default)]
        lines: Option<u32>,
        #[inject] root: String,
    ) -> io::Result<String> {
        match path.as_str() {
            "gone" => Err(ErrorKind::NotFound.into()),
            _ => Ok(format!("{root}/{path} {lines:?}")),
        }
    }

    on_error {
        invalid_args(raw, _) => fix(cleaned(raw)).or(fix(agent = JsonFixer, retries = 3)),
        deserialization_error(value, error) if error.field("lines") => sanitize(words_to_number(value?.as_str()?)),
        execution_error(Returned(e)) => match e.kind() {
            ErrorKind::NotFound => escalate(format!("not in {root}"), severity = Medium),
            ErrorKind::PermissionDenied => throw("credentials cannot read the workspace"),
            _ => {
                if cx.attempt() > 5 {
                    return feedback("give up");
                }
                retry(max_attempts = 3, backoff = exponential()).or(feedback(format!("still failing: {e}")))
            }
        },
        execution_error(TimedOut(_) | Panicked(_)) => escalate("the reader is sick"),
    }
}

fn cleaned(raw: &str) -> Option<String> {
    raw.strip_prefix("json ").map(str::to_owned)
}

fn words_to_number(words: &str) -> Option<serde_json::Value> {
    (words == "three").then(|| json!(3))
}

fn ask(failure: Failure<'_, io::Error>, attempt: u32) -> Option<Plan> {
    let tool = ReadFile {
        root: "/srv".to_owned(),
    };
    tool.on_error(
        CallError::Execution(failure),
        &ErrorContext::new("read_file").with_attempt(attempt),
    )
}

#[test]
fn arms_are_the_arms_of_a_match() {
    let returned =
        |kind: ErrorKind, attempt| ask(Failure::Returned(&kind.into()), attempt).unwrap();
    // Injected values are in scope, and so is `cx`.
    assert_eq!(
        returned(ErrorKind::NotFound, 1),
        escalate::<Execution>("not in /srv").severity(Severity::Medium)
    );
    assert_eq!(
        returned(ErrorKind::BrokenPipe, 6),
        feedback::<Execution>("give up")
    );
    assert_eq!(
        returned(ErrorKind::BrokenPipe, 1),
        retry::<Execution>()
            .max_attempts(3)
            .backoff(exponential())
            .or(feedback("still failing: broken pipe"))
    );
    assert_eq!(
        ask(Failure::TimedOut(Duration::ZERO), 1).unwrap(),
        escalate::<Execution>("the reader is sick")
    );
}

#[test]
fn what_no_arm_answers_is_left_to_the_next_layer() {
    let tool = ReadFile {
        root: String::new(),
    };
    let cx = ErrorContext::new("read_file");
    let ask = |value: Option<&serde_json::Value>, path| {
        tool.on_error(
            CallError::Deserialization(value, &ReadError::new(path, "expected u32")),
            &cx,
        )
    };
    assert_eq!(
        ask(Some(&json!("three")), "lines").unwrap(),
        sanitize::<Deserialization>(json!(3))
    );
    // A guard that misses, and `?` on nothing.
    assert_eq!(ask(Some(&json!("three")), "path"), None);
    assert_eq!(ask(None, "lines"), None);
}

/// Write a file.
#[agents::tool(writes, idempotent)]
async fn write_file(
    /// Text of the file.
    text: String,
) -> Result<(), String> {
    Err(text)
}

on_error!(
    WriteFile,
    match error {
        execution_error(Returned(e)) if e == "busy" => retry(),
    }
);

#[test]
fn arms_may_stand_by_themselves() {
    let ask = |error: &str| {
        let error = error.to_owned();
        WriteFile.on_error(
            CallError::Execution(Failure::Returned(&error)),
            &ErrorContext::new("write_file"),
        )
    };
    assert_eq!(ask("busy").unwrap(), retry::<Execution>());
    assert_eq!(ask("full"), None);
}

struct Clerk;

#[agent(prompt = "You read files.", tools = [ReadFile { root: "/srv".to_owned() }])]
impl Clerk {
    /// Reads.
    #[skill]
    async fn read(&self, request: String) -> String;

    on_error!(
        ReadFile,
        match error {
            execution_error(Returned(e)) if e.kind() == ErrorKind::NotFound =>
                fix(format!(r#"{{"path": "{}"}}"#, self.other())),
        }
    );
    on_error!(match error {
        invalid_args(_, _) => throw("not asked: the tool has an arm"),
        invalid_output(raw, _) => fix(raw.to_string()),
    });

    fn other(&self) -> &'static str {
        "there"
    }
}

#[tokio::test]
async fn an_agents_arm_for_a_tool_is_asked_before_the_tool() {
    let (model, handle) = ScriptedModel::new([
        Script::call("read_file", r#"{"path": "gone"}"#),
        Script::text("done"),
    ]);
    assert_eq!(Clerk.run("read").model(model).await.unwrap(), "done");
    let requests = handle.requests();
    assert!(
        requests[1].last().contains("/srv/there"),
        "{}",
        requests[1].last()
    );
}

/// A repair agent with knowledge beyond the text.
#[derive(Clone)]
struct Pattern {
    path: String,
}

#[agent]
impl Pattern {
    /// Gives the path it knows.
    #[skill]
    fn repair(&self, request: String) -> String {
        let _ = request;
        json!({ "path": self.path }).to_string()
    }
}

tool! {
    /// Lists a folder.
    #[tool(reads)]
    async fn list(
        /// Path of the file.
        path: String,
        #[inject] pattern: Pattern,
    ) -> String {
        let _ = pattern;
        path
    }

    on_error {
        invalid_args(raw, _) if raw.contains("field") => fix(agent = pattern.clone()),
        invalid_args(raw, _) => {
            let made = Pattern { path: raw.len().to_string() };
            fix_with(made)
        }
    }
}

/// You list folders.
#[agent(tools = [List { pattern: Pattern { path: "known".to_owned() } }], fixers = [Pattern { path: String::new() }])]
async fn lister(request: String) -> String;

#[tokio::test]
async fn a_repair_agent_may_be_a_field_or_made_by_the_arm() {
    for (arguments, listed) in [("from a field", "known"), ("nine char", "9")] {
        let (model, handle) =
            ScriptedModel::new([Script::call("list", arguments), Script::text("done")]);
        Lister.run("list").model(model).await.unwrap();
        assert_eq!(handle.requests()[1].last(), listed);
    }
}

macro_rules! noted {
    ($decision:expr) => {
        $decision
    };
}

tool! {
    /// Counts.
    #[tool(reads)]
    async fn count_lines() -> Result<u32, String> {
        Err("busy".to_owned())
    }

    on_error {
        execution_error(Returned(said)) if said == "busy" => noted!(retry(max_attempts = 5).or(escalate("no", severity = Low))),
        execution_error(_) => {
            noted!(fix(agent = JsonFixer, retries = 2))
        }
    }
}

#[test]
fn verbs_within_other_macros_have_their_keys() {
    let cx = ErrorContext::new("count_lines").with_attempt(1);
    let ask = |said: &str| {
        let said = said.to_owned();
        CountLines.on_error(CallError::Execution(Failure::Returned(&said)), &cx)
    };
    let retried = retry::<Execution>()
        .max_attempts(5)
        .or(escalate("no").severity(Severity::Low));
    assert_eq!(ask("busy").unwrap(), retried);
    assert_eq!(
        ask("gone").unwrap(),
        fix_with::<Execution>(JsonFixer).retries(2)
    );
    assert_eq!(CountLines.fixers().len(), 1);
}
