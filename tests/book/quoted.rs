//! The chapters of the tutorial quote programs of `examples/`, which `tests/examples/` runs.

use crate::{read, root};
use std::fs;

/// The chapters, and the program that each says is the whole of it.
const QUOTED: [(&str, &str); 3] = [
    ("a-tool-that-fails.md", "examples/lending.rs"),
    ("asking-for-help.md", "examples/slips.rs"),
    ("two-of-them.md", "examples/shelf.rs"),
];

#[test]
fn what_a_chapter_quotes_is_in_its_program() {
    for (chapter, program) in QUOTED {
        let page = read(&format!("book/src/{chapter}"));
        assert!(page.contains(program), "{chapter} does not name {program}");
        let program = lines(&read(program));
        let blocks: Vec<_> = page.split("\n```rust,ignore\n").skip(1).collect();
        assert!(!blocks.is_empty(), "{chapter}");
        for block in blocks {
            let block = block.split("\n```").next().unwrap();
            // `// ..` stands for lines that are left out.
            for passage in block.split("// ..") {
                let passage = lines(passage);
                assert!(
                    program.contains(&passage),
                    "{chapter} quotes what is not there:\n{passage}"
                );
            }
        }
    }
}

#[test]
fn what_is_copied_out_of_a_chapter_is_a_program() {
    // In the second chapter the whole program is shown.
    let page = read("book/src/a-tool-that-fails.md");
    let blocks = page.split("\n```rust,ignore\n").skip(1);
    let shown: Vec<_> = blocks
        .map(|block| block.split("\n```").next().unwrap())
        .collect();
    let program = read("examples/lending.rs");
    let (_, program) = program.split_once("\n\n").unwrap();
    assert_eq!(lines(&shown.join("\n")), lines(program));
}

#[test]
fn at_most_two_lines_of_a_block_are_hidden() {
    // On GitHub they are seen. What is shown can be copied and run.
    for entry in fs::read_dir(root().join("book/src")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "md") {
            let page = fs::read_to_string(&path).unwrap();
            for block in page.split("\n```rust").skip(1) {
                let block = block.split("\n```").next().unwrap();
                let lines = block.lines().map(str::trim_start);
                let hidden = lines.filter(|line| line.starts_with("# ") || *line == "#");
                let hidden: Vec<_> = hidden.collect();
                let chapter = path.display();
                assert!(hidden.len() <= 2, "{chapter} hides {hidden:#?}");
            }
        }
    }
}

/// A text without indentation and empty lines.
fn lines(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n") + "\n"
}
