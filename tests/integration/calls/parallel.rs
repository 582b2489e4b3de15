//! Parallel calls: which run at once, how often, and that each gets its own result.

use crate::world::{agent_with, counted, errors, spec, told};
use agents::{
    Agent, AgentBuilder, Budget, Code, Effects,
    Severity::Low,
    ToolError,
    error::Origin,
    rate::{GovernorLimiter, MemoryLimiter, Rate, RateLimiter},
    recovery::{CallError, Execution, escalate, retry},
    run::Timestamp,
    testing::{Script, ScriptedModel},
    tool::{Cache, FnTool, ToolSpec},
};
use serde_json::json;
use std::{
    collections::HashMap,
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::{Instant, sleep};

/// Log of events, in order.
type Log = Arc<Mutex<Vec<String>>>;

/// Creates a tool that takes the time in its arguments, and logs its beginning and end.
fn logged(spec: ToolSpec, log: &Log) -> FnTool {
    let log = log.clone();
    FnTool::with_spec(spec, move |args, _| {
        let log = log.clone();
        async move {
            let name = args["name"].as_str().unwrap_or("?").to_owned();
            log.lock().unwrap().push(format!("+{name}"));
            sleep(Duration::from_millis(
                args["millis"].as_u64().unwrap_or(100),
            ))
            .await;
            log.lock().unwrap().push(format!("-{name}"));
            Ok::<_, io::Error>(name)
        }
    })
}

#[tokio::test(start_paused = true)]
async fn e9_a_sequential_call_runs_alone_in_its_place() {
    let log = Log::default();
    let tools = [
        logged(spec("any", Effects::None), &log),
        logged(spec("alone", Effects::None).sequential(), &log),
    ];
    let calls = [
        ("any", r#"{"name":"a","millis":30}"#),
        ("any", r#"{"name":"b","millis":10}"#),
        ("alone", r#"{"name":"S"}"#),
        ("alone", r#"{"name":"T"}"#),
        ("any", r#"{"name":"c","millis":20}"#),
        ("any", r#"{"name":"d","millis":10}"#),
    ];
    let (agent, handle) = agent_with(tools, [Script::calls(calls), Script::text("done")]);
    agent.run("go").await.unwrap();
    let log = log.lock().unwrap().join(" ");
    assert_eq!(log, "+a +b -b -a +S -S +T -T +c +d -d -c");
    assert_eq!(told(&handle), ["a", "b", "S", "T", "c", "d"]);
}

#[tokio::test(start_paused = true)]
async fn no_more_run_at_once_than_the_run_allows() {
    for (most, seconds) in [(1, 6), (2, 3), (6, 1), (0, 6)] {
        let log = Log::default();
        let tool = logged(spec("any", Effects::None), &log);
        let calls = (0..6).map(|n| ("any", format!(r#"{{"name":"{n}","millis":1000}}"#)));
        let (agent, handle) = agent_with([tool], [Script::calls(calls), Script::text("done")]);
        let began = Instant::now();
        agent.run("go").max_parallel(most).await.unwrap();
        assert_eq!(began.elapsed().as_secs(), seconds);
        assert_eq!(told(&handle), ["0", "1", "2", "3", "4", "5"]);
        let (mut running, mut highest) = (0_usize, 0);
        for event in log.lock().unwrap().iter() {
            match event.starts_with('+') {
                true => running += 1,
                false => running -= 1,
            }
            highest = highest.max(running);
        }
        assert_eq!(highest, most.max(1));
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_a_call_begins_when_its_turn_comes() {
    let tool = logged(
        spec("any", Effects::None).timeout(Duration::from_millis(150)),
        &Log::default(),
    );
    let calls = (0..5).map(|n| ("any", format!(r#"{{"name":"{n}"}}"#)));
    let (agent, _) = agent_with([tool], [Script::calls(calls), Script::text("done")]);
    let outcome = agent.run("go").max_parallel(1).outcome().await.unwrap();
    assert_eq!(errors(&outcome.outputs), [const { None }; 5]);
}

/// Set when it is dropped.
struct Freed(Arc<AtomicBool>);

impl Drop for Freed {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn sixty_four_calls_leave_sixty_four_receipts_in_order() {
    let freed = Arc::new(AtomicBool::new(false));
    let flag = freed.clone();
    let tool = FnTool::with_spec(
        spec("work", Effects::None).timeout(Duration::from_secs(10)),
        move |args, _| {
            let guard = Freed(flag.clone());
            async move {
                match args["n"].as_u64().unwrap_or_default() {
                    7 => Err(io::Error::other("it broke")),
                    13 => {
                        let _guard = guard;
                        std::future::pending().await
                    }
                    21 => panic!("the disk is on fire"),
                    42 => Ok("x".repeat(3_000_000)),
                    n => {
                        std::mem::forget(guard);
                        sleep(Duration::from_millis(1000 - n * 10)).await;
                        Ok(n.to_string())
                    }
                }
            }
        },
    );
    let (model, handle) = ScriptedModel::new([
        Script::calls((0..64).map(|n| ("work", format!(r#"{{"n":{n}}}"#)))),
        Script::text("done"),
    ]);
    let agent = AgentBuilder::<String, String>::new("worker")
        .tool(tool)
        .budget(Budget::new().max_tool_calls(64))
        .model(model)
        .build();
    let began = Instant::now();
    let outcome = agent.run("go").max_parallel(64).outcome().await.unwrap();
    assert_eq!(
        began.elapsed().as_secs(),
        10,
        "as long as the slowest may take"
    );
    assert!(freed.load(SeqCst), "what is too slow is dropped");
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    assert_eq!(receipts.len(), 64);
    for (n, receipt) in receipts.iter().enumerate() {
        assert_eq!(receipt.input.to_value().unwrap()["n"], n);
        assert!(receipt.output.is_some() != receipt.error.is_some());
        assert!(receipt.t_end > Timestamp::default());
        let code = receipt.error.as_ref().map(|error| error.code);
        let expected = match n {
            7 | 21 => Some(Code::Unknown),
            13 => Some(Code::Timeout),
            _ => None,
        };
        assert_eq!(code, expected, "call {n}");
        assert_eq!(receipt.truncated, n == 42);
    }
    let told = told(&handle);
    assert_eq!(told.len(), 64);
    assert_eq!((&*told[6], &*told[63]), ("6", "63"));
}

/// Calls a tool three times whose rate is limited to once a minute, and returns the results.
async fn three(limiter: impl RateLimiter, tenant: &str) -> Vec<Option<(Code, String)>> {
    let (tool, runs) = counted(spec("search", Effects::Reads));
    let calls = [("search", "{}"); 3];
    let (agent, _) = agent_with([tool], [Script::calls(calls), Script::text("done")]);
    let run = agent.run("go").scope(tenant).rate_limits(limiter);
    let outcome = run.outcome().await.unwrap();
    for receipt in outcome
        .outputs
        .receipts()
        .filter(|receipt| !receipt.is_ok())
    {
        let wait = receipt.error.as_ref().unwrap().retry_after_s.unwrap();
        assert!((50.0..=60.0).contains(&wait), "{wait}");
    }
    assert_eq!(
        outcome.outputs.receipts().filter(|r| r.is_ok()).count() as u32,
        runs.load(SeqCst)
    );
    errors(&outcome.outputs)
}

#[tokio::test(start_paused = true)]
async fn a_tool_runs_only_so_often() {
    let limiter = Arc::new(MemoryLimiter::new().limit("sea*", Rate::per_minute(1)));
    let too_often = Some((
        Code::RateLimit,
        "it was called too often; call it again in 60.0s".to_owned(),
    ));
    let expected = [None, too_often.clone(), too_often.clone()];
    assert_eq!(three(limiter.clone(), "acme").await, expected);
    assert_eq!(three(limiter.clone(), "other").await, expected);
    assert_eq!(three(limiter, "acme").await[0], too_often);
}

/// A refusal by a limiter is not an error returned by the tool, and arms are told so.
#[tokio::test]
async fn what_a_limit_refuses_comes_from_the_limit() {
    let (tool, _) = counted(spec("search", Effects::Reads));
    let (model, _) =
        ScriptedModel::new([Script::calls([("search", "{}"); 2]), Script::text("done")]);
    let agent = AgentBuilder::<String, String>::new("worker")
        .tool(tool)
        .model(model)
        .on_error(|error, _| match error {
            CallError::Execution(_) => Some(escalate::<Execution>("too much").severity(Low).into()),
            _ => None,
        })
        .build();
    let limiter = MemoryLimiter::new().limit("search", Rate::per_minute(1));
    let outcome = agent
        .run("go")
        .rate_limits(limiter)
        .outcome()
        .await
        .unwrap();
    let [one] = &*outcome.escalations else {
        panic!("one of two calls is refused: {:?}", outcome.escalations);
    };
    let ToolError::Execution { cause, .. } = &one.escalation.original else {
        panic!("{:?}", one.escalation.original);
    };
    assert_eq!(
        (cause.origin(), cause.code()),
        (Origin::RateLimited, Code::RateLimit)
    );
}

#[tokio::test]
async fn governor_limits_too() {
    let limiter = Arc::new(GovernorLimiter::new().limit("search", Rate::per_minute(1)));
    let codes = |errors: Vec<Option<(Code, String)>>| {
        errors
            .into_iter()
            .map(|error| error.map(|(code, _)| code))
            .collect::<Vec<_>>()
    };
    let limited = Some(Code::RateLimit);
    assert_eq!(
        codes(three(limiter.clone(), "acme").await),
        [None, limited, limited]
    );
    assert_eq!(
        codes(three(limiter, "other").await),
        [None, limited, limited]
    );
    let never = GovernorLimiter::new().limit("*", Rate::new(0, Duration::from_secs(60)));
    assert_eq!(codes(three(never, "acme").await), [limited; 3]);
}

#[tokio::test(start_paused = true)]
async fn an_arm_waits_as_long_as_the_limit_says() {
    let (tool, runs) = counted(spec("search", Effects::Reads));
    let (model, handle) = ScriptedModel::new([
        Script::calls([("search", r#"{"n":1}"#), ("search", r#"{"n":2}"#)]),
        Script::text("done"),
    ]);
    let agent = AgentBuilder::<String, String>::new("patient")
        .tool(tool)
        .on_error(|error, _| match error {
            CallError::Execution(_) => Some(retry::<Execution>().max_attempts(2).into()),
            _ => None,
        })
        .model(model)
        .build();
    let limiter = MemoryLimiter::new().limit("*", Rate::new(1, Duration::from_secs(5)));
    let began = Instant::now();
    let outcome = agent
        .run("go")
        .rate_limits(limiter)
        .outcome()
        .await
        .unwrap();
    assert_eq!(runs.load(SeqCst), 2);
    assert_eq!(errors(&outcome.outputs), [const { None }; 2]);
    assert_eq!(began.elapsed().as_secs(), 5);
    assert_eq!(handle.count(), 2);
}

#[tokio::test]
async fn what_comes_from_a_cache_costs_no_leave() {
    let (tool, runs) = counted(spec("search", Effects::Reads).cache(Cache::Forever));
    let calls = [("search", "{}"); 3];
    let (agent, _) = agent_with([tool], [Script::calls(calls), Script::text("done")]);
    let limiter = MemoryLimiter::new().limit("*", Rate::per_minute(1));
    let outcome = agent
        .run("go")
        .rate_limits(limiter)
        .outcome()
        .await
        .unwrap();
    assert_eq!(errors(&outcome.outputs), [const { None }; 3]);
    assert_eq!(runs.load(SeqCst), 1);
}

/// A call that waits for approval does not delay other calls.
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_approval_takes_no_place() {
    let (asks, _) =
        counted(spec("asks", Effects::Reads).approval(agents::tool::NeedsApproval::Always));
    let (runs_now, runs) = counted(spec("now", Effects::Reads));
    let (agent, _) = agent_with(
        [asks, runs_now],
        [
            Script::calls([("asks", "{}"), ("now", "{}")]),
            Script::text("done"),
        ],
    );
    let seen = Arc::new(AtomicU32::new(0));
    let (at, count) = (seen.clone(), runs.clone());
    let approver = move |_| {
        let (at, count) = (at.clone(), count.clone());
        async move {
            sleep(Duration::from_secs(60)).await;
            at.store(count.load(SeqCst), SeqCst);
            agents::run::Approval::Approve
        }
    };
    let run = agent.run("go").max_parallel(1).approver(approver);
    run.await.unwrap();
    assert_eq!(seen.load(SeqCst), 1);
}

#[tokio::test]
async fn t6_what_a_tool_made_at_run_time_gives_back_is_checked() {
    let schema = json!({
        "type": "object", "properties": {"high": {"type": "number"}}, "required": ["high"],
    });
    let tool = FnTool::with_spec(
        spec("weather", Effects::Reads).output_schema(Some(schema)),
        |args, _| async move { Ok::<_, io::Error>(args) },
    );
    let calls = [
        ("weather", r#"{"high":3,"low":1}"#),
        ("weather", r#"{"low":1}"#),
    ];
    let (agent, handle) = agent_with([tool], [Script::calls(calls), Script::text("done")]);
    let outcome = agent.run("go").outcome().await.unwrap();
    let errors = errors(&outcome.outputs);
    assert_eq!(errors[0], None);
    let (code, message) = errors[1].clone().unwrap();
    assert_eq!(code, Code::Unknown);
    assert!(
        message.starts_with("the output of the tool does not follow its schema:")
            && message.contains("high"),
        "{message}"
    );
    assert!(told(&handle)[1].contains("does not follow its schema"));
}

/// The output says that the tool has run. If it writes, what it did is not known.
#[tokio::test]
async fn an_output_that_cannot_be_used_leaves_the_effect_of_a_write_in_doubt() {
    const UNKNOWN: &str = "whether it took effect is not known";
    for (effects, is_in_doubt) in [(Effects::Writes, true), (Effects::Reads, false)] {
        let paid = json!({
            "type": "object", "properties": {"paid": {"type": "number"}}, "required": ["paid"],
        });
        let unfit = FnTool::with_spec(
            spec("pay", effects).output_schema(Some(paid)),
            |_, _| async { Ok::<_, io::Error>(json!({"paid": "yes"})) },
        );
        // JSON has no keys like these.
        let unwritable = FnTool::with_spec(spec("note", effects), |_, _| async {
            Ok::<_, io::Error>(HashMap::from([((1, 2), 3)]))
        });
        let calls = [("pay", "{}"), ("note", "{}")];
        let again = Script::call("pay", "{}");
        let scripts = [Script::calls(calls), again, Script::text("done")];
        let (agent, handle) = agent_with([unfit, unwritable], scripts);
        let outcome = agent.run("go").outcome().await.unwrap();
        assert_eq!(outcome.result.as_deref().unwrap(), "done");
        let receipts: Vec<_> = outcome.outputs.receipts().collect();
        for (receipt, why) in receipts.iter().zip([
            "the output of the tool does not follow its schema: ",
            "the result cannot be written as JSON: ",
        ]) {
            let error = receipt.error.as_ref().unwrap();
            assert_eq!(error.code, Code::Unknown);
            assert!(error.message.starts_with(why), "{error:?}");
            assert_eq!(error.message.contains(UNKNOWN), is_in_doubt, "{error:?}");
            assert_eq!(receipt.attempts[0].effect_unknown, is_in_doubt);
        }
        let requests = handle.requests();
        let (_, result) = requests[1].results()[0];
        assert_eq!(result.contains(UNKNOWN), is_in_doubt);
        // Nobody is there who could approve another call of a tool in doubt.
        assert_eq!(receipts[2].attempts.is_empty(), is_in_doubt);
    }
}
