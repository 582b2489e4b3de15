//! The chapters of the tutorial about durable runs: their programs and their commands, as the chapters show them.

use crate::desk::{Folder, Ran, binary};
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Lines},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap()
}

/// Returns the fenced blocks of the chapter, each with its kind and its text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut parts = page.split("\n```");
    parts.next();
    let mut blocks = Vec::new();
    while let (Some(block), Some(_)) = (parts.next(), parts.next()) {
        blocks.push(block.split_once('\n').unwrap());
    }
    blocks
}

/// Returns a built program: the example of this name.
fn program(example: &str) -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let folder = this.ancestors().nth(2).unwrap().join("examples");
    let program = folder.join(format!("{example}{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.exists(),
        "`cargo test -p typed-agents-cli` without `--test` builds the example"
    );
    program
}

/// A program at work.
struct Running(Child, Lines<BufReader<ChildStdout>>);

impl Running {
    fn start(example: &str, folder: &Path) -> Running {
        let mut command = Command::new(program(example));
        let command = command.current_dir(folder).env_remove("AGENTS_MODEL");
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Running(child, lines)
    }

    fn next(&mut self) -> Option<String> {
        let line = self.1.next()?.unwrap();
        Some(line.replace("cargo run -p typed-agents-cli --", "agents"))
    }
}

impl Drop for Running {
    /// Kills the program at once, as `kill -9` does.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the ids in a text, in order.
fn ids(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_ascii_hexdigit() && c != '-');
    words
        .filter(|word| word.len() == 36 && word.matches('-').count() == 4)
        .collect()
}

