//! Follows the front page and the tutorial in a new package. Uses only the dependencies, files and commands of these
//! pages, and compares the output. Lists the files of the packages that would be published.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap()
}

/// Returns the fenced blocks of a page, in order, each with its info string and its text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut blocks = Vec::new();
    let mut rest = page;
    while let Some((_, fenced)) = rest.split_once("\n```") {
        let (block, after) = fenced.split_once("\n```").unwrap();
        blocks.push(block.split_once('\n').unwrap());
        rest = after;
    }
    blocks
}

/// Returns the commands of a `console` block.
fn commands(block: &str) -> impl Iterator<Item = &str> {
    block.lines().filter_map(|line| line.strip_prefix("$ "))
}

/// A package as a reader of the book creates it.
struct Package {
    name: String,
    folder: PathBuf,
    /// Dependency lines of the manifest, by crate.
    added: BTreeMap<String, String>,
    profiles: String,
}

impl Package {
    fn new(name: &str) -> Package {
        let folder = Path::new(ROOT).join("target/packages").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("src")).unwrap();
        Package {
            name: name.to_owned(),
            folder,
            added: BTreeMap::new(),
            profiles: String::new(),
        }
    }

    /// Performs `cargo add` with these arguments; an existing dependency is kept.
    fn add(&mut self, arguments: &str) {
        let mut names = Vec::new();
        let mut keys = String::new();
        let mut words = arguments.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "--path" => {
                    let path = words.next().and_then(|path| path.strip_prefix("../agents"));
                    let path = path.unwrap_or_else(|| panic!("{arguments}: which path?"));
                    keys += &format!(", path = {:?}", format!("{ROOT}{path}"));
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
            let line = format!("{name} = {{ version = \"{}\"{keys} }}\n", locked(name));
            self.added.entry(name.to_owned()).or_insert(line);
        }
    }

    /// Performs a command of a chapter; returns the output of `cargo run`.
    fn follow(&mut self, command: &str) -> Option<String> {
        match command {
            "cargo run" => return Some(self.cargo("run")),
            "cargo build" => _ = self.cargo("build"),
            "cargo test" => {
                let ran = self.cargo("test");
                assert!(
                    ran.contains("running ") && !ran.contains("running 0"),
                    "{ran}"
                );
            }
            // The folder exists already.
            "cargo new shelf && cd shelf" => {}
            other => match other.strip_prefix("cargo add ") {
                Some(arguments) => self.add(arguments),
                None => panic!("`{other}` is not followed here"),
            },
        }
        None
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.folder.join(file), text).unwrap();
    }

    /// Runs a cargo command, checks that it succeeds without warnings, and returns its output.
    fn cargo(&self, command: &str) -> String {
        let lines: String = self.added.values().map(String::as_str).collect();
        let Package { name, profiles, .. } = self;
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\n{lines}\n[profile.dev]\n{profiles}"
        );
        self.write("Cargo.toml", &manifest);
        if !self.folder.join("Cargo.lock").exists() {
            self.write("Cargo.lock", &read("Cargo.lock"));
        }
        let done = Command::new(env!("CARGO"))
            .args(command.split(' '))
            .args(["--quiet", "--offline"])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", format!("{ROOT}/target/features"))
            .output()
            .expect("cargo runs the tests, so it is there");
        let said = String::from_utf8_lossy(&done.stderr);
        let printed = String::from_utf8(done.stdout).unwrap();
        assert!(done.status.success(), "{name}, {command}:\n{said}{printed}");
        let mut lines = said.lines();
        let warning = lines
            .find(|line| line.starts_with("warning: ") && !line.contains("profile package spec"));
        assert_eq!(warning, None, "{name}, {command}:\n{said}");
        printed
    }
}

/// Returns the newest version of a package in the lock file: the one that `cargo add` would choose, and that is here.
fn locked(name: &str) -> String {
    let lock = read("Cargo.lock");
    let entry = format!("\nname = \"{name}\"\nversion = \"");
    let newest = lock
        .rsplit_once(&entry)
        .map(|(_, rest)| rest.split('"').next());
    let newest = newest.flatten();
    format!(
        "={}",
        newest.unwrap_or_else(|| panic!("`{name}` is not in the lock file"))
    )
}

