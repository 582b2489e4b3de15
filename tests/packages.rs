//! The programs of the front page and of the tutorial compile in a package of their own, with the dependencies that
//! these pages say, and with no others.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeMap, fs, path::Path, process::Command};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap()
}

/// The code blocks of a page whose fence begins with this language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("\n```{language}");
    let parts = page.split(fence.as_str()).skip(1);
    parts
        .map(|part| {
            let (_, code) = part.split_once('\n').unwrap();
            code.split("\n```").next().unwrap()
        })
        .collect()
}

/// What a page says to add, as lines of a manifest. Where it has a choice for a crate, the first counts.
fn dependencies(page: &str) -> BTreeMap<String, String> {
    let lines = blocks(page, "console").into_iter().flat_map(str::lines);
    let mut added = BTreeMap::new();
    for line in lines.filter_map(|line| line.strip_prefix("$ cargo add ")) {
        let mut names = Vec::new();
        // The lock file has the version.
        let mut keys = String::from("version = \"*\"");
        let mut words = line.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "--path" => {
                    assert_eq!(words.next(), Some("../agents"), "{line}");
                    keys += &format!(", path = {ROOT:?}");
                }
                "--features" => {
                    let features: Vec<_> = words.next().unwrap().split(',').collect();
                    keys += &format!(", features = {features:?}");
                }
                "--no-default-features" => keys += ", default-features = false",
                name => names.push(name),
            }
        }
        for name in names {
            let line = format!("{name} = {{ {keys} }}\n");
            added.entry(name.to_owned()).or_insert(line);
        }
    }
    added
}

/// The programs of a page as rustdoc would run them, and those that it says to copy.
fn programs(page: &str) -> Vec<String> {
    let all = blocks(page, "rust").into_iter();
    // These are quoted from a program, as `tests/book/quoted.rs` checks.
    let quoted = blocks(page, "rust,ignore");
    let links = page.split("](../../examples/").skip(1);
    let copied = links.map(|link| read(&format!("examples/{}", link.split(')').next().unwrap())));
    let whole = all.filter(|block| !quoted.contains(block));
    whole
        .map(|block| match block.contains("fn main()") {
            true => block.to_owned(),
            false => format!("fn main() {{\n{block}\n}}\n"),
        })
        .chain(copied)
        .collect()
}

/// Has cargo check these pages' programs in a package that has what the pages say.
fn check(package: &str, pages: &[&str]) {
    let folder = Path::new(ROOT).join("target/packages").join(package);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("src/bin")).unwrap();
    let mut added = BTreeMap::new();
    for (number, page) in pages.iter().enumerate() {
        let page = read(page);
        for (name, line) in dependencies(&page) {
            added.entry(name).or_insert(line);
        }
        let programs = programs(&page);
        assert!(
            !programs.is_empty(),
            "{package}: no program on page {number}"
        );
        for (block, program) in programs.iter().enumerate() {
            let file = format!("src/bin/page_{number}_block_{block}.rs");
            fs::write(folder.join(file), program).unwrap();
        }
    }
    assert!(
        added.contains_key("agents"),
        "{package}: what is to be added?"
    );
    let workspace = read("Cargo.toml");
    // With these profiles, what `tests/features.rs` has checked is not checked again.
    let (_, profiles) = workspace.split_once("\n[profile.dev]\n").unwrap();
    let lines: String = added.into_values().collect();
    let manifest = format!(
        "[package]\nname = \"{package}\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\n{lines}\n[profile.dev]\n{profiles}"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("Cargo.lock"), read("Cargo.lock")).unwrap();
    let checked = Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--offline", "--all-targets"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", format!("{ROOT}/target/features"))
        .output()
        .expect("cargo runs the tests, so it is there");
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{package}:\n{said}");
}

#[test]
fn the_front_page_names_all_that_its_program_needs() {
    check("front_page", &["README.md"]);
}

#[test]
fn the_tutorial_names_all_that_its_programs_need() {
    check(
        "tutorial",
        &[
            "book/src/first-agent.md",
            "book/src/a-tool-that-fails.md",
            "book/src/asking-for-help.md",
            "book/src/two-of-them.md",
        ],
    );
}

#[test]
fn what_a_page_says_is_what_is_added() {
    let page =
        "\n```console\n$ cargo add tokio --features fs,rt\n$ cargo add serde serde_json\n```\n";
    let lines: Vec<_> = dependencies(page).into_values().collect();
    assert_eq!(
        lines,
        [
            "serde = { version = \"*\" }\n",
            "serde_json = { version = \"*\" }\n",
            "tokio = { version = \"*\", features = [\"fs\", \"rt\"] }\n",
        ]
    );
    let page = "\n```rust,no_run\nlet a = 1;\n```\n";
    assert_eq!(programs(page), ["fn main() {\nlet a = 1;\n}\n"]);
}
