//! `check-deploy`.

use crate::desk::{Desk, Ran, binary, pay, payer};
use agents::tool::Risk;
use agents_runtime::{Manifest, Runtime, SqliteStore};
use std::{fs, sync::Arc};

/// Writes a manifest, and returns its path.
fn written(desk: &Desk, name: &str, manifest: &Manifest) -> String {
    let path = desk.folder.0.join(name);
    fs::write(&path, serde_json::to_string_pretty(manifest).unwrap()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn runs_that_a_new_version_cannot_go_on_with_are_listed() {
    let desk = Desk::new("deploy").await;
    let (run, request) = desk.waiting("acme", "one").await;
    let same = written(&desk, "same.json", &desk.runtime.manifest());
    assert_eq!(desk.printed(&["check-deploy", &same]), "");

    let next = Runtime::open(SqliteStore::in_memory().await.unwrap());
    let without = written(&desk, "without.json", &next.manifest());
    next.agent(payer(pay(&Arc::default(), "2.0.0", Risk::Medium)));
    let newer = written(&desk, "newer.json", &next.manifest());

    let ran = desk.agents(&["check-deploy", &newer]);
    assert_eq!((ran.code, &*ran.said), (1, ""), "{ran:?}");
    let why = "an open call of `pay` is of version 1.0.0, and there is version 2.0.0";
    assert!(
        ran.out.contains(run.id()) && ran.out.contains(why),
        "{ran:?}"
    );
    let ran = desk.agents(&["--json", "check-deploy", &without]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.objects()[0]["reasons"][0], "there is no agent `payer`");
    assert_eq!(
        desk.printed(&["--tenant", "other", "check-deploy", &without]),
        ""
    );

    // The manifest may come through a pipe.
    let mut command = binary();
    command.args(["--store", &desk.url(), "check-deploy", "-"]);
    command.stdin(fs::File::open(&newer).unwrap());
    assert_eq!(command.output().unwrap().status.code(), Some(1));

    // A run that is over does not count.
    desk.printed(&["approve", &request]);
    desk.answer(&run).await.unwrap();
    assert_eq!(desk.printed(&["check-deploy", &without]), "");
}

#[tokio::test]
async fn what_is_no_manifest_is_refused() {
    let desk = Desk::new("no-manifest").await;
    let path = desk.folder.0.join("manifest.json");
    let check = |text: &str| -> Ran {
        fs::write(&path, text).unwrap();
        desk.agents(&["check-deploy", path.to_str().unwrap()])
    };
    check("{}").fails(1, "no manifest of a runtime");
    check(r#"{"agents_manifest": 2, "agents": {}}"#).fails(1, "use the later program");
    desk.agents(&["check-deploy", "/nowhere/x"])
        .fails(1, "cannot be read");
}

#[tokio::test]
async fn runs_that_new_code_would_work_otherwise_are_listed_with_their_fact() {
    let desk = Desk::new("journals").await;
    let (run, request) = desk.waiting("acme", "one").await;
    desk.printed(&["approve", &request]);
    desk.answer(&run).await.unwrap();
    let report = |name: &str, replays: &agents_runtime::Replays| {
        let path = desk.folder.0.join(name);
        fs::write(&path, serde_json::to_string(replays).unwrap()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let all = agents_store::RunFilter::default();
    let same = desk.runtime.replays(&all).await.unwrap();
    assert_eq!((same.replayed, same.skipped, same.changed.len()), (1, 0, 0));
    let same = report("same.json", &same);
    assert_eq!(desk.printed(&["check-deploy", "--journals", &same]), "");

    let store = SqliteStore::open(desk.file()).await.unwrap();
    let next = Runtime::open(store);
    let paid = Arc::default();
    next.agent(payer(pay(&paid, "2.0.0", Risk::Medium)));
    let changed = next.replays(&all).await.unwrap();
    let newer = report("newer.json", &changed);
    let ran = desk.agents(&["check-deploy", "--journals", &newer]);
    assert_eq!((ran.code, &*ran.said), (1, ""), "{ran:?}");
    let why = "the tool `pay` has version 2.0.0, and the recorded call is of version 1.0.0";
    let fact = changed.changed[0].fact.unwrap().to_string();
    let line = ran.out.lines().nth(1).unwrap();
    assert!(line.contains(run.id()) && line.contains(why), "{ran:?}");
    assert!(line.split_whitespace().any(|word| word == fact), "{ran:?}");
    assert!(paid.lock().unwrap().is_empty(), "a replay pays nothing");
    let ran = desk.agents(&["--json", "check-deploy", "--journals", &newer]);
    assert_eq!(
        (ran.code, &ran.objects()[0]["fact"]),
        (1, &changed.changed[0].fact.into())
    );
    assert_eq!(
        desk.printed(&["--tenant", "other", "check-deploy", "--journals", &newer]),
        ""
    );

    // A report of another store, and what is no report.
    let elsewhere = fs::read_to_string(&newer)
        .unwrap()
        .replace(run.id(), "never");
    fs::write(desk.folder.0.join("elsewhere.json"), elsewhere).unwrap();
    let elsewhere = desk.folder.0.join("elsewhere.json");
    desk.agents(&["check-deploy", "--journals", elsewhere.to_str().unwrap()])
        .fails(1, "there is no run `never`");
    let manifest = written(&desk, "manifest.json", &next.manifest());
    desk.agents(&["check-deploy", "--journals", &manifest])
        .fails(1, "runtime.replays");
    desk.agents(&["check-deploy", "--journals", &newer, &manifest])
        .fails(2, "cannot be used with");
    desk.agents(&["check-deploy"]).fails(2, "required");
}
