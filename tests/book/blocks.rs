//! Rust blocks of the book are compiled and run. A page with blocks that are not has a reason here.

use crate::root;
use std::{collections::BTreeSet, fs};

/// Pages with blocks that are compiled and not run, with the reason.
const NOT_RUN: &[(&str, &str)] = &[
    (
        "a-payment-that-waits.md",
        "waits for a person; `crates/cli/tests/it/tutorials.rs` runs it",
    ),
    ("anthropic.md", "asks Anthropic"),
    ("control-plane.md", "opens files beside the program"),
    ("control-room.md", "serves until it is stopped"),
    ("cookbook-busy-servers.md", "asks an Ollama"),
    ("cookbook-small-models.md", "ask an Ollama"),
    ("durable-runs.md", "needs a run that is over, by its id"),
    ("gemini.md", "asks Google"),
    ("mcp.md", "start a server, or serve until they are stopped"),
    ("openai.md", "asks OpenAI"),
    (
        "production.md",
        "needs a PostgreSQL server, and works until it is stopped",
    ),
    ("restate.md", "needs a PostgreSQL server and a Restate"),
    (
        "sandbox.md",
        "needs bubblewrap; the example `sandbox` is the same",
    ),
    (
        "stores.md",
        "need a PostgreSQL server, and write a file of keys",
    ),
    (
        "webassembly.md",
        "needs a module in a file; the example `wasm` is the same",
    ),
];

/// Pages with blocks that are not even compiled as they stand, with the reason.
const NOT_COMPILED: &[(&str, &str)] = &[
    (
        "a-team-that-asks.md",
        "needs the files of the earlier chapters; `crates/cli/tests/it/tutorials.rs` runs it",
    ),
    (
        "a-tool-that-fails.md",
        "files of a package, which `tests/packages.rs` builds and runs",
    ),
    (
        "asking-for-help.md",
        "files of a package, which `tests/packages.rs` builds and runs",
    ),
    (
        "coming-from-rig.md",
        "is code for rig, which is no dependency",
    ),
    (
        "compile-errors.md",
        "do not compile; they are cases of `tests/ui`",
    ),
    (
        "first-agent.md",
        "files of a package, which `tests/packages.rs` builds and runs",
    ),
    (
        "tests-from-production.md",
        "is written by `agents test from`, for a crate of the reader",
    ),
    (
        "two-of-them.md",
        "files of a package, which `tests/packages.rs` builds and runs",
    ),
];

/// Returns the pages with a block of this head.
fn pages(head: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(root().join("book/src")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "md") {
            let page = fs::read_to_string(&path).unwrap();
            if page.lines().any(|line| line.trim_start() == head) {
                found.insert(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found
}

#[test]
fn each_page_with_blocks_that_are_not_run_has_a_reason() {
    for (head, reasons) in [
        ("```rust,no_run", NOT_RUN),
        ("```rust,ignore", NOT_COMPILED),
    ] {
        let known: BTreeSet<_> = reasons.iter().map(|(page, _)| page.to_string()).collect();
        let found = pages(head);
        assert!(
            found == known,
            "run the blocks of these pages, or say in {} why they cannot be run: {head} is in {found:#?}",
            file!()
        );
    }
}
