//! The chapters of the tutorial quote programs of `examples/`, which `tests/examples/` runs.

use crate::read;

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
fn nothing_much_is_hidden_in_the_tutorial() {
    // On GitHub, hidden lines are seen.
    for (chapter, _) in QUOTED.into_iter().chain([("first-agent.md", "")]) {
        let page = read(&format!("book/src/{chapter}"));
        let hidden = page.lines().map(str::trim_start);
        let hidden: Vec<_> = hidden
            .filter(|line| line.starts_with("# ") && !page.starts_with(line))
            .collect();
        assert!(hidden.is_empty(), "{chapter}: {hidden:?}");
    }
}

/// A text without indentation and empty lines.
fn lines(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n") + "\n"
}
