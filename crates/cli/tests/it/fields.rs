//! The chapter about the command line names the fields of JSON. Every test that asks the binary for JSON checks them.

use crate::desk::{Desk, Ran, binary};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, sync::LazyLock};

/// Fields of the objects that a command prints, by its name, and of objects within, as `show.calls`. A field that may be
/// missing ends with `?`.
static FIELDS: LazyLock<BTreeMap<String, Vec<&str>>> = LazyLock::new(|| {
    let page = include_str!("../../../../book/src/command-line.md");
    let (_, rows) = page.split_once("| command | fields |\n|-|-|\n").unwrap();
    let mut all = BTreeMap::new();
    for row in rows.lines().take_while(|line| line.starts_with('|')) {
        let (commands, fields) = row[1..].split_once('|').unwrap();
        for command in commands.split(", ") {
            let name = match &quoted(command)[..] {
                [command] => (*command).to_owned(),
                [within, command] => format!("{command}.{within}"),
                _ => continue,
            };
            all.insert(name, named(fields));
        }
    }
    let of_run = all["runs"].clone();
    let of_shown = all.get_mut("show").unwrap();
    of_shown.retain(|field| *field != "..runs");
    of_shown.extend(of_run);
    all
});

/// Returns what stands in backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Returns the fields of a cell. What is in brackets, or an option, is none.
fn named(cell: &str) -> Vec<&str> {
    let bare = cell
        .split('(')
        .map(|part| part.split_once(')').map_or(part, |part| part.1));
    let names = bare.flat_map(quoted).filter(|name| !name.starts_with("--"));
    names.collect()
}

/// Checks that the chapter names the fields of what these arguments have printed, and that none is missing.
#[track_caller]
pub(crate) fn check(args: &[&str], ran: &Ran) {
    let known = args.iter().find(|arg| FIELDS.contains_key(**arg));
    if let Some(command) = known.filter(|_| args.contains(&"--json")) {
        for object in ran.objects() {
            check_object(command, object.as_object().unwrap());
        }
    }
}

#[track_caller]
fn check_object(command: &str, object: &Map<String, Value>) {
    let is_decision = ["approve", "deny", "revise", "answer"].contains(&command);
    if is_decision && object.keys().eq(["error", "id"]) {
        return;
    }
    let fields = &FIELDS[command];
    let bare = |field: &str| field.trim_end_matches('?').to_owned();
    for (name, value) in object {
        assert!(
            fields.iter().any(|field| bare(field) == *name),
            "the chapter does not name `{name}` of `{command}`"
        );
        let within = format!("{command}.{name}");
        if FIELDS.contains_key(&within) {
            let all = value
                .as_array()
                .map_or(std::slice::from_ref(value), Vec::as_slice);
            for one in all {
                check_object(&within, one.as_object().unwrap());
            }
        }
    }
    for field in fields.iter().filter(|field| !field.ends_with('?')) {
        assert!(
            object.contains_key(*field),
            "`{command}` does not print `{field}`, which the chapter names"
        );
    }
}

/// Prints what no other test prints as JSON.
#[tokio::test]
async fn the_chapter_names_the_fields_of_every_command() {
    let help = Ran::of(binary().arg("--help")).out;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    for line in commands.lines() {
        let command = line.split_whitespace().next().unwrap();
        assert!(FIELDS.contains_key(command), "{command}");
    }

    let desk = Desk::new("fields").await;
    let (run, request) = desk.waiting("acme", "one").await;
    let (other, second) = desk.waiting("acme", "two").await;
    let (_, question) = desk.asking().await;
    for args in [
        &["say", other.id(), "Hurry."][..],
        &["pause", run.id()],
        &["release", run.id()],
        &["approve", &request],
        &["deny", &second, "--reason", "no"],
        &["answer", &question, "Rome"],
        &["cancel", other.id()],
    ] {
        printed(&desk, args);
    }
    desk.answer(&run).await.unwrap();
    desk.answer(&other).await.unwrap_err();
    for args in [
        &["show", run.id(), "--exact"][..],
        &["executions", run.id()],
        &["events", run.id(), "--no-follow"],
        &["events", run.id(), "--no-follow", "--exact"],
        &["heads"],
        &["verify"],
        &["hold-all", "--reason", "restored"],
        &[
            "test",
            "from",
            run.id(),
            "--out",
            &desk.folder.0.display().to_string(),
        ],
        &["erase", run.id()],
    ] {
        printed(&desk, args);
    }
    desk.by_hand("UPDATE agent_approvals SET decided_by = 'eve' WHERE decided_by IS NOT NULL");
    let changed = desk.agents(&["--json", "verify"]);
    assert!(
        changed.objects()[0]["flaws"][0]["what"].is_string(),
        "{changed:?}"
    );
}

/// Runs a command, which has to print at least one object.
#[track_caller]
fn printed(desk: &Desk, args: &[&str]) {
    let ran = desk.agents(&[&["--json"], args].concat());
    assert!(!ran.objects().is_empty(), "{args:?}: {ran:?}");
}
