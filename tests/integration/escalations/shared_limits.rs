//! Limits shared by a tree of agents: budgets, and the end of the run.

use super::team::passes_on;
use crate::world::{Plain, scripted_agent};
use agents::{
    Agent, Budget,
    prelude::*,
    run::{Limit, Stopped},
    team::Member,
    testing::Script,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Counts the waiting calls.
struct Waiting(Arc<AtomicU32>);

impl Waiting {
    fn new(count: &Arc<AtomicU32>) -> Waiting {
        count.fetch_add(1, SeqCst);
        Waiting(count.clone())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

tool! {
    /// Waits for an hour.
    #[tool(none, timeout = Duration::from_secs(7200))]
    async fn linger(#[inject] waiting: Arc<AtomicU32>) -> String {
        let _here = Waiting::new(&waiting);
        tokio::time::sleep(Duration::from_secs(3600)).await;
        "done".to_owned()
    }
}

fn lingering(name: &'static str, waiting: &Arc<AtomicU32>) -> Plain {
    scripted_agent(name, [Script::call("linger", "{}"), Script::text("end")])
        .tool(Linger {
            waiting: waiting.clone(),
        })
        .build()
}

#[tokio::test(start_paused = true)]
async fn when_the_root_is_cancelled_everybody_stops_at_once() {
    let waiting = Arc::default();
    let both = Script::calls([("a", r#"{"input":"x"}"#), ("b", r#"{"input":"x"}"#)]);
    let team = Member::new(scripted_agent("boss", passes_on("lead", "go")).build())
        .delegate(
            Member::new(scripted_agent("lead", [both]).build())
                .delegate(lingering("a", &waiting))
                .delegate(lingering("b", &waiting)),
        )
        .build();
    let token = CancellationToken::new();
    let stop = token.clone();
    let seen = waiting.clone();
    let watcher = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(seen.load(SeqCst), 2, "both are at work");
        stop.cancel();
    });
    let begun = tokio::time::Instant::now();
    let outcome = team.run("go").cancel(token).outcome().await.unwrap();
    watcher.await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_secs(60));
    assert_eq!(waiting.load(SeqCst), 0, "nobody is left");
    assert!(matches!(outcome.stopped, Some(Stopped::Cancelled)));
    assert_eq!(
        outcome.outputs.receipts().count(),
        5,
        "boss ► lead ► a, b ► linger, linger"
    );
}

#[tokio::test(start_paused = true)]
async fn the_roots_time_goes_for_everybody_below() {
    let waiting = Arc::default();
    let team = Member::new(scripted_agent("boss", passes_on("a", "go")).build())
        .budget(Budget::new().time(Duration::from_secs(5)))
        .delegate(lingering("a", &waiting))
        .build();
    let begun = tokio::time::Instant::now();
    let outcome = team.run("go").outcome().await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_secs(5));
    assert_eq!(waiting.load(SeqCst), 0);
    assert!(matches!(
        outcome.stopped,
        Some(Stopped::Budget {
            limit: Limit::Time(_),
            ..
        })
    ));
}

#[tokio::test]
async fn the_roots_tokens_are_used_up_by_everybody_below() {
    // A scripted reply costs two tokens; four replies are needed in all.
    let team = |tokens: u64| {
        Member::new(scripted_agent("boss", passes_on("a", "go")).build())
            .budget(agents::run::tokens(tokens))
            .delegate(
                scripted_agent("a", [Script::call("nothing", "{}"), Script::text("end")]).build(),
            )
            .build()
    };
    let cost = team(1_000)
        .run("go")
        .outcome()
        .await
        .unwrap()
        .usage
        .tokens();
    assert!(cost >= 3);
    let outcome = team(cost - 1).run("go").outcome().await.unwrap();
    match outcome.stopped {
        Some(Stopped::Budget {
            limit: Limit::Tokens(_),
            agent,
        }) => assert_eq!(agent, "boss"),
        other => panic!("{other:?}"),
    }
}
