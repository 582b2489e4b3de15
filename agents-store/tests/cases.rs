//! The list of cases (`CASES.md`) names tests that are there.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Folders with tests, from the root of the repository.
const FOLDERS: [&str; 9] = [
    "agents-store/src",
    "agents-store/tests",
    "agents-runtime/src",
    "agents-runtime/tests",
    "agents-cli/tests",
    "agents-core/src",
    "agents-mcp/tests",
    "src",
    "tests",
];

/// Fewest words of the name of a test: other names in the list are fields and functions.
const WORDS: usize = 4;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Adds the names of the functions in a folder.
fn functions(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            functions(&path, names);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let found = text.split("fn ").skip(1).map(|rest| {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                rest[..end].to_owned()
            });
            names.extend(found);
        }
    }
}

/// Returns the texts of the list that are set as code. Those in the first column of a table are cases of others.
fn code(list: &str) -> impl Iterator<Item = &str> {
    let ours = list.lines().map(|line| match line.starts_with('|') {
        true => line.splitn(3, '|').nth(2).unwrap_or_default(),
        false => line,
    });
    ours.flat_map(|line| line.split('`').skip(1).step_by(2))
}

#[test]
fn every_test_in_the_list_of_cases_is_there() {
    let list = fs::read_to_string(root().join("agents-store/CASES.md")).unwrap();
    let mut there = BTreeSet::new();
    for folder in FOLDERS {
        functions(&root().join(folder), &mut there);
    }
    let is_name = |text: &&str| {
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        text.chars().all(is_part) && text.split('_').count() >= WORDS
    };
    let named: BTreeSet<_> = code(&list).filter(is_name).collect();
    assert!(named.len() > 60, "{} tests are named", named.len());
    let missing: Vec<_> = named
        .iter()
        .filter(|name| !there.contains(**name))
        .collect();
    assert!(missing.is_empty(), "there are no such tests: {missing:#?}");
}

#[test]
fn every_file_in_the_list_of_cases_is_there() {
    let list = fs::read_to_string(root().join("agents-store/CASES.md")).unwrap();
    let is_file =
        |text: &&str| text.contains('/') && (text.ends_with(".rs") || text.ends_with('/'));
    let mut count = 0;
    for file in code(&list).filter(is_file) {
        assert!(root().join(file).exists(), "there is no {file}");
        count += 1;
    }
    assert!(count > 0, "files are named");
}
