//! The chapter about the command line shows what `--help` prints.

use crate::desk::{Ran, binary};
use std::{collections::BTreeSet, fs, path::Path};

/// Returns the `text` block behind each command of the chapter.
fn shown(page: &str) -> Vec<(&str, &str)> {
    let mut shown = Vec::new();
    for part in page.split("\n```console\n$ agents ").skip(1) {
        let (command, rest) = part.split_once("\n```\n\n```text\n").unwrap_or((part, ""));
        if !command.contains('\n') {
            shown.push((command, rest.split_once("\n```\n").unwrap().0));
        }
    }
    shown
}

#[test]
fn the_chapter_shows_the_help_of_every_command() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/command-line.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut seen = BTreeSet::new();
    let mut changed = page.clone();
    for (command, text) in shown(&page) {
        let printed = Ran::of(binary().args(command.split(' '))).succeeds().out;
        let lines: Vec<_> = printed.lines().map(str::trim_end).collect();
        let block = |text: &str| format!("$ agents {command}\n```\n\n```text\n{text}\n```\n");
        changed = changed.replace(&block(text), &block(lines.join("\n").trim_end()));
        seen.insert(command.split(' ').next().unwrap().to_owned());
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &changed).unwrap();
    } else {
        assert!(
            page == changed,
            "run the test with UPDATE_EXPECT=1; the chapter is to show\n{changed}"
        );
    }
    let help = Ran::of(binary().arg("--help")).out;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    for command in commands
        .lines()
        .map(|line| line.split_whitespace().next().unwrap())
    {
        assert!(
            seen.contains(command),
            "the chapter does not show `agents {command} --help`"
        );
    }
    assert!(seen.len() > 10, "{seen:?}");
}
