//! Stores and keyrings that are not there.

use crate::desk::{Desk, Folder, Ran, binary, by_hand};
use std::fs;

#[test]
fn a_store_is_never_created() {
    let folder = Folder::new("missing");
    let file = folder.0.join("typo.db");
    let url = format!("sqlite:{}", file.display());
    let ran = Ran::of(binary().args(["--store", &url, "runs"]));
    ran.fails(1, "there is no store ");
    assert!(ran.said.contains("check the path"), "{ran:?}");
    assert!(!file.exists());

    fs::write(&file, "").unwrap();
    Ran::of(binary().args(["--store", &url, "runs"])).fails(1, "of something else, or empty");
    assert_eq!(fs::metadata(&file).unwrap().len(), 0);

    by_hand(&file, "CREATE TABLE notes (text TEXT)");
    Ran::of(binary().args(["--store", &url, "runs"])).fails(1, "of something else, or empty");

    fs::write(&file, "These are my notes, and no database at all.").unwrap();
    let ran = Ran::of(binary().args(["--store", &url, "runs"]));
    ran.fails(1, "no SQLite database");
}

#[test]
fn a_store_has_to_be_named_as_one() {
    let run = |url: &str| Ran::of(binary().args(["--store", url, "runs"]));
    run("postgres://localhost/runs").fails(2, "without PostgreSQL");
    for url in ["runs.db", "sqlite:", "mysql:runs", ""] {
        run(url).fails(2, "sqlite:FILE");
    }
    Ran::of(binary().arg("runs")).fails(2, "--store");
}

#[tokio::test]
async fn the_store_may_be_in_the_environment() {
    let desk = Desk::new("environment").await;
    let run = desk.start("acme", "one").await;
    let ran = Ran::of(binary().env("AGENTS_STORE", desk.url()).arg("runs")).succeeds();
    assert!(ran.out.contains(run.id()), "{ran:?}");
    let absolute = format!("sqlite://{}", desk.file().display());
    Ran::of(binary().args(["--store", &absolute, "runs"])).succeeds();
}

#[tokio::test]
async fn without_the_keyring_only_contents_are_missing() {
    let desk = Desk::new("keyring").await;
    let (run, request) = desk.waiting("acme", "one").await;
    let keys = desk.folder.0.join("runs.db.keys");
    let elsewhere = desk.folder.0.join("elsewhere.keys");
    fs::rename(&keys, &elsewhere).unwrap();

    assert!(desk.printed(&["runs"]).contains(run.id()));
    assert!(desk.printed(&["approvals"]).contains(&request));
    let shown = desk.agents(&["show", run.id()]);
    shown.fails(1, "name it with --keyring FILE");
    assert!(shown.out.contains("state      waiting"), "{shown:?}");
    for args in [
        &["approve", &request, "never"][..],
        &["approval", &request],
        &["events", run.id()],
    ] {
        desk.agents(args).fails(1, "name it with --keyring FILE");
    }
    assert!(!keys.exists(), "no keyring is created");
    desk.agents(&["--keyring", "/nowhere/keys", "runs"])
        .fails(1, "there is no keyring /nowhere/keys");

    let other = desk.folder.0.join("other.keys");
    let keyring = agents_runtime::FileKeyring::open(&other).unwrap();
    agents_runtime::Keyring::rotate(&keyring, "other").unwrap();
    let wrong = desk.agents(&["--keyring", other.to_str().unwrap(), "approve", &request]);
    wrong.fails(1, "open the store with that keyring");
    let right = desk.agents(&[
        "--keyring",
        elsewhere.to_str().unwrap(),
        "approve",
        &request,
    ]);
    right.succeeds();
}
