//! Rust blocks of the book are compiled and run. Each that is not has a reason here.

use crate::root;
use std::{collections::BTreeMap, fs};

/// Pages with blocks that are compiled and not run, the number of these blocks, and the reason.
const NOT_RUN: &[(&str, usize, &str)] = &[
    (
        "a-payment-that-waits.md",
        1,
        "waits for a person; `agents-cli/tests/it/tutorials.rs` runs it",
    ),
    ("anthropic.md", 1, "asks Anthropic"),
    ("control-plane.md", 1, "opens files beside the program"),
    ("control-room.md", 1, "serves until it is stopped"),
    ("cookbook-busy-servers.md", 1, "asks an Ollama"),
    ("cookbook-small-models.md", 4, "ask an Ollama"),
    ("durable-runs.md", 1, "needs a run that is over, by its id"),
    ("gemini.md", 1, "asks Google"),
    (
        "mcp.md",
        3,
        "start a server, or serve until they are stopped",
    ),
    ("openai.md", 1, "asks OpenAI"),
    (
        "production.md",
        1,
        "needs a PostgreSQL server, and works until it is stopped",
    ),
    ("restate.md", 1, "needs a PostgreSQL server and a Restate"),
    (
        "sandbox.md",
        1,
        "needs bubblewrap; the example `sandbox` is the same",
    ),
    (
        "stores.md",
        3,
        "need a PostgreSQL server, and write a file of keys",
    ),
    (
        "webassembly.md",
        1,
        "needs a module in a file; the example `wasm` is the same",
    ),
];

/// Pages with blocks that are not even compiled as they stand, the number of these blocks, and the reason.
const NOT_COMPILED: &[(&str, usize, &str)] = &[
    (
        "a-team-that-asks.md",
        1,
        "needs the files of the earlier chapters; `agents-cli/tests/it/tutorials.rs` runs it",
    ),
    (
        "a-tool-that-fails.md",
        5,
        "files of a package, which `tests/packages.rs` builds and runs",
    ),
    (
        "asking-for-help.md",
        3,
        "files of a package, which `tests/packages.rs` builds and runs",
    ),
    (
        "coming-from-rig.md",
        1,
        "is code for rig, which is no dependency",
    ),
    (
        "compile-errors.md",
        20,
        "do not compile; they are cases of `tests/ui`",
    ),
    (
        "first-agent.md",
        4,
        "files of a package, which `tests/packages.rs` builds and runs",
    ),
    (
        "tests-from-production.md",
        1,
        "is written by `agents test from`, for a crate of the reader",
    ),
    (
        "two-of-them.md",
        2,
        "files of a package, which `tests/packages.rs` builds and runs",
    ),
];

/// Returns the number of blocks with this head, by page.
fn blocks(head: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root().join("book/src")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "md") {
            let page = fs::read_to_string(&path).unwrap();
            let lines = page.lines().map(str::trim_start);
            let number = lines.filter(|line| *line == head).count();
            if number > 0 {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                found.insert(name, number);
            }
        }
    }
    found
}

#[test]
fn each_block_that_is_not_run_has_a_reason() {
    for (head, reasons) in [
        ("```rust,no_run", NOT_RUN),
        ("```rust,ignore", NOT_COMPILED),
    ] {
        let known = reasons
            .iter()
            .map(|(page, number, _)| (page.to_string(), *number));
        let known: BTreeMap<_, _> = known.collect();
        let found = blocks(head);
        assert!(
            found == known,
            "run these blocks, or say in {} why they cannot be run: {head} is in {found:#?}",
            file!()
        );
        let said = reasons.iter().all(|(_, _, reason)| reason.len() > 8);
        assert!(said, "a reason has words");
    }
}
