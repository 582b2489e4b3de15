//! Output of a program whose `main` returns the error of a run.

use crate::world::{Plain, scripted_agent};
use agents::{Agent, AgentBuilder, Error, ErrorKind, agent::Skill, testing::Script};
use std::{env, io, process::Command};

/// Program that the next test runs.
#[tokio::test]
#[ignore = "run by the test below"]
async fn a_main_that_fails() -> Result<(), Error> {
    let model = agents::ollama("qwen3:4b").url("http://127.0.0.1:9");
    let agent = AgentBuilder::<String, String>::new("asker")
        .model(model)
        .build();
    agent.run("go").await?;
    Ok(())
}

#[test]
fn a_main_prints_what_a_person_can_read() {
    let program = Command::new(env::current_exe().unwrap())
        .args(["--exact", "failures::printed_by_main::a_main_that_fails"])
        .args(["--ignored", "--nocapture"])
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&program.stderr);
    let line = printed.lines().find(|line| line.starts_with("Error: "));
    let line = line.unwrap_or_else(|| panic!("{printed}"));
    let said = "Error: agent `asker`, turn 1: no server answers at http://127.0.0.1:9 (";
    assert!(line.starts_with(said), "{line}");
    assert!(
        line.contains("`ollama serve`"),
        "it says the way out: {line}"
    );
}

#[tokio::test]
async fn causes_are_told_and_secrets_are_not() {
    let reader: Plain = AgentBuilder::new("reader")
        .skill(Skill::native(
            "read",
            "Reads.",
            |address: String| async move {
                let cause = io::Error::other(format!("{address} was reset"));
                Err(Error::new(ErrorKind::Failed, "the page cannot be read").with_source(cause))
            },
        ))
        .build();
    let printed = |error: Error| format!("{error:?}");
    let error = reader.run("example.com").await.unwrap_err();
    assert_eq!(
        printed(error),
        "the page cannot be read\n  caused by: example.com was reset"
    );
    let run = reader.run("https://hunter2-is-it@example.com");
    let error = run.secret("key", "hunter2-is-it".to_owned()).await;
    let error = error.unwrap_err();
    assert!(!format!("{error:?} {error:#?}").contains("hunter2"));
}

#[tokio::test]
async fn who_threw_and_why_is_one_line() {
    use agents::{Effects, recovery::*, tool::FnTool};
    let schema = serde_json::json!({"type": "object"});
    let open = FnTool::new("open", "Opens.", Effects::Reads, schema, |_, _| async {
        Err::<(), _>("wrong key")
    })
    .on_error(|error, _| match error {
        CallError::Execution(failure) => {
            Some(throw::<Execution>(format!("somebody tries keys: {failure}")).into())
        }
        _ => None,
    });
    let porter = scripted_agent("porter", [Script::call("open", "{}")])
        .tool(open)
        .build();
    let error = porter.run("go").await.unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "`open` threw: somebody tries keys: wrong key"
    );
}
