//! Recovery arms without macros, on tools made at run time, and on agents for tools by name.

use crate::world::{Plain, schema_of_n};
use agents::{
    Agent, AgentBuilder, Code, Effects, ErrorKind, ToolFailure,
    journal::MemoryJournal,
    recovery::*,
    testing::{Script, ScriptedModel},
    tool,
    tool::FnTool,
};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

/// Returns a tool that fails the first `failures` times, and the count of its executions.
fn stock(failures: u32) -> (FnTool, Arc<AtomicU32>) {
    let runs = Arc::new(AtomicU32::new(0));
    let count = runs.clone();
    let schema = schema_of_n();
    let tool = FnTool::new(
        "stock",
        "Counts.",
        Effects::Reads,
        schema,
        move |args, _| {
            let run = count.fetch_add(1, SeqCst) + 1;
            async move {
                match run <= failures {
                    true => Err(io::Error::from(io::ErrorKind::ConnectionReset)),
                    false => Ok(args["n"].clone()),
                }
            }
        },
    );
    (tool, runs)
}

/// A repair agent that decides by its request.
#[agents::agent]
fn scribe(request: String) -> String {
    let _ = request;
    r#"{"n": 9}"#.to_owned()
}

fn its_own(error: CallError<'_, AnyError>, cx: &ErrorContext) -> Option<Plan> {
    match error {
        CallError::InvalidArgs(raw, _) if raw.contains("nine") => {
            Some(fix_with::<InvalidArgs>(Scribe).into())
        }
        CallError::Deserialization(Some(value), fault) if fault.field("n") => {
            let length = value.as_array().map(Vec::len);
            Some(sanitize::<Deserialization>(length).into())
        }
        CallError::Execution(Failure::Returned(e)) => {
            let e: &io::Error = e.downcast_ref()?;
            let again = (e.kind() == io::ErrorKind::ConnectionReset).then(retry::<Execution>);
            let decision = again?
                .backoff(none())
                .or(feedback(format!("after {}", cx.attempt())));
            Some(decision.into())
        }
        _ => None,
    }
}

/// Returns the text that the model gets as the result of one call.
async fn told(agent: AgentBuilder<'static, String, String>, arguments: &str) -> String {
    let script = [Script::call("stock", arguments), Script::text("end")];
    let (model, handle) = ScriptedModel::new(script);
    agent.build().run("go").model(model).await.unwrap();
    handle.requests()[1].last().to_owned()
}

fn keeper(tool: FnTool) -> AgentBuilder<'static, String, String> {
    AgentBuilder::new("keeper").tool(tool)
}

