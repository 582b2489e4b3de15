//! Terms of the glossary. Each names public items, and each public module has a term.

use crate::{read, root};
use std::{collections::BTreeSet, fs};

/// A line of the glossary.
struct Term {
    name: String,
    meaning: String,
    /// Paths of items, such as `agents::run::Event`.
    paths: Vec<String>,
}

/// Returns the lines of the table in the glossary.
fn terms() -> Vec<Term> {
    let page = read("book/src/glossary.md");
    let (_, table) = page
        .split_once("| term | meaning | in the API |\n|-|-|-|\n")
        .unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let terms: Vec<_> = rows
        .map(|row| {
            let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
            let [name, meaning, paths] = cells[..] else {
                panic!("{row}: a term has a meaning, and its paths");
            };
            let paths = paths.split(", ").map(|path| {
                let bare = path
                    .strip_prefix('`')
                    .and_then(|path| path.strip_suffix('`'));
                bare.unwrap_or_else(|| panic!("{row}: a path is in backticks"))
                    .to_owned()
            });
            Term {
                name: name.to_owned(),
                meaning: meaning.to_owned(),
                paths: paths.collect(),
            }
        })
        .collect();
    assert!(terms.len() > 50, "only {} terms were found", terms.len());
    terms
}

/// Returns the public modules of the facade, read from its source.
fn modules() -> BTreeSet<String> {
    let facade = read("src/lib.rs");
    let core = read("agents-core/src/lib.rs");
    let mut modules = BTreeSet::new();
    for line in facade.lines() {
        if let Some(module) = line.strip_prefix("pub mod ") {
            modules.insert(module.trim_end_matches([';', ' ', '{']).to_owned());
        }
    }
    // Modules of other crates of the project, under their names here.
    for exported in facade.split("\npub use agents_").skip(1) {
        let (list, _) = exported.split_once(';').unwrap();
        let (origin, list) = list.split_once("::").unwrap();
        for name in list.trim_matches(['{', '}']).split(',').map(str::trim) {
            let is_module = match origin {
                "core" => {
                    core.contains(&format!("\npub mod {name};\n"))
                        || core.contains(&format!(" as {name};\n"))
                }
                _ => name.starts_with("self as "),
            };
            if is_module {
                modules.insert(name.trim_start_matches("self as ").to_owned());
            }
        }
    }
    modules
}

/// `terms.rs` imports each path of the glossary in `agents`, so that it compiles only if all of them exist.
#[test]
fn every_path_of_the_glossary_is_compiled() {
    let terms = terms();
    let all: BTreeSet<_> = terms.iter().flat_map(|term| &term.paths).collect();
    let (paths, elsewhere): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|path| path.starts_with("agents::"));
    // The facade depends on no crate of durable runs. Their exports are read.
    for path in elsewhere {
        let (of, item) = path.split_once("::").unwrap();
        let exports = read(&format!("{}/src/lib.rs", of.replace('_', "-")));
        let is_exported = exports
            .split("\npub use ")
            .skip(1)
            .filter_map(|export| export.split_once(';'))
            .any(|(list, _)| {
                list.split(|c: char| !c.is_alphanumeric())
                    .any(|name| name == item)
            });
        assert!(is_exported, "{path} is not exported");
    }
    let mut expected = "//! Items that the glossary names, one import for each. `UPDATE_EXPECT=1 cargo test --test book` writes this list.\n\n\
                        #![allow(unused_imports)]\n\n"
        .to_owned();
    for path in paths {
        expected += &format!("use {path} as _;\n");
    }
    let file = "tests/book/terms.rs";
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(root().join(file), expected).unwrap();
    } else {
        let written = read(file);
        let lacking: Vec<_> = expected
            .lines()
            .filter(|line| !written.lines().any(|other| other == *line))
            .collect();
        assert!(
            written == expected,
            "{file} differs from the glossary; write it with `UPDATE_EXPECT=1 cargo test --test book`, and compile it; lacking {lacking:#?}"
        );
    }
}

#[test]
fn every_public_module_has_a_term() {
    let modules = modules();
    for known in [
        "agent", "ollama", "prelude", "reader", "testing", "timeline",
    ] {
        assert!(modules.contains(known), "{known} was not found");
    }
    let terms = terms();
    let named: BTreeSet<_> = terms
        .iter()
        .flat_map(|term| &term.paths)
        .filter_map(|path| path.split("::").nth(1))
        .collect();
    let lacking: Vec<_> = modules
        .iter()
        .filter(|module| !named.contains(module.as_str()))
        .collect();
    assert!(
        lacking.is_empty(),
        "no term of the glossary is in {lacking:?}"
    );
}

#[test]
fn a_term_has_one_plain_sentence_and_stands_in_order() {
    let terms = terms();
    for term in &terms {
        let (name, meaning) = (&term.name, &term.meaning);
        let is_one = meaning.ends_with('.') && !meaning.contains(". ");
        assert!(is_one, "{name}: the meaning is one sentence");
        let words = meaning.split_whitespace().count();
        assert!(words <= 20, "{name}: {words} words");
    }
    for pair in terms.windows(2) {
        let [first, second] = [&pair[0].name, &pair[1].name].map(|name| name.to_lowercase());
        assert!(first < second, "{second} stands behind {first}");
    }
}
