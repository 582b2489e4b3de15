//! Serialised forms that users store or exchange.

use crate::world::{agent_with, spec};
use agents::{
    Agent, Code, Effects, Severity, ToolError,
    blob::MemoryBlobs,
    error::Cause,
    run::{
        AgentOutputs, Clock, OnMissing, PinnedHandle, Selector, Strategy, Timestamp,
        ToolCallMetadata,
    },
    testing::Script,
    tool::{Cache, FnTool},
};
use expect_test::{Expect, expect};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use std::{
    fmt, io,
    process::Command,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
};

/// A clock that advances by 250 ms at each reading.
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_777_000_000_000 + self.0.fetch_add(250, SeqCst))
    }

    fn run_id(&self) -> String {
        "run-1".into()
    }
}

/// Returns outputs with one receipt of every kind.
async fn outputs() -> AgentOutputs {
    let search = spec("web_search", Effects::Reads)
        .version("1.2.0")
        .cache(Cache::Forever);
    let tool = FnTool::with_spec(search, |args, _| async move {
        match args["query"].as_str() {
            Some("rust") => Ok("r".repeat(40)),
            _ => Err(io::Error::other("no such word")),
        }
    });
    let replies = [
        Script::call("web_search", r#"{"query": "rust"}"#),
        Script::call("web_search", r#"{"query": "rust",}"#),
        Script::call("web_search", r#"{"query": 3}"#),
        Script::text("found it"),
    ];
    let (agent, _) = agent_with([tool], replies);
    let run = agent.run("go").clock(Ticking(AtomicU64::new(0)));
    let run = run.blobs(MemoryBlobs::new()).max_output_bytes(30);
    run.outcome().await.unwrap().outputs
}

/// Checks a value's serialised form, and that deserialising gives the value again.
fn wire<T: Serialize + DeserializeOwned + PartialEq + fmt::Debug>(value: &T, expected: Expect) {
    let text = serde_json::to_string_pretty(value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), *value);
    expected.assert_eq(&text);
}

#[tokio::test]
async fn o4_outputs_and_their_receipts() {
    wire(
        &outputs().await,
        expect![[r#"
            {
              "response": "found it",
              "tools_by_id": {
                "11e9a0ae118995de28081d29f2b3bab7": {
                  "call_id": "11e9a0ae118995de28081d29f2b3bab7",
                  "name": "web_search",
                  "version": "1.2.0",
                  "input": {"query": 3},
                  "error": {
                    "code": "UNKNOWN",
                    "class": "Terminal",
                    "kind": "ExecutionError",
                    "message": "no such word"
                  },
                  "t_start": "2026-04-24T03:06:45.250Z",
                  "t_end": "2026-04-24T03:06:46.500Z",
                  "attempts": [
                    {
                      "number": 1,
                      "error": {
                        "code": "UNKNOWN",
                        "class": "Terminal",
                        "kind": "ExecutionError",
                        "message": "no such word"
                      }
                    }
                  ]
                },
                "84b5b1d29fe0f23bcb92947f8266d933": {
                  "call_id": "84b5b1d29fe0f23bcb92947f8266d933",
                  "name": "web_search",
                  "version": "1.2.0",
                  "input": {"query":"rust"},
                  "output": "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrr",
                  "t_start": "2026-04-24T03:06:43.500Z",
                  "t_end": "2026-04-24T03:06:44.500Z",
                  "cached": true,
                  "truncated": true,
                  "attachments": [
                    {
                      "kind": "blob",
                      "url": "memory:e3b0c44298fc1c14/ee1c0118a58f44380effab325f1207a8521074f086b746b3ed21f172e9f05853",
                      "content_type": "text/plain; charset=utf-8",
                      "bytes": 40
                    }
                  ],
                  "attempts": [],
                  "repairs": [
                    {
                      "kind": "trailing_comma",
                      "path": "query",
                      "note": "trailing comma dropped"
                    }
                  ]
                },
                "94e7771358422a34a30cf73ea399f180": {
                  "call_id": "94e7771358422a34a30cf73ea399f180",
                  "name": "web_search",
                  "version": "1.2.0",
                  "input": {"query": "rust"},
                  "output": "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrr",
                  "t_start": "2026-04-24T03:06:41.500Z",
                  "t_end": "2026-04-24T03:06:42.750Z",
                  "truncated": true,
                  "attachments": [
                    {
                      "kind": "blob",
                      "url": "memory:e3b0c44298fc1c14/ee1c0118a58f44380effab325f1207a8521074f086b746b3ed21f172e9f05853",
                      "content_type": "text/plain; charset=utf-8",
                      "bytes": 40
                    }
                  ],
                  "attempts": [
                    {
                      "number": 1
                    }
                  ]
                }
              },
              "tool_order": [
                "94e7771358422a34a30cf73ea399f180",
                "84b5b1d29fe0f23bcb92947f8266d933",
                "11e9a0ae118995de28081d29f2b3bab7"
              ],
              "last_tool": {
                "call_id": "84b5b1d29fe0f23bcb92947f8266d933",
                "name": "web_search",
                "version": "1.2.0",
                "input": {"query":"rust"},
                "output": "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrr",
                "t_start": "2026-04-24T03:06:43.500Z",
                "t_end": "2026-04-24T03:06:44.500Z",
                "cached": true,
                "truncated": true,
                "attachments": [
                  {
                    "kind": "blob",
                    "url": "memory:e3b0c44298fc1c14/ee1c0118a58f44380effab325f1207a8521074f086b746b3ed21f172e9f05853",
                    "content_type": "text/plain; charset=utf-8",
                    "bytes": 40
                  }
                ],
                "attempts": [],
                "repairs": [
                  {
                    "kind": "trailing_comma",
                    "path": "query",
                    "note": "trailing comma dropped"
                  }
                ]
              }
            }"#]],
    );
}

#[tokio::test]
async fn o8_one_call_in_a_line() {
    let outputs = outputs().await;
    let receipts: Vec<_> = outputs.receipts().collect();
    wire(
        &ToolCallMetadata::of(receipts[0], "worker", "trace-1"),
        expect![[r#"
            {
              "tool_name": "web_search",
              "agent_name": "worker",
              "latency_ms": 1250,
              "ok": true,
              "trace_id": "trace-1",
              "started_at": "2026-04-24T03:06:41.500Z",
              "ended_at": "2026-04-24T03:06:42.750Z"
            }"#]],
    );
    wire(
        &ToolCallMetadata::of(receipts[2], "worker", "trace-1"),
        expect![[r#"
            {
              "tool_name": "web_search",
              "agent_name": "worker",
              "latency_ms": 1250,
              "ok": false,
              "error_class": "Terminal",
              "trace_id": "trace-1",
              "started_at": "2026-04-24T03:06:45.250Z",
              "ended_at": "2026-04-24T03:06:46.500Z"
            }"#]],
    );
}

#[test]
fn x2_each_error_on_the_wire() {
    let unreadable = ToolError::InvalidArgs {
        raw_args: "path is a.txt".into(),
        parse_error: "they are not a JSON object".into(),
        expected_schema: json!({"type": "object"}),
    };
    wire(
        &unreadable.receipt(),
        expect![[r#"
            {
              "code": "VALIDATION_ERROR",
              "class": "User",
              "kind": "InvalidArgs",
              "message": "the arguments cannot be read: they are not a JSON object",
              "details": {
                "expected_schema": {
                  "type": "object"
                },
                "raw_args": "path is a.txt"
              }
            }"#]],
    );
    let unfit = ToolError::Deserialization {
        raw_value: r#"{"lines": "ten"}"#.into(),
        path: "lines".into(),
        target_type: "u32".into(),
        cause: Cause::text(
            Code::ValidationError,
            "expected a whole number, got \"ten\"",
        ),
    };
    wire(
        &unfit.receipt(),
        expect![[r#"
            {
              "code": "VALIDATION_ERROR",
              "class": "User",
              "kind": "DeserializationError",
              "message": "field `lines`: expected a whole number, got \"ten\"",
              "details": {
                "path": "lines",
                "raw_value": "{\"lines\": \"ten\"}",
                "target_type": "u32"
              }
            }"#]],
    );
    let failed = ToolError::from(Cause::text(Code::Unknown, "the disk sleeps"));
    wire(
        &failed.receipt(),
        expect![[r#"
            {
              "code": "UNKNOWN",
              "class": "Terminal",
              "kind": "ExecutionError",
              "message": "the disk sleeps"
            }"#]],
    );
    let escalated = ToolError::Escalation {
        source: "mender".into(),
        reason: "nobody knows the path".into(),
        severity: Severity::High,
        original: Box::new(unreadable),
        attempts: 2,
    };
    let record = escalated.receipt();
    let details = record.details.as_ref().unwrap();
    assert_eq!(
        (
            &details["source"],
            &details["severity"],
            &details["attempts"]
        ),
        (&json!("mender"), &json!("HIGH"), &json!(2))
    );
    assert_eq!(
        details["original"]["details"]["expected_schema"],
        json!({"type": "object"})
    );
    assert_eq!(
        (&*record.kind, record.reason.as_deref()),
        ("EscalationError", Some("nobody knows the path"))
    );
}

#[test]
fn handles() {
    wire(
        &PinnedHandle::latest("weather_report", "http_request"),
        expect![[r#"
            {
              "name": "weather_report",
              "selector": {
                "tool": "http_request",
                "strategy": "latest"
              },
              "on_missing": "null"
            }"#]],
    );
    let selector = Selector {
        tool: "http_request".into(),
        strategy: Strategy::ByCallId,
        call_id: Some("5f".into()),
    };
    wire(
        &PinnedHandle {
            name: "weather_report".into(),
            selector,
            on_missing: OnMissing::StaleLastSuccess,
        },
        expect![[r#"
            {
              "name": "weather_report",
              "selector": {
                "tool": "http_request",
                "strategy": "by_call_id",
                "call_id": "5f"
              },
              "on_missing": "stale_last_success"
            }"#]],
    );
    wire(
        &vec![
            (Strategy::Latest, OnMissing::Null),
            (Strategy::FirstSuccess, OnMissing::Error),
        ],
        expect![[r#"
            [
              [
                "latest",
                "null"
              ],
              [
                "first_success",
                "error"
              ]
            ]"#]],
    );
    let bare = r#"{"name": "a", "selector": {"tool": "b"}}"#;
    assert_eq!(
        serde_json::from_str::<PinnedHandle>(bare).unwrap(),
        PinnedHandle::latest("a", "b")
    );
}

/// Returns the ids of the calls of one run.
async fn ids() -> Vec<String> {
    let (tool, _) = crate::world::counted(spec("look", Effects::Reads).version("2.0.0"));
    let calls = [
        ("look", r#"{"b":[1,2],"a":"\u0041"}"#),
        ("look", " {\"a\" : \"A\",\n\"b\":[1, 2]}"),
        ("look", r#"{"amount":9007199254740993}"#),
        ("look", r#"{"amount":9007199254740992}"#),
    ];
    let (agent, _) = agent_with([tool], [Script::calls(calls), Script::text("done")]);
    let outputs = agent.run("go").outcome().await.unwrap().outputs;
    outputs.tool_order.iter().map(ToString::to_string).collect()
}

/// Ids are stored by users, so they may change only on purpose.
#[tokio::test]
async fn o9_ids_of_calls_are_these_on_any_machine() {
    let ids = ids().await;
    expect![[r#"
        caf75ba859acef3649a571cf0755784a
        8a5c1f35d4ef127fd494038abb30874b
        37be99aacc25dece70aeaf2ef96c71c6
        34848c7087b520e086a0841a6c9bb72e"#]]
    .assert_eq(&ids.join("\n"));
}

#[tokio::test]
async fn ids_are_equal_across_processes() {
    const PRINT: &str = "AGENTS_PRINT_CALL_IDS";
    let ids = format!("ids: {}", ids().await.join(" "));
    if std::env::var_os(PRINT).is_some() {
        println!("{ids}");
        return;
    }
    let name = "receipts::stored_forms::ids_are_equal_across_processes";
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(PRINT, "1")
        .output()
        .unwrap();
    let printed = String::from_utf8(child.stdout).unwrap();
    assert!(printed.contains(&ids), "{ids}\n{printed}");
}
