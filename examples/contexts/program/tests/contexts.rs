//! Contexts name each other's contracts alone, and the program prints what it should.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

use agents::testing::{Script, ScriptedModel};
use agents_runtime::{Runtime, SqliteStore};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
    sync::Arc,
};
use worlds::{Geographer, Geographers};
use worlds_contract::{World, WorldRunner};

/// Crates of the contexts.
const CONTEXTS: [&str; 2] = ["operations", "worlds"];

/// Returns the local packages with all local packages that each depends on, however far.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--offline",
            "--no-deps",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let packages = told["packages"].as_array().unwrap().iter();
    let direct: BTreeMap<String, BTreeSet<String>> = packages
        .map(|package| {
            let all = package["dependencies"].as_array().unwrap();
            (name(package), all.iter().map(name).collect())
        })
        .collect();
    let all = direct.keys().map(|package| {
        let (mut found, mut next) = (BTreeSet::new(), vec![package]);
        while let Some(one) = next.pop() {
            for below in direct.get(one).into_iter().flatten() {
                if direct.contains_key(below) && found.insert(below.clone()) {
                    next.push(below);
                }
            }
        }
        (package.clone(), found)
    });
    all.collect()
}

#[test]
fn d2_a_context_names_no_other_context() {
    let all = dependencies();
    for context in CONTEXTS {
        for other in CONTEXTS.iter().filter(|other| **other != context) {
            assert!(!all[context].contains(*other), "{context} names {other}");
        }
        assert!(all[context].contains("worlds-contract"), "{context}");
        assert!(
            all["contexts-program"].contains(context),
            "the program names {context}"
        );
    }
    let contract = &all["worlds-contract"];
    assert!(CONTEXTS.iter().all(|context| !contract.contains(*context)));
}

#[test]
fn an_event_is_listed_approved_and_replayed_once() {
    let output = Command::new(env!("CARGO_BIN_EXE_contexts-program"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<_> = printed.lines().collect();
    // The subscriber prints whenever it is told.
    let drawn = lines
        .iter()
        .position(|line| *line == "atlas: w1 of acme: Ok(())")
        .unwrap();
    assert!(drawn > 3, "{printed}");
    lines.remove(drawn);
    let failed = r#"atlas: w1 of acme: Err("there is no ink")"#;
    let expected = [
        failed,
        failed,
        failed,
        "dead: atlas after 3 tries",
        "waits: replay the event ID: there is ink, and w1 is still there",
        "operations: w1 is drawn again.",
        r#"geographer: "Yes, with both of its suns.""#,
        "drawn: 1",
        "again: Err(\"there is no dead letter `ID`\")",
    ];
    assert_eq!(lines, expected, "{printed}");
}

#[tokio::test]
async fn d3_a_session_of_the_callee_lasts() {
    let answers = ["Two.", "Red.", "One."].map(Script::text);
    let (model, asked) = ScriptedModel::new(answers);
    let runtime = Runtime::open(SqliteStore::in_memory().await.unwrap()).model(model);
    let runner: Arc<WorldRunner> = Arc::new(Geographers {
        agent: Geographer,
        durable: runtime.agent(Geographer),
    });
    let world_id = "w1".to_owned();
    let world = World { world_id };
    let first = runner.chat("How many suns?", "s1", &world).await;
    assert_eq!(first.unwrap(), "Two.");
    let second = runner.chat("Of which colour?", "s1", &world).await;
    assert_eq!(second.unwrap(), "Red.");
    let messages = |at: usize| format!("{:?}", asked.requests()[at].messages);
    assert!(messages(1).contains("How many suns?"), "{}", messages(1));
    let other = runner.chat("How many moons?", "s2", &world).await;
    assert_eq!(other.unwrap(), "One.");
    assert!(!messages(2).contains("suns"), "{}", messages(2));
}
