//! Disks that are full or read-only, and files that are gone.

use super::{
    TempFile,
    disk::{Disk, mount},
    run,
};
use agents_store::{ErrorKind, NewRun, RunFilter, SqliteStore, Store};
use std::fs;

#[tokio::test]
async fn a_full_disk_is_reported_and_loses_nothing() {
    let Some(disk) = Disk::new("full", 2048) else {
        return;
    };
    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![0; 400_000]).unwrap();
    let store = SqliteStore::open(disk.path().join("store.db"))
        .await
        .unwrap();
    let large = |n: u32| NewRun {
        data: vec![7; 20_000],
        ..run(&format!("run-{n}"))
    };
    let mut stored = 0;
    let error = loop {
        match store.create(&large(stored)).await {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 1_000, "the disk is never full");
    };
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("free some space"), "{error}");
    let all = RunFilter {
        limit: 1_000,
        ..RunFilter::default()
    };
    let found = store.runs(&all).await.unwrap();
    assert_eq!(found.len(), stored as usize, "all that were confirmed");

    fs::remove_file(&ballast).unwrap();
    store.create(&large(stored)).await.unwrap();
    drop(store);
    let again = SqliteStore::open(disk.path().join("store.db"))
        .await
        .unwrap();
    assert_eq!(again.runs(&all).await.unwrap().len(), stored as usize + 1);
}

#[tokio::test]
async fn a_disk_that_is_read_only_is_reported() {
    let Some(disk) = Disk::new("read-only", 2048) else {
        return;
    };
    let store = SqliteStore::open(disk.path().join("store.db"))
        .await
        .unwrap();
    store.create(&run("run-1")).await.unwrap();
    drop(store);
    // The threads of the store close its files when they end.
    let mut tries = 0;
    while !mount(&["-o", "remount,ro"], disk.path()) {
        tries += 1;
        assert!(tries < 500, "the files are never closed");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let error = SqliteStore::open(disk.path().join("store.db"))
        .await
        .unwrap_err();
    let said = error.to_string();
    assert!(said.contains("cannot be opened"), "{said}");
    assert!(said.contains("Read-only"), "{said}");
}

#[tokio::test]
async fn nothing_is_written_into_a_file_that_was_removed_or_replaced() {
    let file = TempFile::new("removed");
    let store = SqliteStore::open(&file.0).await.unwrap();
    store.create(&run("run-1")).await.unwrap();
    let elsewhere = TempFile::new("elsewhere");
    fs::rename(&file.0, &elsewhere.0).unwrap();
    let error = store.create(&run("run-2")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert!(error.to_string().contains("put it back"), "{error}");
    // Another file at its place is another store.
    fs::write(&file.0, b"").unwrap();
    assert!(store.create(&run("run-3")).await.is_err());
    fs::rename(&elsewhere.0, &file.0).unwrap();
    store.create(&run("run-4")).await.unwrap();
    let runs = store.runs(&RunFilter::default()).await.unwrap();
    let ids: Vec<_> = runs.iter().map(|run| &*run.id).collect();
    assert_eq!(ids, ["run-4", "run-1"]);
}
