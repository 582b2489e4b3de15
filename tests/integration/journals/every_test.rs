//! Journals of the tests of November 2026, in `tests/fixtures/journals/every_test.jsonl`: those of runs with a journal,
//! of durable runs too, one for each course that differs. They are never rewritten. What today's code reads from each
//! is in `every_test.read`, a line a journal. Where it is meant to change, `UPDATE_EXPECT=1` writes it anew. With
//! `AGENTS_FROZEN=DIR` what was read goes into a file for each journal, to be compared with that of another version.

use agents::journal::{CallStep, Entry, Follower, Recorded};
use expect_test::expect_file;
use hmac_sha256::Hash;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{collections::BTreeMap, env, fmt::Write, fs, path::Path};

const JOURNALS: &str = include_str!("../../fixtures/journals/every_test.jsonl");

#[derive(Deserialize)]
struct Frozen {
    /// Test that wrote the journal, and the journal's number there.
    test: String,
    entries: Vec<Entry>,
}

/// Returns what a reader gets from a journal: its events and receipts, its outcome, and the rows that follow from it.
fn read(test: &str, entries: Vec<Entry>) -> Value {
    let mut follower = Follower::new();
    let mut rows = Vec::new();
    for entry in &entries {
        let followed = follower
            .on(entry)
            .unwrap_or_else(|error| panic!("{test}: {error}"));
        rows.extend(followed.step.map(row));
    }
    let recorded = Recorded::of(entries).unwrap();
    let outcome = recorded.outcome::<Value>();
    json!({
        "agent": recorded.agent(),
        "outcome": outcome.map(|outcome| match outcome.result {
            Ok(answer) => json!({"answer": answer}),
            Err(error) => json!({"kind": format!("{:?}", error.kind()), "error": error.to_string()}),
        }),
        "events": recorded.events(),
        "receipts": recorded.receipts(),
        "messages": recorded.messages(),
        "usage": recorded.usage(),
        "rows": rows,
    })
}

/// Returns what tables beside the journal hold of a step.
fn row(step: CallStep) -> Value {
    match step {
        CallStep::Asked(asked) => json!({"asked": {
            "request": asked.request, "place": asked.place, "digest": asked.args_digest,
            "schema": asked.schema, "written": asked.written,
        }}),
        CallStep::Decided { request, decided } => json!({"decided": {
            "request": request, "decided": decided,
        }}),
        CallStep::Began(began) => json!({"began": {
            "call": began.call_id, "request": began.request, "approved": began.approved,
            "by": began.approved_by, "place": began.place, "agent": began.agent,
            "tool": [began.tool, began.version], "effects": began.effects, "risk": began.risk,
            "undo": [began.irreversible, began.has_undo], "args": [began.args, began.stored_args],
            "digest": began.args_digest, "attempt": began.attempt, "key": began.key,
        }}),
        CallStep::Ended(ended) => json!({"ended": {
            "call": ended.call_id, "request": ended.request, "attempt": ended.attempt,
            "result": ended.result, "stored": ended.stored_output, "unknown": ended.effect_unknown,
        }}),
        other => panic!("a step that this test does not know: {other:?}"),
    }
}

#[test]
fn s5_14_the_journals_of_every_test_are_read_as_before() {
    let mut lines = String::new();
    for line in JOURNALS.lines() {
        let Frozen { test, entries } = serde_json::from_str(line).unwrap();
        let count = entries.len();
        let read = read(&test, entries);
        let mut events = BTreeMap::<&str, usize>::new();
        for event in read["events"].as_array().unwrap() {
            *events
                .entry(event["event"].as_str().unwrap_or("?"))
                .or_default() += 1;
        }
        let ended = match &read["outcome"] {
            Value::Null => "goes on".to_owned(),
            outcome => outcome["kind"].as_str().unwrap_or("answered").to_owned(),
        };
        let whole = serde_json::to_string_pretty(&read).unwrap();
        let digest = Hash::hash(whole.as_bytes());
        let digest: String = digest[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        writeln!(
            lines,
            "{test}: {count} entries, {ended}, {events:?}, {digest}"
        )
        .unwrap();
        if let Some(folder) = env::var_os("AGENTS_FROZEN") {
            let file = format!("{}.json", test.replace([':', ' '], "_"));
            fs::create_dir_all(&folder).unwrap();
            fs::write(Path::new(&folder).join(file), whole).unwrap();
        }
    }
    expect_file!["../../fixtures/journals/every_test.read"].assert_eq(&lines);
}
