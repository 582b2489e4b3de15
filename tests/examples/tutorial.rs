//! The programs of the tutorial, and what its chapters say that they print.

use crate::{NOBODY, check, output};
use std::{fs, path::Path};

/// A program of the tutorial has tests, as those of its readers do.
#[path = "../../examples/lending.rs"]
#[allow(dead_code, reason = "the program runs by itself; here its tests do")]
mod lending;

/// Every `text` block of a chapter stands in what its program prints, line for line.
fn shown_in(chapter: &str, example: &str) {
    let output = output(example, &[], NOBODY);
    let printed: Vec<_> = output.lines().map(without_waits).collect();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("book/src");
    let page = fs::read_to_string(page.join(chapter)).unwrap();
    let blocks: Vec<_> = page.split("\n```text\n").skip(1).collect();
    assert!(!blocks.is_empty(), "{chapter}");
    for block in blocks {
        let block = block.split("\n```").next().unwrap();
        let block: Vec<_> = block.lines().map(without_waits).collect();
        assert!(
            printed.windows(block.len()).any(|lines| lines == block),
            "{chapter} shows {block:#?}, and {example} prints\n{output}"
        );
    }
}

/// A line without how long something took, which is different each time.
fn without_waits(line: &str) -> &str {
    let line = line.trim().split(" again in ").next().unwrap();
    let took = line.rfind("  (").filter(|_| line.ends_with("s)"));
    took.map_or(line, |at| &line[..at])
}

#[test]
fn lending() {
    shown_in("a-tool-that-fails.md", "lending");
}

#[test]
fn slips() {
    shown_in("asking-for-help.md", "slips");
}

/// The program of the book's tutorial.
#[test]
fn shelf() {
    check(
        "shelf",
        &[
            "! lend Emma -> Ada → VALIDATION_ERROR: the arguments cannot be read: no JSON found; write a JSON object",
            "! lend → PROVIDER_ERROR: the catalogue is busy",
            "= Here is Emma, Ada.",
            "? slip_reader is asked to repair lend, try 2",
            "! lend → UNKNOWN: all copies are out, one is back in 4 days",
            "= In four days, Ada.",
            "^ escalated: `lend` gave up (MEDIUM) after 1 try: a book is not on its shelf",
            "^ `librarian` begins anew with its skill `order_elsewhere`",
            "= ordered from the next town: Sanditon, for Ada",
        ],
    );
    shown_in("two-of-them.md", "shelf");
}
