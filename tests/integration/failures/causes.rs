//! Causes of errors: messages and receipts include them.

use agents::{
    ErrorKind,
    prelude::*,
    testing::{Script, ScriptedModel},
    tool,
    tool::{Effects, ErrorText, FnTool},
};
use std::{error::Error as StdError, fmt, io};

#[derive(Debug)]
struct Load(io::Error);

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot load")
    }
}

impl StdError for Load {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
    }
}

fn load() -> Load {
    Load(io::Error::other("disk on fire"))
}

/// An error without a source.
#[derive(Debug)]
struct Bare;

impl fmt::Display for Bare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bare")
    }
}

/// Fails with an error that has a source.
#[tool(reads)]
async fn of_a_type() -> Result<String, Load> {
    Err(load())
}

/// Fails with an error that has contexts.
#[tool(reads)]
async fn with_context() -> anyhow::Result<String> {
    Err(anyhow::anyhow!("no such file a.toml").context("reading the config"))
}

/// Fails with an error in a box.
#[tool(reads)]
async fn in_a_box() -> Result<String, Box<dyn StdError + Send + Sync>> {
    Err(load())?
}

/// Fails with a text.
#[tool(reads)]
async fn as_text() -> Result<String, Bare> {
    Err(Bare)
}

/// Fails with a typed error that has a source.
#[agent]
async fn typed(_request: String) -> Result<String, Load> {
    Err(load())
}

/// Fails with contexts.
#[agent]
async fn in_context(_request: String) -> anyhow::Result<String> {
    Err(anyhow::anyhow!("inner").context("outer"))
}

/// Fails with a text.
#[agent]
async fn plain(_request: String) -> Result<String, Bare> {
    Err(Bare)
}

/// Calls tools.
#[agent(tools = [OfAType, WithContext, InABox, AsText])]
async fn caller(request: String) -> String;

#[tokio::test]
async fn the_model_and_the_receipt_are_told_what_caused_a_failure() {
    for (tool, said) in [
        ("of_a_type", "cannot load: disk on fire"),
        ("with_context", "reading the config: no such file a.toml"),
        ("in_a_box", "cannot load: disk on fire"),
        ("as_text", "bare"),
    ] {
        let script = [Script::call(tool, "{}"), Script::text("done")];
        let (model, handle) = ScriptedModel::new(script);
        let outcome = Caller.run("go").model(model).outcome().await.unwrap();
        let told = handle.requests()[1].last().to_owned();
        assert_eq!(
            told,
            format!("ERROR UNKNOWN (Terminal) in `{tool}`: {said}")
        );
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert_eq!(receipt.error.as_ref().unwrap().message, said);
    }
}

/// A tool that is made while the program runs, and fails with `error`.
fn made<E, How>(name: &str, error: fn() -> E) -> FnTool
where
    E: ErrorText<How>,
{
    let schema = serde_json::json!({"type": "object"});
    FnTool::new(
        name,
        "Fails.",
        Effects::Reads,
        schema,
        move |_, _| async move { Err::<(), E>(error()) },
    )
}

#[tokio::test]
async fn a_tool_made_at_run_time_is_no_exception() {
    let context = || anyhow::anyhow!("no such file a.toml").context("reading the config");
    let boxed = || -> Box<dyn StdError + Send + Sync> { load().into() };
    for (tool, said) in [
        (made("fails", load), "cannot load: disk on fire"),
        (
            made("fails", context),
            "reading the config: no such file a.toml",
        ),
        (made("fails", boxed), "cannot load: disk on fire"),
        (made("fails", || "bare".to_owned()), "bare"),
        (made("fails", || "bare"), "bare"),
    ] {
        let script = [Script::call("fails", "{}"), Script::text("done")];
        let (model, handle) = ScriptedModel::new(script);
        let caller = AgentBuilder::<String, String>::new("caller")
            .tool(tool)
            .build();
        caller.run("go").model(model).await.unwrap();
        assert!(
            handle.requests()[1].last().ends_with(said),
            "{}",
            handle.requests()[1].last()
        );
    }
}

#[tokio::test]
async fn what_a_body_returned_is_the_source_of_the_error() {
    let error = Typed.run("go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert!(error.source().unwrap().downcast_ref::<Load>().is_some());
    assert_eq!(error.to_string(), "cannot load");
    assert_eq!(format!("{error:#}"), "cannot load: disk on fire");

    let error = InContext.run("go").await.unwrap_err();
    assert_eq!(format!("{error:#}"), "outer: inner");
    assert_eq!(format!("{error:?}"), "outer\n  caused by: inner");

    let error = Plain.run("go").await.unwrap_err();
    assert!(error.source().is_none());
    assert_eq!(format!("{error:#}"), "bare");
}
