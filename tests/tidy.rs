//! Rules of this repository that can be checked by reading its files.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    path::{Path, PathBuf},
};

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            match entry.is_dir() {
                true if entry.ends_with("target") => {}
                true => folders.push(entry),
                false if entry.to_string_lossy().ends_with(ending) => found.push(entry),
                false => {}
            }
        }
    }
    found
}

#[test]
fn every_misuse_has_its_message() {
    for case in files("tests/ui", ".rs") {
        let has_message = case.with_extension("stderr").exists();
        assert!(has_message, "{}", case.display());
    }
}

#[test]
fn every_chapter_is_in_the_summary_and_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let summary = fs::read_to_string(root.join("book/src/SUMMARY.md")).unwrap();
    // A chapter is compiled in the crate that it shows.
    let crates = [
        "src/lib.rs",
        "agents-runtime/src/lib.rs",
        "agents-mcp/src/lib.rs",
        "agents-openapi/src/lib.rs",
        "agents-sandbox/src/lib.rs",
        "agents-restate/src/lib.rs",
        "agents-control/src/lib.rs",
        "agents-server/src/lib.rs",
    ];
    let crates = crates.map(|path| fs::read_to_string(root.join(path)).unwrap());
    for chapter in files("book/src", ".md") {
        let name = chapter.file_name().unwrap().to_string_lossy().into_owned();
        if name != "SUMMARY.md" {
            assert!(
                summary.contains(&format!("({name})")),
                "{name} is not in SUMMARY.md"
            );
            let included = format!("book/src/{name}\"");
            assert_eq!(
                crates.concat().matches(&included).count(),
                1,
                "{name} is to be compiled, once"
            );
        }
    }
}

#[test]
fn the_core_reaches_nothing_outside() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents-core/Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap();
    for network in ["reqwest", "hyper", "sqlx", "rusqlite"] {
        assert!(
            !manifest.contains(network),
            "agents-core knows no {network}"
        );
    }
    for file in files("agents-core/src", ".rs") {
        // The recorder of tests writes files, and is used only in tests.
        if file.ends_with("checks/oracle.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            !text.contains("std::fs") && !text.contains("std::net"),
            "{}",
            file.display()
        );
    }
}

#[test]
fn the_reader_depends_on_none_of_our_crates() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents-reader/Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap();
    let (_, dependencies) = manifest.split_once("\n[dependencies]\n").unwrap();
    assert!(dependencies.contains("serde_json"), "{dependencies}");
    assert!(!dependencies.contains("agents"), "{dependencies}");
}

