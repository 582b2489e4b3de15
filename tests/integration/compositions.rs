//! Compositions of agents: order, concurrency, failure and storing.

mod behaviours;
mod first_of;
mod forum;
mod interruption;
mod parallel;
mod until;

use crate::world::{Add, Plain, always_adds, native, scripted_agent};
use agents::{
    Agent, AgentBuilder, Budget, Error, ErrorKind, Severity,
    compose::{
        Contribution, Failed, IterationLimit,
        Step::{Again, Done},
        Transcript, first_of, forum, routed, settled,
    },
    journal::MemoryJournal,
    model::Usage,
    recovery::{CallError, InvalidArgs, fix_with},
    run::{Limit, Stopped, tokens},
    testing::{Script, ScriptedModel},
};
use std::{
    error::Error as _,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Creates an agent that answers with its name after this many seconds.
fn after(name: &'static str, seconds: u64) -> Plain {
    native(name, move |input: String| async move {
        sleep(Duration::from_secs(seconds)).await;
        Ok(format!("{name}({input})"))
    })
}

/// Creates an agent that fails after this many seconds.
fn fails(name: &'static str, seconds: u64) -> Plain {
    failing(name, seconds, || {
        Error::new(ErrorKind::Failed, "out of order")
    })
}

fn failing(name: &'static str, seconds: u64, error: fn() -> Error) -> Plain {
    native(name, move |_| async move {
        sleep(Duration::from_secs(seconds)).await;
        Err(error())
    })
}

/// Counts when it is dropped.
struct Freed(Arc<AtomicU32>);

impl Drop for Freed {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// Creates an agent that never answers, and counts when its work is dropped.
fn endless(name: &'static str, freed: &Arc<AtomicU32>) -> Plain {
    let freed = freed.clone();
    native(name, move |_| {
        let freed = Freed(freed.clone());
        async move {
            let _freed = freed;
            std::future::pending().await
        }
    })
}

/// Creates a model-driven agent that gives these answers, at 15 tokens each.
fn says<const N: usize>(name: &'static str, texts: [&str; N]) -> Plain {
    scripted_agent(name, texts.map(Script::text)).build()
}

fn shout() -> Plain {
    native(
        "shout",
        |text: String| async move { Ok(text.to_uppercase()) },
    )
}

fn join(parts: (String, String)) -> String {
    format!("{}+{}", parts.0, parts.1)
}

#[tokio::test]
async fn map_works_in_the_agent_s_place() {
    let length = shout().map(|text| text.len());
    assert_eq!(
        (length.name(), length.run("abc").await.unwrap()),
        ("shout", 3)
    );
    // `map` adds no level, so a bound on depth does not count it.
    let mapped = says("a", ["x"]).map(|text| text.len()).map(|n| n + 1);
    assert_eq!(
        mapped.run("x").budget(tokens(100).depth(0)).await.unwrap(),
        2
    );
}

#[tokio::test]
async fn routed_hands_on_to_the_target_that_fits() {
    let review = native("review", |n: u32| async move {
        Ok(if n > 9 { Err(n) } else { Ok(n.to_string()) })
    });
    let refuse = native(
        "refuse",
        |n: u32| async move { Ok(format!("{n} is too much")) },
    );
    let routed = routed(
        review,
        (shout(), refuse),
        |cx, verdict: Result<String, u32>, (ship, refuse)| match verdict {
            Ok(text) => ship.run_in(cx, text),
            Err(n) => refuse.run_in(cx, n),
        },
    );
    assert_eq!(routed.name(), "routed(review)");
    assert_eq!(routed.run(3_u32).await.unwrap(), "3");
    assert_eq!(routed.run(12_u32).await.unwrap(), "12 is too much");
}

/// Every operator within the others.
fn everything(seconds: u64) -> impl Agent<In = String, Out = String> {
    let pair = (
        after("a", seconds),
        first_of((after("b", seconds + 1), after("c", seconds))),
    );
    let refined = pair
        .map(join)
        .until(|text| {
            if text.len() > 20 {
                Done(text)
            } else {
                Again(text)
            }
        })
        .at_most(4);
    let checked = settled((refined, fails("d", seconds))).map(|(text, failed)| {
        format!(
            "{}|{}",
            text.unwrap_or_default(),
            failed.expect_err("`d` fails")
        )
    });
    let captain = native("captain", |all: Transcript<String>| async move {
        Ok(all.to_string())
    });
    let discussed =
        forum((checked, vec![shout(), shout()].map(|texts| texts.join("/")))).captain(captain);
    routed(shout(), (discussed,), |cx, text, (discussed,)| {
        discussed.run_in(cx, text)
    })
    .then(first_of(vec![shout()]))
}

#[tokio::test(start_paused = true)]
async fn everything_nests() {
    let started = Instant::now();
    let all = everything(1);
    assert_eq!(all.name(), "routed(shout) > first_of(shout)");
    let text = all.run("x").await.unwrap();
    assert!(
        text.starts_with("TOPIC: X\n\nSETTLED(UNTIL((A, FIRST_OF(B, C))), D): A("),
        "{text}"
    );
    assert!(text.contains("|AGENT `D` FAILED: OUT OF ORDER"), "{text}");
    assert!(text.contains("\n\n[SHOUT, SHOUT]: TOPIC: X"), "{text}");
    assert!(
        started.elapsed() <= Duration::from_secs(4),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_composite_runs_in_a_spawned_task_and_repairs_calls() {
    let text = tokio::spawn(async { everything(0).run("x").await })
        .await
        .unwrap()
        .unwrap();
    assert!(text.starts_with("TOPIC: X"));
    let fixer = first_of((
        fails("broken", 0),
        native("fix", |_: String| async move {
            Ok("{\"left\":1,\"right\":2}".to_owned())
        }),
    ));
    let fixer = Arc::new(fixer.then(native("check", |text: String| async move { Ok(text) })));
    let agent = scripted_agent("adder", [Script::call("add", "?"), Script::text("done")])
        .tool(Add)
        .on_error(move |error, _| match error {
            CallError::InvalidArgs(..) => Some(fix_with::<InvalidArgs>(fixer.clone()).into()),
            _ => None,
        })
        .build();
    let outcome = agent.run("x").outcome().await.unwrap();
    assert_eq!(
        outcome
            .outputs
            .receipts()
            .next()
            .unwrap()
            .output
            .as_ref()
            .unwrap()
            .as_str(),
        "3"
    );
}

#[tokio::test(start_paused = true)]
async fn a_shared_budget_ends_the_whole_and_nothing_swallows_it() {
    let freed = Arc::new(AtomicU32::new(0));
    let greedy = || {
        let (model, _) = always_adds();
        AgentBuilder::<String, String>::new("greedy")
            .tool(Add)
            .model(model)
            .build()
    };
    let all = settled((
        first_of((greedy(), endless("a", &freed))),
        endless("b", &freed),
    ));
    let outcome = all.run("x").budget(tokens(40)).outcome().await.unwrap();
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Budget {
            agent: "settled(first_of(greedy, a), b)".into(),
            limit: Limit::Tokens(40)
        })
    );
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Budget);
    assert_eq!((outcome.usage.requests, freed.load(SeqCst)), (3, 2));
    // The same holds for an agent's own budget.
    let outcome = first_of((greedy(), endless("a", &freed)))
        .run("x")
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Budget {
            agent: "greedy".into(),
            limit: Limit::Turns(10)
        })
    );
    assert_eq!(freed.load(SeqCst), 3);
    // The two agents together exceed the budget; neither would alone.
    let pair = (says("a", ["x"]), says("b", ["y"])).then(says("c", ["z"]).into_pair());
    let outcome = pair.run("x").budget(tokens(30)).outcome().await.unwrap();
    assert!(matches!(
        outcome.stopped,
        Some(Stopped::Budget {
            limit: Limit::Tokens(30),
            ..
        })
    ));
    assert_eq!(outcome.usage.requests, 2);
}

/// An agent of texts, for pairs of texts.
trait IntoPair {
    fn into_pair(self) -> impl Agent<In = (String, String), Out = String>;
}

impl IntoPair for Plain {
    fn into_pair(self) -> impl Agent<In = (String, String), Out = String> {
        native(
            "join",
            |parts: (String, String)| async move { Ok(join(parts)) },
        )
        .then(self)
    }
}

#[tokio::test(start_paused = true)]
async fn cancelling_frees_all_parts() {
    let freed = Arc::new(AtomicU32::new(0));
    let all = settled((
        first_of((endless("a", &freed), endless("b", &freed))),
        vec![endless("c", &freed)],
    ));
    let token = CancellationToken::new();
    let trigger = token.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(1)).await;
        trigger.cancel();
    });
    let outcome = all.run("x").cancel(token).outcome().await.unwrap();
    assert_eq!(
        (outcome.stopped, freed.load(SeqCst)),
        (Some(Stopped::Cancelled), 3)
    );
}