#[test]
fn the_front_page_names_all_that_its_programs_need() {
    let page = read("README.md");
    let payment = read("book/src/a-payment-that-waits.md");
    let mut package = Package::new("front_page");
    let (mut first, mut second) = (String::new(), String::new());
    for (kind, block) in blocks(&page) {
        match kind {
            "rust,no_run" => first = format!("{block}\n"),
            // One program, in parts.
            "rust,ignore" => second += &format!("{block}\n\n"),
            "console" => {
                for command in commands(block) {
                    match command.strip_prefix("cargo add ") {
                        // No program of the page needs it. The chapter that does is followed below.
                        Some(arguments) if arguments.starts_with("typed-agents-runtime ") => {
                            assert!(payment.contains(&format!("\n$ {command}\n")), "{command}");
                        }
                        Some(arguments) => package.add(arguments),
                        None => {}
                    }
                }
            }
            _ => {}
        }
    }
    assert!(
        package.added.contains_key("typed-agents"),
        "what is to be added?"
    );
    assert!(!first.is_empty() && !second.is_empty(), "two programs");
    fs::create_dir_all(package.folder.join("src/bin")).unwrap();
    package.write("src/main.rs", &first);
    package.write("src/bin/second.rs", &second);
    // With these profiles, cargo reuses the builds of `tests/features.rs`.
    let workspace = read("Cargo.toml");
    let (_, profiles) = workspace.split_once("\n[profile.dev]\n").unwrap();
    package.profiles = profiles.to_owned();
    package.cargo("check");
}

const TUTORIAL: [&str; 4] = [
    "first-agent.md",
    "a-tool-that-fails.md",
    "asking-for-help.md",
    "two-of-them.md",
];

/// Follows the chapters block by block. A Rust block is the file named in its first line, a `console` block is
/// executed, and a `text` block is the complete output of the program before it.
#[test]
fn t1_t14_the_tutorial_can_be_walked() {
    let mut package = Package::new("shelf");
    package.profiles = "debug = false\n".to_owned();
    for chapter in TUTORIAL {
        let page = read(&format!("book/src/{chapter}"));
        let mut printed = None;
        let mut shows = 0;
        for (kind, block) in blocks(&page) {
            match kind.split(',').next().unwrap() {
                "rust" => {
                    let (file, _) = block.split_once('\n').unwrap();
                    let file = file.strip_prefix("// src/");
                    let file = file.unwrap_or_else(|| panic!("{chapter}: which file?\n{block}"));
                    package.write(&format!("src/{file}"), &format!("{block}\n"));
                }
                "console" => {
                    for command in commands(block) {
                        assert_eq!(printed, None, "{chapter} does not show what was printed");
                        printed = package.follow(command);
                    }
                }
                "text" => {
                    shows += 1;
                    let printed = printed.take().unwrap_or_default();
                    let shown: Vec<_> = block.lines().map(without_times).collect();
                    let lines: Vec<_> = printed.lines().map(without_times).collect();
                    assert_eq!(
                        shown, lines,
                        "{chapter} shows this, and the program prints\n{printed}"
                    );
                }
                other => panic!("{chapter} has a block of the kind `{other}`"),
            }
        }
        assert_eq!(printed, None, "{chapter} does not show what was printed");
        assert!(shows > 0, "{chapter} runs nothing");
    }
}

/// `crates/cli/tests/it/tutorials.rs` follows the chapters about durable runs. Here their files are checked with the
/// dependencies that the chapters name.
#[test]
fn the_chapters_about_durable_runs_name_all_that_they_need() {
    let team = [&TUTORIAL[..], &["a-team-that-asks.md"]].concat();
    for (name, chapters) in [
        ("payer", vec!["a-payment-that-waits.md"]),
        ("asking_shelf", team),
    ] {
        let mut package = Package::new(name);
        package.profiles = "debug = false\n".to_owned();
        for chapter in chapters {
            let page = read(&format!("book/src/{chapter}"));
            for (kind, block) in blocks(&page) {
                if kind.starts_with("rust") {
                    let (file, _) = block.split_once('\n').unwrap();
                    let file = file.strip_prefix("// ").unwrap();
                    package.write(file, &format!("{block}\n"));
                } else if kind == "console" {
                    let added =
                        commands(block).filter_map(|command| command.strip_prefix("cargo add "));
                    added.for_each(|arguments| package.add(arguments));
                }
            }
        }
        assert!(package.added.contains_key("typed-agents-runtime"), "{name}");
        package.cargo("check");
    }
}

/// Removes durations from a line, since they differ each time.
fn without_times(line: &str) -> &str {
    let line = line.split(" again in ").next().unwrap();
    let took = line.rfind("  (").filter(|_| line.ends_with("s)"));
    took.map_or(line, |at| &line[..at])
}

