//! The tutorial about a payment that waits: its program and its commands, as the chapter shows them.

use crate::desk::{Folder, Ran, binary};
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Lines},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

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

/// Returns the built program.
fn program() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let folder = this.ancestors().nth(2).unwrap().join("examples");
    let program = folder.join(format!(
        "payer-of-the-tutorial{}",
        std::env::consts::EXE_SUFFIX
    ));
    assert!(
        program.exists(),
        "`cargo test -p agents-cli` without `--test` builds the example"
    );
    program
}

/// The program at work.
struct Payer(Child, Lines<BufReader<ChildStdout>>);

impl Payer {
    fn start(folder: &Path) -> Payer {
        let mut command = Command::new(program());
        let command = command.current_dir(folder).env_remove("AGENTS_MODEL");
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Payer(child, lines)
    }

    fn next(&mut self) -> Option<String> {
        let line = self.1.next()?.unwrap();
        Some(line.replace("cargo run -p agents-cli --", "agents"))
    }
}

impl Drop for Payer {
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

/// The reader of the chapter.
struct Reader {
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
            let mut payer = Payer::start(&self.folder.0);
            let lines = shown.lines().map(|_| payer.next().expect("one more line"));
            let printed = lines.collect::<Vec<_>>().join("\n");
            self.compare(command, shown, &printed);
            match shown.ends_with("start it again.") {
                true => self.killed += 1,
                false => {
                    assert_eq!(payer.next(), None, "the program ends");
                    assert!(payer.0.wait().unwrap().success());
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
                "cargo install --path ../agents/agents-cli",
            ];
            assert!(
                known.iter().any(|known| command.starts_with(known)),
                "`{command}`"
            );
            assert_eq!(shown, "");
        }
    }
}

#[test]
fn the_tutorial_can_be_followed() {
    let page = read("book/src/a-payment-that-waits.md");
    let mut reader = Reader {
        folder: Folder::new("tutorial"),
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
    let ledger = fs::read_to_string(reader.folder.0.join("ledger.txt")).unwrap();
    assert_eq!(ledger, "1200 cents to ACME\n", "it is paid once");
}

#[test]
fn the_program_of_the_tutorial_is_the_example() {
    let page = read("book/src/a-payment-that-waits.md");
    let blocks = blocks(&page);
    let (_, program) = blocks
        .iter()
        .find(|(kind, _)| kind.starts_with("rust"))
        .unwrap();
    let program = program.strip_prefix("// src/main.rs\n").unwrap();
    let example = read("agents-runtime/examples/payer.rs");
    let example: Vec<_> = example
        .lines()
        .skip_while(|line| line.starts_with("//!") || line.is_empty())
        .collect();
    let own = "const AGENTS: &str = \"cargo run -p agents-cli --\";";
    assert!(example.contains(&own));
    assert_eq!(
        program,
        example
            .join("\n")
            .replace(own, "const AGENTS: &str = \"agents\";")
    );
}