#[tokio::test]
async fn a_tool_made_at_run_time_has_arms_for_every_kind() {
    let (tool, runs) = stock(2);
    let tool = tool.on_error(its_own);
    assert_eq!(told(keeper(tool), r#"{"n": 1}"#).await, "1");
    assert_eq!(runs.load(SeqCst), 3, "a retry is a retry");

    let (tool, runs) = stock(100);
    let said = told(keeper(tool.on_error(its_own)), r#"{"n": 1}"#).await;
    assert!(said.ends_with("; after 3"), "{said}");
    assert_eq!(runs.load(SeqCst), 3);

    let (tool, _) = stock(0);
    assert_eq!(
        told(keeper(tool.on_error(its_own)), "nine, I think").await,
        "9"
    );
    let (tool, _) = stock(0);
    let said = told(keeper(tool.on_error(its_own)), r#"{"n": ["a", "b"]}"#).await;
    assert_eq!(said, "2");
}

#[tokio::test]
async fn its_arms_are_asked_between_those_of_the_agent() {
    let hint = |hint: &'static str| {
        move |_: CallError<'_, AnyError>, _: &ErrorContext| {
            Some(Plan::from(feedback::<Execution>(hint)))
        }
    };
    let made = || stock(100).0.on_error(hint("the tool's own"));
    let said = told(keeper(made()).on_error(hint("the default")), r#"{"n": 1}"#).await;
    assert!(said.ends_with("; the tool's own"), "{said}");
    let for_tool = |_: CallError<'_, io::Error>, _: &ErrorContext| {
        Some(Plan::from(feedback::<Execution>("for the tool")))
    };
    let agent = keeper(made()).on_error_of::<io::Error>("stock", for_tool);
    let said = told(agent, r#"{"n": 1}"#).await;
    assert!(said.ends_with("; for the tool"), "{said}");
}

#[tokio::test]
async fn a_stored_plan_finds_a_repair_agent_that_the_tool_lists() {
    let mender = |script: Vec<Script>| {
        let (model, handle) = ScriptedModel::new(script);
        let mender = AgentBuilder::<Repair, String>::new("mender").model(model);
        (Arc::new(mender.build()), handle)
    };
    let agent = |mender: Arc<Plain<Repair>>| {
        let named = mender.clone();
        let tool = stock(0)
            .0
            .fixer(mender)
            .on_error(move |_, _| Some(fix_with::<InvalidArgs>(named.clone()).retries(2).into()));
        keeper(tool).build()
    };
    let journal = MemoryJournal::new();
    let (first, _) = mender(vec![Script::text("no"), Script::text("neither")]);
    let (model, _) = ScriptedModel::new([Script::call("stock", "seven"), Script::text("end")]);
    agent(first)
        .run("go")
        .model(model)
        .journal(journal.clone())
        .await
        .unwrap();
    // The run is interrupted after the first answer of the repair agent's model.
    let stored = crate::world::put_down_after(&journal, "replied", 2);
    let (second, asked) = mender(vec![Script::text(r#"{"n": 7}"#)]);
    let (model, handle) = ScriptedModel::new([Script::text("end")]);
    let agent = agent(second);
    let run = agent.run("go").model(model).journal(stored.journal());
    run.await.unwrap();
    assert_eq!((handle.requests()[0].last(), asked.count()), ("7", 1));
}

#[tokio::test]
async fn arms_for_errors_of_another_type_are_refused_when_built() {
    /// Reads.
    #[tool(reads)]
    async fn load() -> io::Result<()> {
        Ok(())
    }
    let (model, handle) = ScriptedModel::new([]);
    let agent: Plain = AgentBuilder::new("odd")
        .tool(Load)
        .tool(stock(0).0)
        .model(model)
        .on_error_of::<String>("load", |_, _| None)
        .on_error_of::<io::Error>("stock", |_, _| None)
        .on_error_of::<AnyError>("stock", |_, _| None)
        .build();
    let error = agent.run("go").outcome().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    let (text, any) = (error.to_string(), std::any::type_name::<AnyError>());
    let expected = [
        "agent `odd` has `on_error` arms for `load` that are written for errors of type `alloc::string::String`, but it fails with `std::io::error::Error`",
        &format!(
            "agent `odd` has `on_error` arms for `stock` that are written for errors of type `{any}`, but it fails with `std::io::error::Error`"
        ),
    ];
    assert_eq!(text, expected.join("; "));
    assert_eq!(handle.count(), 0);
}

/// An error that asks for a wait of an hour.
#[derive(Debug)]
struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("closed")
    }
}

impl ToolFailure for Closed {
    fn code(&self) -> Code {
        Code::RateLimit
    }

    fn retry_after(&self) -> Option<Duration> {
        Some(Duration::from_secs(3600))
    }
}

/// Asks a service.
#[tool(reads)]
async fn ask() -> Result<(), Closed> {
    Err(Closed)
}

#[tokio::test(start_paused = true)]
async fn what_a_failure_asks_for_is_waited_up_to_the_cap() {
    for (backoff, seconds) in [
        (exponential().cap(Duration::from_secs(2)), 2),
        (exponential(), 60),
        (none(), 60),
        (constant(Duration::from_secs(5)), 60),
        (constant(Duration::from_secs(90)), 90),
    ] {
        let (model, handle) = ScriptedModel::new([Script::call("ask", "{}"), Script::text("end")]);
        let agent: Plain = AgentBuilder::new("patient")
            .tool(Ask)
            .model(model)
            .on_error(move |_, _| {
                Some(retry::<Execution>().max_attempts(2).backoff(backoff).into())
            })
            .build();
        let began = tokio::time::Instant::now();
        agent.run("go").await.unwrap();
        assert_eq!(began.elapsed().as_secs(), seconds, "{backoff:?}");
        let said = handle.requests()[1].last().to_owned();
        assert!(said.ends_with("it may succeed after 3600s"), "{said}");
    }
}
