//! The modules of this crate import in one direction only.

use std::{collections::BTreeSet, fs, path::Path};

/// Returns the modules in the order of the list under "Layers" in `lib.rs`, which the test holds the code against.
fn order() -> Vec<String> {
    let root = include_str!("../lib.rs");
    let (_, list) = root.split_once("//! # Layers").expect("a list of layers");
    let lines = list.split("```").nth(1).expect("a block").lines().skip(1);
    let words = lines.flat_map(|line| {
        let line = line.trim_start_matches("//! ");
        line.split("  ").next().unwrap_or_default().split(' ')
    });
    words
        .filter(|word| !word.is_empty() && *word != "//!")
        .map(str::to_owned)
        .collect()
}

/// Returns every source file with its module: the text of `lower/tool.rs` belongs to `lower`.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut found, mut folders) = (Vec::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry of a folder").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let place = path.strip_prefix(&root).expect("a path below the root");
            let module = place
                .iter()
                .next()
                .expect("a name")
                .to_string_lossy()
                .replace(".rs", "");
            if path.extension().is_some_and(|ending| ending == "rs")
                && module != "lib"
                && module != "tests"
            {
                let text = fs::read_to_string(&path).expect("a source file");
                found.push((module, text));
            }
        }
    }
    found
}

/// Returns the modules of this crate that a file names, in paths and in lists.
fn named(text: &str) -> BTreeSet<String> {
    let code: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let code = code.join("\n");
    let word = |text: &str| -> String {
        text.chars()
            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
            .collect()
    };
    let mut names = BTreeSet::new();
    for path in code.split("crate::").skip(1) {
        let Some(list) = path.strip_prefix('{') else {
            names.insert(word(path));
            continue;
        };
        let mut depth = 0_usize;
        let mut begins = true;
        for (at, letter) in list.char_indices() {
            match letter {
                '}' if depth == 0 => break,
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => begins = true,
                letter if begins && letter.is_alphabetic() => {
                    names.insert(word(&list[at..]));
                    begins = false;
                }
                _ => {}
            }
        }
    }
    names
}

#[test]
fn modules_import_only_those_above_them() {
    let order = order();
    let place = |name: &str| {
        let place = order.iter().position(|module| module == name);
        place.unwrap_or_else(|| panic!("`{name}` is not in the list of layers"))
    };
    let mut seen = BTreeSet::new();
    for (module, text) in sources() {
        for name in named(&text) {
            assert!(
                place(&name) <= place(&module),
                "`{module}` imports `{name}`, which is below it"
            );
        }
        seen.insert(module);
    }
    assert_eq!(seen.len(), order.len(), "each layer has its module");
}

#[test]
fn messages_import_no_module() {
    for (_, text) in sources().iter().filter(|(module, _)| module == "messages") {
        assert_eq!(named(text), BTreeSet::new());
    }
}

#[test]
fn lowering_reports_nothing() {
    for (_, text) in sources().iter().filter(|(module, _)| module == "lower") {
        let named = named(text);
        assert!(!named.contains("diag") && !named.contains("messages"));
    }
}
