//! Tables of variants, such as kinds of errors and of events. Each variant of an enum has a row with its serialised
//! name and its fields.

use crate::read;
use std::collections::BTreeSet;

/// Pages with the tables of the core's enums. The head of a table begins with the enum's name.
const TABLES: [(&str, &[(&str, &str)]); 6] = [
    (
        "errors.md",
        &[
            ("error/kind.rs", "ErrorKind"),
            ("run/outcome.rs", "Stopped"),
            ("budget/mod.rs", "Limit"),
            ("model/error.rs", "ModelErrorKind"),
            ("error/tool.rs", "ToolError"),
            ("error/code.rs", "Code"),
            ("error/code.rs", "Class"),
            ("error/cause.rs", "Origin"),
            ("../../agents-reader/src/error.rs", "ReadErrorKind"),
        ],
    ),
    (
        "what-can-be-seen.md",
        &[
            ("run/event.rs", "EventKind"),
            ("model/reply.rs", "FinishReason"),
            ("run/trace.rs", "StepKind"),
        ],
    ),
    (
        "receipts.md",
        &[("../../agents-reader/src/change.rs", "ChangeKind")],
    ),
    (
        "giving-up.md",
        &[
            ("error/severity.rs", "Severity"),
            ("escalation/settled.rs", "Settlement"),
        ],
    ),
    ("approvals.md", &[("run/approval.rs", "Approval")]),
    ("what-a-run-may-do.md", &[("policy/mod.rs", "Verdict")]),
];

/// A variant of an enum, read from its source.
#[derive(Debug, PartialEq)]
struct Variant {
    name: String,
    /// Name in JSON, if it differs.
    wire: Option<String>,
    /// Named fields, as spelled in JSON.
    fields: Vec<String>,
}

/// Returns the variants of an enum from its source.
fn variants(source: &str, name: &str) -> Vec<Variant> {
    let (before, body) = source
        .split_once(&format!("\npub enum {name} {{\n"))
        .unwrap();
    let (body, _) = body.split_once("\n}").unwrap();
    let mut attributes = before
        .lines()
        .rev()
        .take_while(|line| !line.starts_with("///"));
    let naming =
        attributes.find_map(|line| Some(line.split_once("rename_all = \"")?.1.split_once('"')?.0));
    let mut variants: Vec<Variant> = Vec::new();
    let mut renamed = None;
    for line in body.lines() {
        let indent = line.len() - line.trim_start().len();
        let word = line
            .trim_start()
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .next();
        let word = word.unwrap().to_owned();
        if let Some((_, rename)) = line.split_once("#[serde(rename = \"") {
            renamed = rename.split_once('"').map(|(rename, _)| rename.to_owned());
        } else if indent == 4 && word.starts_with(|c: char| c.is_ascii_uppercase()) {
            let wire = renamed.take().or_else(|| Some(spelled(&word, naming?)));
            let fields = Vec::new();
            variants.push(Variant {
                name: word,
                wire,
                fields,
            });
        } else if indent == 8 && word.starts_with(|c: char| c.is_ascii_lowercase()) {
            let fields = &mut variants.last_mut().unwrap().fields;
            fields.push(renamed.take().unwrap_or(word));
        }
    }
    variants
}

/// Returns a name such as `RateLimit` as serde spells it.
fn spelled(name: &str, naming: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    match naming {
        "snake_case" => snake,
        "SCREAMING_SNAKE_CASE" => snake.to_uppercase(),
        "UPPERCASE" => name.to_uppercase(),
        other => panic!("{other}"),
    }
}

/// Returns the rows of the table whose head begins with this text.
fn rows<'a>(page: &'a str, head: &str) -> Vec<&'a str> {
    let table = page.split_once(&format!("\n| `{head}` |"));
    let (_, table) = table.unwrap_or_else(|| panic!("there is no table of `{head}`"));
    let rows = table.lines().skip(2);
    rows.take_while(|line| line.starts_with("| `")).collect()
}

#[test]
fn every_variant_has_its_row() {
    for (page, enums) in TABLES {
        let text = read(&format!("book/src/{page}"));
        for (path, name) in enums {
            let variants = variants(&read(&format!("agents-core/src/{path}")), name);
            assert!(variants.len() > 2, "{name} is read wrongly: {variants:?}");
            let rows = rows(&text, name);
            // A table lists serialised names if its first row has one.
            let has_wire = variants[0].wire.is_some();
            let begins: BTreeSet<_> = rows
                .iter()
                .map(|row| match variants[0].wire {
                    Some(_) => row.splitn(4, '|').take(3).collect::<Vec<_>>().join("|"),
                    None => row.splitn(3, '|').take(2).collect::<Vec<_>>().join("|"),
                })
                .collect();
            let expected: BTreeSet<_> = variants
                .iter()
                .map(
                    |Variant { name, wire, .. }| match wire.as_ref().filter(|_| has_wire) {
                        Some(wire) => format!("| `{name}` | `{wire}` "),
                        None => format!("| `{name}` "),
                    },
                )
                .collect();
            assert_eq!(begins, expected, "{page}, {name}");
            assert_eq!(
                rows.len(),
                variants.len(),
                "{page} has a row of {name} twice"
            );
            for Variant {
                name: variant,
                fields,
                ..
            } in &variants
            {
                let row = rows
                    .iter()
                    .find(|row| row.starts_with(&format!("| `{variant}` ")));
                for field in fields {
                    let is_there = row.unwrap().contains(&format!("`{field}`"));
                    // The fields of a call's error have other names on its receipt.
                    assert!(
                        is_there || *name == "ToolError",
                        "{page}, {name}::{variant}: `{field}`"
                    );
                }
            }
        }
    }
}

#[test]
fn every_code_has_its_class() {
    let page = read("book/src/errors.md");
    for Variant { wire, .. } in variants(&read("agents-core/src/error/code.rs"), "Code") {
        let code: agents::Code = serde_json::from_value(wire.into()).unwrap();
        let (wire, class) = (code.as_str(), code.class());
        let row = format!("| `{code:?}` | `{wire}` | `{class}` |");
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn every_error_of_a_call_has_its_name() {
    let page = read("book/src/errors.md");
    let source = read("agents-core/src/error/tool.rs");
    for Variant { name, .. } in variants(&source, "ToolError") {
        let (_, kind) = source
            .split_once(&format!("ToolError::{name} {{ .. }} => \""))
            .unwrap();
        let (kind, _) = kind.split_once('"').unwrap();
        let row = format!("| `{name}` | `{kind}` |");
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn a_variant_is_read_as_serde_does() {
    let source = "/// A.\n#[serde(tag = \"a\", rename_all = \"snake_case\")]\npub enum A {\n    /// Two.\n    TwoWords {\n        /// Wait.\n        #[serde(rename = \"wait_ms\", with = \"x\")]\n        wait: u8,\n    },\n    One(u8),\n}\n";
    let variant = |name: &str, wire: &str, fields: &[&str]| Variant {
        name: name.to_owned(),
        wire: Some(wire.to_owned()),
        fields: fields.iter().map(|&field| field.to_owned()).collect(),
    };
    assert_eq!(
        variants(source, "A"),
        [
            variant("TwoWords", "two_words", &["wait_ms"]),
            variant("One", "one", &[])
        ]
    );
}
