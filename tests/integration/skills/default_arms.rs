//! Recovery arms of a skill, which apply to all tools that it uses.

use agents::{
    Agent, AgentBuilder, Error, ErrorKind, agent,
    agent::Skill,
    recovery::*,
    testing::{Script, ScriptedModel},
};
use std::io;

/// Reads a file.
#[agents::tool(reads)]
async fn read_file(
    /// Path of the file.
    path: String,
) -> io::Result<String> {
    Err(io::Error::other(format!("no {path}")))
}

agents::prelude::tool! {
    /// Writes a file.
    #[tool(writes)]
    async fn write_file(
        /// Path of the file.
        path: String,
    ) -> io::Result<()> { Err(io::Error::other(format!("no {path}"))) }

    on_error {
        execution_error(_) => feedback("the tool's own"),
    }
}

/// Deletes a file.
#[agents::tool(writes)]
async fn delete_file(
    /// Path of the file.
    path: String,
) -> io::Result<()> {
    Err(io::Error::other(format!("no {path}")))
}

struct Clerk;

#[agent(prompt = "You are a clerk.", tools = [ReadFile, WriteFile, DeleteFile])]
impl Clerk {
    /// Works on files.
    #[skill(tools = [ReadFile, WriteFile, DeleteFile], when = |task| task.contains("file"))]
    async fn data_ops(&self, task: String) -> String;

    /// Reads, and counts.
    #[skill(tools = [ReadFile], when = |task| task.contains("again"))]
    async fn look_again(&self, task: String) -> String;

    /// Talks.
    #[skill]
    async fn small_talk(&self, task: String) -> String;

    on_error!(
        Self::data_ops,
        match error {
            invalid_args(raw, _) => fix(raw.strip_prefix("args: ").map(str::to_owned)),
            execution_error(_) => feedback("the skill's"),
        }
    );

    // This skill uses only `read_file`, which may be retried.
    on_error!(
        Self::look_again,
        match error {
            execution_error(_) => retry(max_attempts = 2, backoff = none()).or(inherit()),
        }
    );

    on_error!(
        DeleteFile,
        match error {
            execution_error(_) => feedback("the agent's for this tool"),
        }
    );

    on_error!(match error {
        execution_error(_) => feedback("the agent's"),
        invalid_output(_, _) => feedback("the agent's"),
    });
}

/// Returns the hint that the model gets about one call, and the number of executions.
async fn told(task: &str, tool: &str, args: &str) -> (String, usize) {
    let (model, handle) = ScriptedModel::new([Script::call(tool, args), Script::text("end")]);
    let outcome = Clerk.run(task).model(model).outcome().await.unwrap();
    let receipt = outcome.outputs.receipts().next().unwrap();
    let told = handle.requests()[1].last().to_owned();
    let hint = told.rsplit("; ").next().unwrap().to_owned();
    (hint, receipt.attempts.len())
}

#[tokio::test]
async fn the_arms_of_a_skill_are_for_its_tools_unless_one_has_its_own() {
    const FILE: &str = r#"{"path": "a"}"#;
    for (task, tool, args, hint, attempts) in [
        ("the file", "read_file", FILE, "the skill's", 1),
        (
            "the file",
            "read_file",
            r#"args: {"path": "a"}"#,
            "the skill's",
            1,
        ),
        ("the file", "write_file", FILE, "the tool's own", 1),
        (
            "the file",
            "delete_file",
            FILE,
            "the agent's for this tool",
            1,
        ),
        ("hello", "read_file", FILE, "the agent's", 1),
        ("again", "read_file", FILE, "the agent's", 2),
    ] {
        let (told, ran) = told(task, tool, args).await;
        assert!(told.contains(hint), "{task}, {tool} {args}: {told}");
        assert_eq!(ran, attempts, "{task}, {tool} {args}");
    }
}

#[tokio::test]
async fn the_answer_of_a_skill_goes_to_its_arms_first() {
    let counter = |task: &'static str| async move {
        let (model, _) = ScriptedModel::new([Script::text("a dozen"), Script::text("0")]);
        let counter = AgentBuilder::<String, u32>::new("counter")
            .skill(Skill::model("eggs", "Counts eggs.").when(|task| task == "eggs"))
            .skill(Skill::model("other", "Counts."))
            .on_error_of_skill("eggs", |error, _| match error {
                CallError::InvalidOutput(..) => Some(fix::<InvalidOutput>("12".to_owned()).into()),
                _ => None,
            })
            .build();
        counter.run(task).model(model).await
    };
    assert_eq!(counter("eggs").await.unwrap(), 12);
    assert_eq!(counter("men").await.unwrap(), 0);
}

#[tokio::test]
async fn arms_of_a_skill_that_is_not_there_are_refused() {
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .skill(Skill::native(
            "greet",
            "Greets.",
            |name: String| async move { Ok::<_, Error>(name) },
        ))
        .on_error_of_skill("gret", |_, _| None)
        .on_error_of_skill("greet", |_, _| None)
        .build();
    let error = clerk.run("Ada").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert_eq!(
        error.message(),
        "agent `clerk` has `on_error` arms for the skill `gret`, which is not among its skills; correct the name, or \
         remove them; agent `clerk` has `on_error` arms for its skill `greet`, which has a body: no model makes calls \
         there; remove the one or the other"
    );
}
