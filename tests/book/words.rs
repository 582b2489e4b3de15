//! The keywords of the macros equal those on the page about them.

use crate::{read, texts};

/// Compares the page with the lists in `agents-macros/src/keys.rs`: the usage of each key and the name of each
/// verb.
#[test]
fn every_word_of_the_macros_is_listed() {
    let page = read("book/src/words.md");
    let source = read("agents-macros/src/keys.rs");
    let list = |name: &str| {
        let (_, list) = source.split_once(&format!("const {name}: ")).unwrap();
        list.split_once("];\n").unwrap().0.to_owned()
    };
    for name in ["TOOL", "AGENT", "SKILL", "PLACE"] {
        // Each entry has a name and a spelling.
        let words = texts(&list(name));
        let usages: Vec<_> = words.chunks(2).map(|pair| &pair[1]).collect();
        assert!(!usages.is_empty(), "{name}");
        for usage in usages {
            let usage = format!("`{}`", usage.replace('|', "\\|"));
            assert!(page.contains(&usage), "{name}: {usage}");
        }
    }
    for name in [
        "EFFECTS",
        "CATEGORIES",
        "CACHES",
        "APPROVALS",
        "RISKS",
        "BUDGET",
        "MARKS",
        "TOOL_BLOCKS",
        "BLOCKS",
        "KINDS",
        "VERBS",
        "RESOLUTIONS",
    ] {
        for word in texts(&list(name)) {
            let is_variant = word.starts_with(|letter: char| letter.is_ascii_uppercase());
            let before = ["`", "[", "(", ", "].map(|sign| format!("{sign}{word}"));
            let after = [" =", "!`"].map(|sign| format!("{word}{sign}"));
            let mut ways = before.iter().chain(&after);
            let is_there = ways.any(|way| page.contains(way));
            assert!(is_variant || is_there, "{name}: {word}");
        }
    }
}

#[test]
fn every_name_of_the_prelude_is_listed() {
    let page = read("book/src/words.md");
    let (_, page) = page.split_once("\n## In the prelude\n").unwrap();
    let source = read("src/lib.rs");
    let (_, prelude) = source.split_once("pub mod prelude {\n").unwrap();
    let (prelude, _) = prelude.split_once("\n}\n").unwrap();
    let uses = prelude.lines().filter(|line| line.contains("pub use "));
    let mut names = uses.flat_map(|line| {
        let (_, names) = line.rsplit_once("::").unwrap();
        names.trim_matches(['{', '}', ';']).split(", ")
    });
    let lacking: Vec<_> = names
        .by_ref()
        .filter(|name| !page.contains(&format!("`{name}`")))
        .collect();
    assert!(
        lacking.is_empty() && prelude.contains("AgentBuilder"),
        "{lacking:?}"
    );
}
