//! The packages in `minimal/`, at the versions of this package's lock file.

use crate::command_output;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Returns the folder of a package, with this package's lock file in it and everything downloaded.
pub fn package(name: &str) -> PathBuf {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = bench.join("minimal").join(name);
    let lock = folder.join("Cargo.lock");
    fs::copy(bench.join("Cargo.lock"), lock).expect("the lock file can be copied");
    let status = Command::new("cargo")
        .args(["fetch", "--quiet", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "{name}: the dependencies cannot be downloaded"
    );
    folder
}

/// Returns the number of crates that a package depends on, with these further arguments for cargo.
pub fn crates(folder: &Path, more: &[&str]) -> usize {
    let manifest = folder.join("Cargo.toml");
    let manifest = manifest.to_string_lossy();
    let mut args = vec![
        "tree",
        "-e",
        "normal",
        "--prefix",
        "none",
        "--format",
        "{p}",
        "--manifest-path",
        &manifest,
    ];
    args.extend(more);
    let tree = command_output("cargo", &args);
    // `{p}` prints a local package with its path.
    let names: BTreeSet<_> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .filter(|line| !line.is_empty())
        .collect();
    assert!(!names.is_empty(), "`cargo tree {more:?}` lists nothing");
    names.len() - 1
}