/// Checks modules against "Layers" in ARCHITECTURE.md. A module may name only those above it; the table lists the
/// exceptions.
#[test]
fn modules_look_up() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let architecture = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let (_, layers) = architecture.split_once("\n## Layers\n").unwrap();
    let layers: Vec<_> = layers.split("```").collect();
    let lines = layers[1].lines().skip(1);
    let order: Vec<_> = lines
        .flat_map(|line| line.split("  ").next().unwrap().split(' '))
        .collect();
    let down: Vec<_> = layers[2]
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            (
                line.split('`').nth(1).unwrap(),
                line.split('`').nth(3).unwrap(),
            )
        })
        .collect();
    let sources = root.join("agents-core/src");
    // A name that the root re-exports belongs to its module.
    let facade = fs::read_to_string(sources.join("lib.rs")).unwrap();
    let exports = facade
        .lines()
        .filter_map(|line| line.strip_prefix("pub use "));
    let exports: Vec<_> = exports
        .filter_map(|export| export.split_once("::"))
        .collect();
    let module_of = |name: &str| {
        let exported = |what: &&(&str, &str)| {
            what.1
                .split(['{', '}', ',', ';', ' '])
                .any(|one| one == name)
        };
        let exported = exports.iter().find(exported).map(|(module, _)| *module);
        let module = exported.unwrap_or(name);
        order
            .iter()
            .position(|other| *other == module)
            .ok_or_else(|| name.to_owned())
    };
    let (mut wrong, mut used) = (Vec::new(), Vec::new());
    for file in files("agents-core/src", ".rs") {
        let place = file.strip_prefix(&sources).unwrap().to_str().unwrap();
        let own = place.split(['/', '.']).next().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        if own == "lib" || place.contains("tests") {
            continue;
        }
        let own = module_of(own).unwrap();
        for named in names_of_the_crate(text) {
            let module = module_of(&named).unwrap_or_else(|name| {
                panic!("{place} names `{name}`: which layer of ARCHITECTURE.md is that?")
            });
            match down
                .iter()
                .find(|(file, of)| *file == place && *of == order[module])
            {
                _ if module <= own => {}
                Some(said) => used.push(said),
                None => wrong.push(format!("{place} names `{named}`")),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "these look down the layers of ARCHITECTURE.md: {wrong:#?}"
    );
    let idle: Vec<_> = down.iter().filter(|said| !used.contains(said)).collect();
    assert!(
        idle.is_empty(),
        "ARCHITECTURE.md says that these look down, and they do not: {idle:?}"
    );
}

/// Returns the names directly after `crate::`, in paths and in lists.
fn names_of_the_crate(text: &str) -> Vec<String> {
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code = code.collect::<Vec<_>>().join("\n");
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut names = Vec::new();
    for (_, after) in code
        .match_indices("crate::")
        .map(|(at, path)| code.split_at(at + path.len()))
    {
        if !after.starts_with('{') {
            names.push(
                after
                    .split(|letter| !is_letter(letter))
                    .next()
                    .unwrap()
                    .to_owned(),
            );
            continue;
        }
        let mut depth = 0;
        let mut before = ' ';
        for (at, letter) in after.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' if depth == 1 => break,
                '}' => depth -= 1,
                _ if depth == 1 && is_letter(letter) && matches!(before, '{' | ',') => {
                    names.push(
                        after[at..]
                            .split(|letter| !is_letter(letter))
                            .next()
                            .unwrap()
                            .to_owned(),
                    );
                }
                _ => {}
            }
            if !letter.is_whitespace() {
                before = letter;
            }
        }
    }
    names
}

/// Checks the table in `tests/integration/behaviours.rs`: every row names an existing test, or a reason.
#[test]
fn every_behaviour_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests: Vec<_> = files("tests/integration", ".rs")
        .into_iter()
        .map(|file| {
            let text = fs::read_to_string(&file).unwrap();
            (file.with_extension(""), text)
        })
        .collect();
    // Names are relative to the table, or to the root of the tests.
    let is_there = |name: &str| {
        let (module, function) = name.rsplit_once("::").unwrap();
        let module = Path::new(&module.replace("::", "/")).to_owned();
        let folder = root.join("tests/integration");
        let places = [folder.join("behaviours").join(&module), folder.join(module)];
        let function = format!("fn {function}(");
        let mut tests = tests.iter();
        tests.any(|(place, text)| places.contains(place) && text.contains(&function))
    };
    let table = fs::read_to_string(root.join("tests/integration/behaviours.rs")).unwrap();
    let rows = table.lines().filter_map(|line| {
        let cells: Vec<_> = line.strip_prefix("//! | ")?.split(" | ").collect();
        Some((cells[0].parse::<usize>().ok()?, cells))
    });
    let mut numbers = Vec::new();
    for (number, cells) in rows {
        let [_, _, names, different] = cells[..] else {
            panic!("row {number} has {} cells", cells.len())
        };
        numbers.push(number);
        let said = different.trim_end_matches([' ', '|']);
        assert!(!names.is_empty() || !said.is_empty(), "row {number}");
        for name in names.split('`').filter(|name| name.contains("::")) {
            assert!(is_there(name), "row {number}: there is no test `{name}`");
        }
        for case in said.split('`').filter(|case| case.starts_with("tests/")) {
            assert!(root.join(case).exists(), "row {number}: there is no {case}");
        }
    }
    assert!(numbers.into_iter().eq(1..=56));
}

