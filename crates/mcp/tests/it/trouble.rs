//! Servers in trouble.

use crate::{
    agents_with_servers::{results, told, tools},
    peer::{Notes, server},
};
use agents::{
    AgentBuilder,
    prelude::*,
    testing::{Script, ScriptedModel},
    tool::{NeedsApproval, Scope, ToolPolicy, ToolSet},
};
use agents_mcp::{self as mcp, Mcp, McpErrorKind};
use std::time::{Duration, Instant};

async fn error(mcp: &Mcp) -> mcp::McpError {
    mcp.tools(&Scope::default()).await.unwrap_err()
}

#[tokio::test]
async fn a_server_that_does_not_start_is_named_with_the_reason() {
    let gone = tools(mcp::stdio("no-such-mcp-server", [""; 0]));
    let why = error(&gone).await;
    assert_eq!(why.kind(), McpErrorKind::Unreachable);
    assert!(
        why.to_string()
            .starts_with("the MCP server `no_such` cannot be started as `no-such-mcp-server`: "),
        "{why}"
    );

    let notes = Notes::new("dead");
    let dead = tools(server("dead", &notes));
    let why = error(&dead).await.to_string();
    assert!(
        why.starts_with("the MCP server `peer` failed at the handshake: ")
            && why.contains("; it wrote last: ")
            && why.contains("no licence found"),
        "{why}"
    );
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_asked_less_and_less_often() {
    let notes = Notes::new("backoff");
    let dead = tools(server("dead", &notes));
    let until = Instant::now() + Duration::from_millis(1500);
    let mut waits = 0;
    while Instant::now() < until {
        waits += usize::from(error(&dead).await.to_string().contains("tried again in"));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let starts = notes.count("started");
    assert!(
        (2..=6).contains(&starts) && waits > 10,
        "{starts} starts, {waits} waits"
    );
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_given_up() {
    let notes = Notes::new("silent");
    let silent = tools(server("silent", &notes).connect_timeout(Duration::from_millis(400)));
    let began = Instant::now();
    let why = error(&silent).await;
    assert_eq!(
        why.to_string(),
        "the MCP server `peer` is not ready within 400ms; allow more time with `.connect_timeout(..)`"
    );
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_list_without_end_is_refused() {
    let notes = Notes::new("lists");
    let why = error(&tools(server("circle", &notes))).await;
    assert_eq!(why.kind(), McpErrorKind::Protocol);
    assert_eq!(
        why.to_string(),
        "the MCP server `peer` lists its tools in a circle: a page leads to an earlier one; whoever wrote the server has to mend that"
    );
    let why = error(&tools(server("many", &notes))).await.to_string();
    assert!(why.contains("lists more than 256 tools"), "{why}");
    let many = tools(server("many", &notes).max_tools(2_000));
    assert_eq!(many.tools(&Scope::default()).await.unwrap().len(), 2_000);
    // A message of 6 MB is dropped, so that the list never comes.
    let flood = server("flood", &notes).connect_timeout(Duration::from_secs(2));
    let why = error(&tools(flood)).await.to_string();
    assert!(why.contains("does not list its tools within 2s"), "{why}");
}

#[tokio::test]
async fn a_writing_call_in_which_the_server_dies_is_in_doubt_and_the_next_call_has_a_new_server() {
    let notes = Notes::new("dies");
    let mcp = tools(server("well", &notes));
    let said = told(&mcp, &[("peer_die", "{}")]).await;
    assert!(
        said[0].contains("the MCP server `peer` was lost: "),
        "{}",
        said[0]
    );
    assert!(
        said[0].contains("whether it took effect is not known"),
        "{}",
        said[0]
    );
    let said = told(&mcp, &[("peer_add", r#"{"a": 1, "b": 1}"#)]).await;
    assert_eq!((&*said[0], notes.count("started")), ("2", 2));
}

/// Returns the memory of this process, in bytes.
#[cfg(target_os = "linux")]
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_flood_of_100_megabytes_is_dropped_and_the_server_goes_on() {
    let notes = Notes::new("flood");
    let mcp = tools(server("well", &notes).timeout(Duration::from_secs(20)));
    let flood = async {
        let said = told(&mcp, &[("peer_flood", "{}")]).await;
        assert!(said[0].contains("did not finish within 20s"), "{}", said[0]);
    };
    let mut most = 0;
    let (before, began) = (memory(), Instant::now());
    let watch = async {
        while notes.count("flooded") == 0 {
            most = most.max(memory().saturating_sub(before));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    // The call has no answer: it is given up when the flood is over.
    tokio::select! {
        () = flood => panic!("the flood has been kept for {:?}", began.elapsed()),
        () = watch => {}
    }
    assert!(most < 60 << 20, "{most} bytes were kept");
    let said = told(&mcp, &[("peer_add", r#"{"a": 1, "b": 1}"#)]).await;
    assert_eq!((&*said[0], notes.count("started")), ("2", 1));
}

#[tokio::test]
async fn a_person_is_asked_before_a_tool_in_doubt_runs_again_whatever_the_policies_say() {
    let notes = Notes::new("doubt");
    let mcp = tools(server("well", &notes));
    let trusting = AgentBuilder::<String, String>::new("clerk")
        .tools(ToolSet::new().with_all(&mcp))
        .policy("*", ToolPolicy::new().approval(NeedsApproval::Never))
        .build();
    let dies = || Script::call("peer_die", "{}");
    let (model, handle) = ScriptedModel::new([dies(), dies(), Script::text("done")]);
    let outcome = trusting.run("go").model(model).outcome().await.unwrap();
    assert_eq!(outcome.result.as_deref().unwrap(), "done");
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    assert!(receipts[0].attempts[0].effect_unknown, "{:?}", receipts[0]);
    assert!(receipts[1].attempts.is_empty(), "{:?}", receipts[1]);
    assert!(results(&handle, 2)[0].starts_with("ERROR POLICY_DENIED"));
    assert_eq!(notes.count("called die"), 1);
}

#[tokio::test]
async fn a_reading_call_in_which_the_server_dies_is_a_plain_failure() {
    let notes = Notes::new("reads");
    let mcp = tools(server("well", &notes).reads("peer_die"));
    let said = told(&mcp, &[("peer_die", "{}")]).await;
    assert!(said[0].starts_with("ERROR NETWORK_ERROR"), "{}", said[0]);
    assert!(!said[0].contains("took effect"), "{}", said[0]);
}

#[tokio::test]
async fn a_writing_call_whose_result_cannot_be_read_is_in_doubt_and_a_reading_one_fails() {
    let notes = Notes::new("garbled");
    let writes = tools(server("well", &notes));
    let said = told(&writes, &[("peer_garble", "{}")]).await;
    let why =
        "the MCP server `peer` sends what cannot be read: a part of type image/png is not Base64";
    assert!(said[0].contains(why), "{}", said[0]);
    let unknown = "whether it took effect is not known";
    assert!(said[0].contains(unknown), "{}", said[0]);

    let reads = tools(server("well", &notes).reads("peer_garble"));
    let said = told(&reads, &[("peer_garble", "{}")]).await;
    assert!(said[0].contains(why), "{}", said[0]);
    assert!(!said[0].contains("took effect"), "{}", said[0]);
}