/// Replaces ids, times and durations, which differ each time, and with them the widths of columns.
fn without_ids(text: &str) -> String {
    let is_unit = |word: &str| ["s", "ms"].contains(&word);
    let line = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let plain = words.iter().enumerate().map(|(at, word)| {
            let is_amount = words.get(at + 1).is_some_and(|next| is_unit(next));
            match *word {
                word if is_time(word) => "TIME".to_owned(),
                word if is_unit(word) || is_amount => "TOOK".to_owned(),
                word => match ids(word).first() {
                    Some(id) => word.replace(id, "ID"),
                    None => word.to_owned(),
                },
            }
        });
        plain.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns `true` for a time such as `2026-11-25T03:12:19Z`.
fn is_time(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.len() == 20 && digits == 14 && word.ends_with('Z')
}

/// The reader of a chapter.
struct Reader {
    /// Example that is the program of the chapter.
    example: &'static str,
    folder: Folder,
    /// Real ids by those that the chapter shows.
    ids: BTreeMap<String, String>,
    killed: usize,
}

impl Reader {
    /// Compares what was printed with what the chapter shows, and learns the ids.
    fn compare(&mut self, command: &str, shown: &str, printed: &str) {
        assert_eq!(
            without_ids(shown),
            without_ids(printed),
            "`{command}` prints\n{printed}"
        );
        let pairs = ids(shown).into_iter().zip(ids(printed));
        for (shown, real) in pairs {
            let known = self
                .ids
                .entry(shown.to_owned())
                .or_insert_with(|| real.to_owned());
            assert_eq!(known, real, "`{command}` prints\n{printed}");
        }
    }

    fn follow(&mut self, command: &str, shown: &str) {
        if command == "cargo run" {
            let mut program = Running::start(self.example, &self.folder.0);
            let lines = shown
                .lines()
                .map(|_| program.next().expect("one more line"));
            let printed = lines.collect::<Vec<_>>().join("\n");
            self.compare(command, shown, &printed);
            // A program that has said how to approve waits, and is killed.
            match shown.contains(" approve ") {
                true => self.killed += 1,
                false => {
                    assert_eq!(program.next(), None, "the program ends");
                    assert!(program.0.wait().unwrap().success());
                }
            }
        } else if command == "cat ledger.txt" {
            let ledger = fs::read_to_string(self.folder.0.join("ledger.txt")).unwrap();
            assert_eq!(ledger.trim_end(), shown);
        } else if let Some(args) = command.strip_prefix("agents ") {
            let args = args.split(' ').map(|word| match self.ids.get(word) {
                Some(id) => id.clone(),
                None => word.to_owned(),
            });
            let ran = Ran::of(binary().args(args).current_dir(&self.folder.0)).succeeds();
            self.compare(command, shown, ran.out.trim_end());
        } else {
            // The package of the chapter is not made here: `tests/packages.rs` does that for the first tutorial.
            let known = [
                "cargo new payer",
                "cargo add ",
                "cargo install --path ../agents/crates/cli",
            ];
            assert!(
                known.iter().any(|known| command.starts_with(known)),
                "`{command}`"
            );
            assert_eq!(shown, "");
        }
    }
}

/// Follows a chapter command by command, and returns its reader. An example stands for the program of the chapter.
fn follow(chapter: &str, example: &'static str) -> Reader {
    let page = read(&format!("book/src/{chapter}.md"));
    let mut reader = Reader {
        example,
        folder: Folder::new(chapter),
        ids: BTreeMap::new(),
        killed: 0,
    };
    let blocks = blocks(&page);
    for (at, (kind, block)) in blocks.iter().enumerate() {
        if *kind != "console" {
            continue;
        }
        let shown = match blocks.get(at + 1) {
            Some(("text", shown)) => shown,
            _ => "",
        };
        for command in block.lines() {
            reader.follow(command.strip_prefix("$ ").unwrap(), shown);
        }
    }
    assert!(
        reader.killed > 0 && reader.ids.len() == 2,
        "{:?}",
        reader.ids
    );
    reader
}

#[test]
fn a_payment_that_waits_can_be_followed() {
    let reader = follow("a-payment-that-waits", "payer-of-the-tutorial");
    let ledger = fs::read_to_string(reader.folder.0.join("ledger.txt")).unwrap();
    assert_eq!(ledger, "1200 cents to ACME\n", "it is paid once");
}

#[test]
fn a_team_that_asks_can_be_followed() {
    follow("a-team-that-asks", "shelf-of-the-tutorial");
}

/// Returns the source of an example without the lines at its beginning that a reader does not write.
fn example(path: &str) -> String {
    let text = read(&format!("crates/runtime/examples/{path}"));
    let own = |line: &&str| line.starts_with("//!") || line.starts_with("#![") || line.is_empty();
    let lines: Vec<_> = text.lines().skip_while(own).collect();
    lines.join("\n")
}

/// Returns the files that the Rust blocks of these chapters make: a later block replaces an earlier one of its name.
fn files(chapters: &[&str]) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for chapter in chapters {
        let page = read(&format!("book/src/{chapter}.md"));
        for (kind, block) in blocks(&page) {
            if kind.starts_with("rust") {
                let (name, text) = block.split_once('\n').unwrap();
                let name = name.strip_prefix("// src/").unwrap();
                files.insert(name.to_owned(), text.to_owned());
            }
        }
    }
    files
}

#[test]
fn the_program_of_the_payment_is_the_example() {
    let own = "const AGENTS: &str = \"cargo run -p typed-agents-cli --\";";
    let example = example("payer.rs");
    assert!(example.contains(own));
    assert_eq!(
        files(&["a-payment-that-waits"])["main.rs"],
        example.replace(own, "const AGENTS: &str = \"agents\";")
    );
}

#[test]
fn the_files_of_the_team_are_the_example() {
    let files = files(&[
        "first-agent",
        "a-tool-that-fails",
        "asking-for-help",
        "two-of-them",
        "a-team-that-asks",
    ]);
    assert!(files.len() > 5, "{:?}", files.keys());
    let folder = Path::new(ROOT).join("crates/runtime/examples/shelf");
    assert_eq!(fs::read_dir(folder).unwrap().count(), files.len());
    for (name, text) in files {
        assert_eq!(text, example(&format!("shelf/{name}")), "{name}");
    }
}