/// Checks `REQUIREMENTS.md`: every id is there once and in order, and every test that a line names exists, with the id in
/// its name. A line without a test says what is open.
#[test]
fn every_requirement_has_its_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("REQUIREMENTS.md")).unwrap();
    let groups = [
        ("T", 14),
        ("E", 15),
        ("O", 11),
        ("X", 17),
        ("A", 14),
        ("U", 6),
        ("L", 26),
        ("K", 8),
        ("D", 6),
        ("5.", 15),
    ];
    let ids = groups
        .iter()
        .flat_map(|(letter, last)| (1..=*last).map(move |n| format!("{letter}{n}")));
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<_> = line
            .strip_prefix("| ")?
            .strip_suffix('|')?
            .split(" | ")
            .collect();
        Some(cells).filter(|cells| cells[0] != "id")
    });
    let mut found = Vec::new();
    for row in rows {
        let [id, sentence, tests, open] = row[..] else {
            panic!("{row:?}: a line has four cells");
        };
        found.push(id.to_owned());
        assert!(sentence.ends_with('.'), "{id}: what holds is a sentence");
        assert!(
            !tests.is_empty() || !open.trim().is_empty(),
            "{id}: neither shown nor open"
        );
        let in_name = match id.split_once('.') {
            Some((chapter, number)) => format!("s{chapter}_{number}"),
            None => id.to_lowercase(),
        };
        for test in tests.split('`').skip(1).step_by(2) {
            let Some((file, name)) = test.split_once("::") else {
                // A misuse, with its message.
                assert!(
                    test.starts_with("tests/ui/") && root.join(test).exists(),
                    "{id}: {test} is not there"
                );
                continue;
            };
            let text = fs::read_to_string(root.join(file)).unwrap_or_default();
            let (before, _) = text
                .split_once(&format!("fn {name}("))
                .unwrap_or_else(|| panic!("{id}: {test} is not there"));
            let attributes = before.rsplit("\n\n").next().unwrap_or_default();
            // Laws are made by a macro, and each example has a test of its own name.
            let is_test = attributes.contains("test") || before.contains("proptest!");
            assert!(is_test, "{id}: {test} is no test");
            let is_named = format!("_{name}_").contains(&format!("_{in_name}_"));
            assert!(
                is_named || file == "tests/examples/main.rs",
                "{id}: the name of {test} has no `{in_name}`"
            );
        }
    }
    assert!(
        found.iter().cloned().eq(ids),
        "each id is there once, in order: {found:?}"
    );
}

/// Returns a path with its braces written out: `a/{b, c}.rs` is `a/b.rs` and `a/c.rs`.
fn written_out(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else {
        return vec![path.to_owned()];
    };
    let (inside, after) = rest.split_once('}').unwrap_or((rest, ""));
    let parts = inside.split(',').map(str::trim);
    parts
        .flat_map(|part| written_out(&format!("{before}{part}{after}")))
        .collect()
}

#[test]
fn every_path_of_the_architecture_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let architecture = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let bases = [
        "",
        "agents-core/src",
        "agents-macros/src",
        "tests/integration",
    ];
    let is_path = |span: &&str| {
        let known = |letter: char| letter.is_ascii_alphanumeric() || "_-/{}., ".contains(letter);
        span.ends_with(".rs")
            && span.contains('/')
            && span.chars().all(known)
            && !span.contains("NAME")
    };
    let spans = architecture.lines().filter(|line| !line.starts_with("```"));
    let spans = spans.flat_map(|line| line.split('`').skip(1).step_by(2));
    let mut missing = Vec::new();
    for path in spans.filter(is_path).flat_map(written_out) {
        let path = path.strip_prefix("i/").unwrap_or(&path);
        if !bases.iter().any(|base| root.join(base).join(path).exists()) {
            missing.push(path.to_owned());
        }
    }
    assert!(missing.is_empty(), "not there: {missing:#?}");
}
