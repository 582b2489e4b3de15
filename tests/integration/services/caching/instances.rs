//! Caching for tools with different injected values, and for caches written by users.

use super::*;
use crate::world::scripted_agent;

/// A type without `Hash`, so that all its values count as equal.
#[derive(Clone)]
pub(crate) struct Pool;

/// Reads a file under its root.
#[agents::tool(reads, cache = forever)]
async fn read_under(
    #[inject] root: &String,
    #[inject] pool: Pool,
    /// Path of the file.
    path: String,
) -> String {
    let _ = pool;
    format!("{root}/{path}")
}

#[tokio::test]
async fn tools_with_other_values_injected_do_not_share() {
    let cache = SharedCache::new(MemoryCache::new());
    for (root, hit) in [("a", false), ("b", false), ("a", true)] {
        let call = Script::call("read_under", r#"{"path":"x"}"#);
        let tool = ReadUnder {
            root: root.into(),
            pool: Pool,
        };
        let agent = scripted_agent("reader", [call, Script::text("done")])
            .tool(tool)
            .build();
        let outcome = agent
            .run("go")
            .cache(cache.clone())
            .outcome()
            .await
            .unwrap();
        assert_eq!(cached(&outcome), [hit]);
        let output = outcome.outputs.last_tool.unwrap().output.clone().unwrap();
        assert_eq!(output.to::<String>().unwrap(), format!("{root}/x"));
    }
    // Those made at run time say so themselves.
    let mut ran = 0;
    for (server, hit) in [("one", false), ("two", false), ("one", true)] {
        let (tool, runs) = counted(forever(Effects::Reads));
        let (agent, _) = agent_with([tool.cache_namespace(server)], script(&[&["{}"]]));
        let outcome = agent
            .run("go")
            .cache(cache.clone())
            .outcome()
            .await
            .unwrap();
        assert_eq!(cached(&outcome), [hit]);
        ran += runs.load(SeqCst);
    }
    assert_eq!(ran, 2);
}

#[tokio::test]
async fn moka_keeps_results_too() {
    let cache = SharedCache::new(MokaCache::of_bytes(1_000_000));
    let soon = Duration::from_millis(200);
    let spec = || spec("look", Effects::Reads).cache(Cache::Ttl(soon));
    let (tool, runs) = counted(spec());
    let run = async || {
        let (agent, _) = agent_with([tool.clone()], script(&[&["{}"]]));
        agent
            .run("go")
            .scope("acme")
            .cache(cache.clone())
            .await
            .unwrap();
        runs.load(SeqCst)
    };
    assert_eq!((run().await, run().await), (1, 1));
    sleep(soon * 2).await;
    assert_eq!(run().await, 2);
    let (tool, runs) = counted(forever(Effects::Reads));
    for _ in 0..2 {
        let (agent, _) = agent_with([tool.clone()], script(&[&[r#"{"other":1}"#]]));
        agent.run("go").cache(cache.clone()).await.unwrap();
    }
    assert_eq!(runs.load(SeqCst), 1);
}
