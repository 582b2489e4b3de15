//! Quotations on the page of likely mistakes equal the ui cases and their snapshots.

use crate::read;
use std::collections::BTreeSet;

/// Checks that the text below each `<!-- shown: tool/undescribed.stderr -->` is in that file of `tests/ui`, line for
/// line. A line `...` stands for omitted lines.
#[test]
fn what_is_shown_of_a_case_is_what_it_says() {
    let page = read("book/src/compile-errors.md");
    let mut shown = BTreeSet::new();
    for part in page.split("<!-- shown: ").skip(1) {
        let (case, rest) = part.split_once(" -->\n\n```").unwrap();
        let (_, quoted) = rest.split_once('\n').unwrap();
        let (quoted, _) = quoted.split_once("\n```").unwrap();
        let source = read(&format!("tests/ui/{case}"));
        for passage in quoted.split("\n...\n") {
            assert!(!passage.trim().is_empty(), "{case}");
            let is_there = format!("\n{source}\n").contains(&format!("\n{passage}\n"));
            assert!(is_there, "{case} does not say:\n{passage}");
        }
        shown.insert(case.to_owned());
    }
    assert!(!shown.is_empty());
    // The page quotes both the code and the message of each mistake.
    for case in shown.iter().filter_map(|case| case.strip_suffix(".rs")) {
        assert!(shown.contains(&format!("{case}.stderr")), "{case}");
    }
}
