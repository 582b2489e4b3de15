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
                true if entry.ends_with("target") || entry.ends_with("node_modules") => {}
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
    let files = files("tests/ui", ".rs");
    for case in files.iter().filter(|file| !file.ends_with("ui/ui.rs")) {
        let has_message = case.with_extension("stderr").exists();
        assert!(has_message, "{}", case.display());
    }
}

#[test]
fn every_chapter_is_in_the_summary_and_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let summary = fs::read_to_string(root.join("book/src/SUMMARY.md")).unwrap();
    // A chapter is compiled in the crate that it shows.
    let crates = [files("src", "lib.rs"), files("crates", "/src/lib.rs")].concat();
    let crates: Vec<_> = crates
        .into_iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
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
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/reader/Cargo.toml");
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

/// docs.rs shows the items of all features of a library.
#[test]
fn the_documentation_of_each_library_has_all_features() {
    let metadata = "[package.metadata.docs.rs]\nall-features = true\n";
    let folders = ["agents-core", "agents-macros", "agents-ollama", "crates"];
    let mut libraries: Vec<_> = folders
        .iter()
        .flat_map(|folder| files(folder, "/src/lib.rs"))
        .collect();
    libraries.extend(files("src", "lib.rs"));
    assert!(libraries.len() > 10, "{libraries:?}");
    for library in libraries {
        let folder = library.ancestors().nth(2).unwrap();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let is_published = !manifest.contains("\npublish = false\n");
        if is_published && manifest.contains("\n[features]\n") {
            assert!(manifest.contains(metadata), "{}", folder.display());
        }
    }
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
