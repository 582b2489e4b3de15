//! The page about errors: a row for each that there is.

use crate::read;
use std::collections::BTreeSet;

/// The variants of an enum, in a file of the core.
fn variants(path: &str, name: &str) -> BTreeSet<String> {
    let source = read(&format!("agents-core/src/{path}"));
    let (_, body) = source.split_once(&format!("pub enum {name} {{")).unwrap();
    let (body, _) = body.split_once("\n}").unwrap();
    let variants = body.lines().filter_map(|line| {
        let line = line.strip_prefix("    ")?;
        line.starts_with(|letter: char| letter.is_ascii_uppercase())
            .then(|| line.split(|letter: char| !letter.is_alphanumeric()))?
            .next()
    });
    variants.map(str::to_owned).collect()
}

/// The first cells of the table whose head begins so.
fn rows(page: &str, head: &str) -> BTreeSet<String> {
    let (_, table) = page.split_once(&format!("\n| `{head}` |")).unwrap();
    let rows = table.lines().skip(2).map_while(|line| {
        let cell = line.strip_prefix("| `")?;
        Some(cell.split('`').next()?.to_owned())
    });
    rows.collect()
}

#[test]
fn every_error_has_its_row() {
    let page = read("book/src/errors.md");
    for (path, name) in [
        ("error/kind.rs", "ErrorKind"),
        ("run/outcome.rs", "Stopped"),
        ("budget/mod.rs", "Limit"),
        ("model/error.rs", "ModelErrorKind"),
        ("error/tool.rs", "ToolError"),
        ("error/tool.rs", "Code"),
        ("error/tool.rs", "Class"),
        ("error/cause.rs", "Origin"),
        ("reader/refusal.rs", "RefusalKind"),
    ] {
        let variants = variants(path, name);
        assert!(variants.len() > 2, "{name} is read wrongly: {variants:?}");
        assert_eq!(variants, rows(&page, name), "{name}");
    }
}

#[test]
fn every_code_has_its_class() {
    let page = read("book/src/errors.md");
    let codes = variants("error/tool.rs", "Code");
    for code in codes {
        let code: agents::Code = serde_json::from_value(code_on_the_wire(&code).into()).unwrap();
        let (wire, class) = (code.as_str(), code.class());
        let row = format!("| `{code:?}` | `{wire}` | `{class}` |");
        assert!(page.contains(&row), "{row}");
    }
}

/// `RATE_LIMIT` for `RateLimit`.
fn code_on_the_wire(name: &str) -> String {
    let mut wire = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !wire.is_empty() {
            wire.push('_');
        }
        wire.push(letter.to_ascii_uppercase());
    }
    wire
}
