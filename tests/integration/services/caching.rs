//! Cached results: who may reuse them, for how long, and which results are never cached.

mod instances;

use crate::world::{Plain, agent_with, counted, scripted_model, spec};
use agents::async_trait;
use agents::{
    Agent, AgentBuilder, Effects, Json, Outcome,
    cache::{CacheError, CacheKey, MemoryCache, MokaCache, SharedCache, ToolCache},
    escalation::return_partial_result,
    recovery::{CallError, InvalidOutput, escalate},
    secret::SecretStore,
    testing::Script,
    tool::{Cache, FnTool, Scope, ToolSpec},
};
use serde_json::json;
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::{Instant, advance, sleep};

fn forever(effects: Effects) -> ToolSpec {
    spec("look", effects).cache(Cache::Forever)
}

/// Returns a script of replies with these calls of `look`, and an answer.
fn script(replies: &[&[&str]]) -> Vec<Script> {
    let calls = |args: &&[&str]| Script::calls(args.iter().map(|args| ("look", *args)));
    replies
        .iter()
        .map(calls)
        .chain([Script::text("done")])
        .collect()
}

/// Returns, for each call, `true` if its result came from the cache.
fn cached(outcome: &Outcome<String>) -> Vec<bool> {
    let cached = outcome.outputs.receipts().map(|receipt| {
        assert!(receipt.is_ok(), "{receipt:?}");
        assert_eq!(receipt.attempts.is_empty(), receipt.cached);
        receipt.cached
    });
    cached.collect()
}