#[test]
fn a_page_is_read_as_a_reader_does() {
    let page = "# A\n\n```console\n$ cargo add tokio --features fs,rt\n$ cargo add serde serde_json\n```\n\n```rust,ignore\nlet a = 1;\n```\n";
    let blocks = blocks(page);
    assert_eq!(blocks[1], ("rust,ignore", "let a = 1;"));
    let mut package = Package::new("none");
    for command in commands(blocks[0].1) {
        package.add(command.strip_prefix("cargo add ").unwrap());
    }
    let lines: Vec<_> = package.added.into_values().collect();
    let [serde, serde_json, tokio] = ["serde", "serde_json", "tokio"].map(locked);
    assert_eq!(
        lines,
        [
            format!("serde = {{ version = \"{serde}\" }}\n"),
            format!("serde_json = {{ version = \"{serde_json}\" }}\n"),
            format!("tokio = {{ version = \"{tokio}\", features = [\"fs\", \"rt\"] }}\n"),
        ]
    );
    assert!(serde.starts_with("=1."), "{serde}");
    let took = "  ✓ lend {} → 3  (2 attempts, 56 ms)";
    assert_eq!(without_times(took), "  ✓ lend {} → 3");
    assert_eq!(without_times("  … lend again in 53ms"), "  … lend");
    assert_eq!(without_times("= 3 (2 requests)"), "= 3 (2 requests)");
}

/// Returns the folders of the packages that would be published, with their manifests.
fn published() -> Vec<(String, String)> {
    let listed = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(ROOT)
        .output()
        .expect("cargo runs the tests, so it is there");
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let manifests = listed["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            let manifest = Path::new(package["manifest_path"].as_str().unwrap());
            let folder = manifest.parent().unwrap().strip_prefix(ROOT).unwrap();
            let folder = Path::new(".").join(folder);
            let text = fs::read_to_string(manifest).unwrap();
            (folder.to_str().unwrap().to_owned(), text)
        });
    manifests
        .filter(|(_, manifest)| !manifest.contains("\npublish = false\n"))
        .collect()
}

/// Checks that a package has what its users need, and nothing that is for this repository alone.
#[test]
fn packages_have_what_their_users_need() {
    let published = published();
    assert!(published.len() > 15, "{}", published.len());
    for (folder, _) in published {
        let listed = Command::new(env!("CARGO"))
            .args(["package", "--list", "--offline", "--allow-dirty", "--quiet"])
            .current_dir(Path::new(ROOT).join(&folder))
            .output()
            .expect("cargo runs the tests, so it is there");
        let files = String::from_utf8(listed.stdout).unwrap();
        for needed in ["README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(
                files.lines().any(|file| file == needed),
                "{folder} has no {needed}:\n{files}"
            );
            let is_own = needed == "README.md" && folder != "./";
            let own = read(&format!("{folder}/{needed}"));
            assert_eq!(own == read(needed), !is_own, "{folder}/{needed}");
        }
        assert!(
            files.lines().any(|file| file.starts_with("src/")),
            "{folder}:\n{files}"
        );
        let needless = files.lines().find(|file| {
            let is_picture = [".png", ".svg"].iter().any(|ending| file.ends_with(ending));
            is_picture || file.starts_with("tests/") || file.contains("node_modules")
        });
        assert_eq!(needless, None, "of {folder}: is its `include` too wide?");
    }
}

/// Checks that a package names the versions of the crates of this repository that its users get with it.
#[test]
fn published_packages_depend_on_versions() {
    for (folder, manifest) in published() {
        let section = |name: &str| {
            let (_, section) = manifest.split_once(&format!("\n[{name}]\n"))?;
            Some(section.split("\n[").next().unwrap_or(section))
        };
        let lines = section("dependencies").unwrap_or_default().lines();
        for line in lines.filter(|line| line.contains("path = ")) {
            assert!(line.contains("version = "), "{folder}: {line}");
        }
    }
    let workspace = read("Cargo.toml");
    let version = workspace.split("\nversion = \"").nth(1).unwrap();
    let version = version.split('"').next().unwrap();
    let own = workspace
        .lines()
        .filter(|line| line.contains("path = \"") && line.contains("agents-"));
    for line in own {
        let has_version = line.contains(&format!("version = \"{version}\""));
        // What tests need is for this repository alone. Without a version, it is left out of packages.
        let is_published = !line.contains("path = \"tests/");
        assert_eq!(has_version, is_published, "{line}");
    }
}
