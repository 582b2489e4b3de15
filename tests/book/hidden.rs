//! Code blocks of the book can be copied and run: few lines are hidden.

use crate::root;
use std::fs;

#[test]
fn at_most_two_lines_of_a_block_are_hidden() {
    // GitHub shows hidden lines too.
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