/// Scope and secret of a run.
struct Who(Scope, Option<&'static str>);

/// Returns `true` if the call of this run is answered from the cache.
async fn hits(tool: &FnTool, cache: Option<&SharedCache>, Who(scope, secret): Who) -> bool {
    let (agent, _) = agent_with([tool.clone()], script(&[&["{}"]]));
    let mut run = agent.run("go").scope(scope);
    if let Some(cache) = cache {
        run = run.cache(cache.clone());
    }
    if let Some(secret) = secret {
        run = run.secret("token", secret);
    }
    cached(&run.outcome().await.unwrap())[0]
}

#[tokio::test]
async fn k6_the_same_call_runs_once_in_a_run() {
    let (tool, runs) = counted(forever(Effects::Reads));
    let replies: [&[&str]; 3] = [
        &[r#"{"a":1,"b":2}"#],
        &[r#"{ "b" : 2, "a": 1 }"#, r#"{"a":1,"b":3}"#],
        &[r#"{"a":1,"b":2}"#],
    ];
    let (agent, handle) = agent_with([tool], script(&replies));
    let outcome = agent.run("go").outcome().await.unwrap();
    assert_eq!(cached(&outcome), [false, true, false, true]);
    assert_eq!(runs.load(SeqCst), 2);
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    assert_eq!(receipts[0].output, receipts[1].output);
    // Each call has its own id and its own answer, also if its result is cached.
    assert_eq!(outcome.outputs.tools_by_id.len(), 4);
    assert_eq!(handle.requests().pop().unwrap().results().len(), 1);
}

#[tokio::test]
async fn a_cache_is_shared_only_when_it_is_given() {
    let (tool, _) = counted(forever(Effects::Reads));
    let cache = SharedCache::new(MemoryCache::new());
    let acme = || Who("acme".into(), None);
    for (cache, hit) in [
        (None, false),
        (None, false),
        (Some(&cache), false),
        (Some(&cache), true),
    ] {
        assert_eq!(hits(&tool, cache, acme()).await, hit);
    }
    let (tool, runs) = counted(forever(Effects::Reads));
    let (agent, _) = agent_with([tool], script(&[&["{}"], &["{}"]]));
    agent.run("go").no_cache().await.unwrap();
    assert_eq!(runs.load(SeqCst), 2);
}

#[tokio::test]
async fn k6_tenants_never_share_and_users_do_unless_they_have_secrets() {
    let scope = |org: &str, user: &str| Scope::from(org).user(user);
    let (ada, bob) = (|| scope("acme", "ada"), || scope("acme", "bob"));
    for (one, two, shared) in [
        (Who(ada(), None), Who(scope("evil", "ada"), None), false),
        (Who(ada(), None), Who(bob(), None), true),
        (
            Who(ada(), Some("the key")),
            Who(bob(), Some("the key")),
            false,
        ),
        (
            Who(ada(), Some("the key")),
            Who(ada(), Some("the key")),
            true,
        ),
        (
            Who(ada(), Some("the key")),
            Who(ada(), Some("another")),
            false,
        ),
        (Who(ada(), Some("the key")), Who(ada(), None), false),
    ] {
        let what = format!("{:?} {:?}, {:?} {:?}", one.0, one.1, two.0, two.1);
        let (tool, _) = counted(forever(Effects::Reads));
        let cache = SharedCache::new(MemoryCache::new());
        assert!(!hits(&tool, Some(&cache), one).await);
        assert_eq!(hits(&tool, Some(&cache), two).await, shared, "{what}");
    }
}

#[tokio::test]
async fn users_do_not_share_where_secrets_can_be_looked_up() {
    let (tool, runs) = counted(forever(Effects::Reads));
    let cache = SharedCache::new(MemoryCache::new());
    for (user, expected) in [("ada", 1), ("bob", 2), ("ada", 2)] {
        let (agent, _) = agent_with([tool.clone()], script(&[&["{}"]]));
        let run = agent.run("go").scope(Scope::from("acme").user(user));
        let run = run.secrets(SecretStore::new()).cache(cache.clone());
        run.await.unwrap();
        assert_eq!(runs.load(SeqCst), expected);
    }
}

#[tokio::test]
async fn another_version_or_schema_is_another_tool() {
    let cache = SharedCache::new(MemoryCache::new());
    let schema = json!({"type": "object", "properties": {"more": {"type": "string"}}});
    let specs = [
        forever(Effects::Reads),
        forever(Effects::Reads).version("2.0.0"),
        ToolSpec::new("look", "Does it.", Effects::Reads, schema).cache(Cache::Forever),
        forever(Effects::Reads),
    ];
    let mut hits = Vec::new();
    for spec in specs {
        let (tool, _) = counted(spec);
        let (agent, _) = agent_with([tool], script(&[&["{}"]]));
        let outcome = agent
            .run("go")
            .cache(cache.clone())
            .outcome()
            .await
            .unwrap();
        hits.push(cached(&outcome)[0]);
    }
    assert_eq!(hits, [false, false, false, true]);
}

#[tokio::test(start_paused = true)]
async fn k6_results_grow_old() {
    let cache = SharedCache::new(MemoryCache::new());
    let spec = || spec("look", Effects::Reads).cache(Cache::Ttl(Duration::from_secs(60)));
    let (tool, runs) = counted(spec());
    for (wait, expected) in [(0, 1), (59, 1), (1, 2), (59, 2)] {
        advance(Duration::from_secs(wait)).await;
        let (agent, _) = agent_with([tool.clone()], script(&[&["{}"]]));
        agent.run("go").cache(cache.clone()).await.unwrap();
        assert_eq!(runs.load(SeqCst), expected, "after {wait} s more");
    }
}

#[tokio::test]
async fn what_writes_or_fails_is_never_kept() {
    let (tool, runs) = counted(forever(Effects::Writes).polls());
    let (agent, _) = agent_with([tool], script(&[&["{}"], &["{}"]]));
    agent.run("go").await.unwrap();
    assert_eq!(runs.load(SeqCst), 2);

    let count = Arc::new(AtomicU32::new(0));
    let runs = count.clone();
    let flaky = FnTool::with_spec(forever(Effects::Reads), move |_, _| {
        let first = count.fetch_add(1, SeqCst) == 0;
        async move {
            if first {
                Err(io::Error::other("not yet"))
            } else {
                Ok("now")
            }
        }
    });
    let (agent, _) = agent_with([flaky], script(&[&["{}"], &["{}"], &["{}"]]));
    let outcome = agent.run("go").outcome().await.unwrap();
    let kinds: Vec<_> = outcome
        .outputs
        .receipts()
        .map(|receipt| (receipt.is_ok(), receipt.cached))
        .collect();
    assert_eq!(kinds, [(false, false), (true, false), (true, true)]);
    assert_eq!(runs.load(SeqCst), 2);
}

/// A tool that takes a second; it fails if its number is among `failing`.
fn slow(failing: std::ops::Range<u32>) -> (FnTool, Arc<AtomicU32>) {
    let count = Arc::new(AtomicU32::new(0));
    let runs = count.clone();
    let tool = FnTool::with_spec(forever(Effects::Reads), move |_, _| {
        let fails = failing.contains(&count.fetch_add(1, SeqCst));
        async move {
            sleep(Duration::from_secs(1)).await;
            if fails {
                Err(io::Error::other("no"))
            } else {
                Ok("seen")
            }
        }
    });
    (tool, runs)
}

#[tokio::test(start_paused = true)]
async fn the_same_call_at_the_same_time_runs_once() {
    let (tool, runs) = slow(0..0);
    let cache = SharedCache::new(MemoryCache::new());
    let (one, _) = agent_with([tool.clone()], script(&[&["{}"; 10]]));
    let (two, _) = agent_with([tool], script(&[&["{}"; 10]]));
    let began = Instant::now();
    let (one, two) = tokio::join!(
        one.run("go").cache(cache.clone()).outcome(),
        two.run("go").cache(cache).outcome(),
    );
    assert_eq!(runs.load(SeqCst), 1);
    assert!(began.elapsed() < Duration::from_secs(2));
    let hits = [cached(&one.unwrap()), cached(&two.unwrap())].concat();
    assert_eq!(hits.iter().filter(|cached| **cached).count(), 19);
}

#[tokio::test(start_paused = true)]
async fn who_waited_for_a_failure_runs_for_himself() {
    let (tool, runs) = slow(0..1);
    let (agent, _) = agent_with([tool], script(&[&["{}"; 8]]));
    let began = Instant::now();
    let outcome = agent.run("go").outcome().await.unwrap();
    let failed = outcome
        .outputs
        .receipts()
        .filter(|receipt| !receipt.is_ok());
    assert_eq!(failed.count(), 1);
    assert_eq!(runs.load(SeqCst), 8);
    assert!(
        began.elapsed() < Duration::from_secs(3),
        "not one after the other"
    );
}

#[tokio::test(start_paused = true)]
async fn when_the_first_is_gone_another_takes_over() {
    let (tool, runs) = slow(0..0);
    let cache = SharedCache::new(MemoryCache::new());
    let (one, _) = agent_with([tool.clone()], script(&[&["{}"]]));
    let (two, _) = agent_with([tool], script(&[&["{}"]]));
    let gone = cache.clone();
    let first = tokio::spawn(async move { one.run("go").cache(gone).await });
    sleep(Duration::from_millis(500)).await;
    let second = tokio::spawn(async move { two.run("go").cache(cache).outcome().await });
    sleep(Duration::from_millis(100)).await;
    first.abort();
    let outcome = second.await.unwrap().unwrap();
    assert_eq!(cached(&outcome), [false]);
    assert_eq!(runs.load(SeqCst), 2);
}

/// A tool that makes the same call inside its body does not wait for itself.
#[tokio::test(start_paused = true)]
async fn a_call_does_not_wait_for_itself() {
    let depth = Arc::new(AtomicU32::new(0));
    let slot: Arc<std::sync::OnceLock<Plain>> = Arc::default();
    let (inside, runs) = (slot.clone(), depth.clone());
    let tool = FnTool::with_spec(forever(Effects::Reads), move |_, _| {
        let (inside, deep) = (inside.clone(), depth.fetch_add(1, SeqCst) > 0);
        async move {
            match deep {
                true => Ok("the bottom".to_owned()),
                false => inside.get().expect("it is set").run("go").await,
            }
        }
    });
    let (inner, _) = agent_with([tool.clone()], script(&[&["{}"]]));
    slot.set(inner).unwrap();
    let (agent, _) = agent_with([tool], script(&[&["{}"]]));
    let began = Instant::now();
    assert_eq!(agent.run("go").await.unwrap(), "done");
    assert_eq!(runs.load(SeqCst), 2);
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn what_is_partial_is_not_kept() {
    let runs = Arc::new(AtomicU32::new(0));
    let count = runs.clone();
    let tool = FnTool::with_spec(forever(Effects::Reads), move |_, _| {
        count.fetch_add(1, SeqCst);
        async {
            // It gives up, and settles for less.
            AgentBuilder::<String, u32>::new("half")
                .on_error(|error, _| match error {
                    CallError::InvalidOutput(..) => Some(escalate::<InvalidOutput>("no").into()),
                    _ => None,
                })
                .on_escalation(|_| return_partial_result(7))
                .model(scripted_model([Script::text("not a number")]))
                .build()
                .run("go")
                .await
        }
    });
    let (agent, _) = agent_with([tool], script(&[&["{}"], &["{}"]]));
    let outcome = agent.run("go").outcome().await.unwrap();
    assert_eq!(cached(&outcome), [false, false]);
    assert_eq!(runs.load(SeqCst), 2);
}

/// A cache that fails.
enum Broken {
    Fails,
    Hangs,
    Panics,
}

#[async_trait]
impl ToolCache for Broken {
    async fn get(&self, _: &CacheKey) -> Result<Option<Json>, CacheError> {
        match self {
            Broken::Fails => Err("no connection".into()),
            Broken::Hangs => std::future::pending().await,
            Broken::Panics => panic!("the cache is on fire"),
        }
    }

    async fn put(&self, _: &CacheKey, _: &Json, _: Option<Duration>) -> Result<(), CacheError> {
        match self {
            Broken::Fails => Err("no connection".into()),
            Broken::Hangs => std::future::pending().await,
            Broken::Panics => panic!("the cache is on fire"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_does_not_work_has_nothing() {
    for broken in [Broken::Fails, Broken::Hangs, Broken::Panics] {
        let (tool, runs) = counted(forever(Effects::Reads));
        let (agent, _) = agent_with([tool], script(&[&["{}"], &["{}"]]));
        let outcome = agent.run("go").cache(broken).outcome().await.unwrap();
        assert_eq!(cached(&outcome), [false, false]);
        assert_eq!(runs.load(SeqCst), 2);
    }
}
