//! Answers that are one number, boolean, date or other single value. Such a value is not taken out of prose: it is the
//! whole text, the text in its dressing, or a last line that says that it is the answer.

use crate::reader::strip_fences;
use serde_json::Value;

/// Returns `true` if a schema allows single values only: numbers, booleans, `null`, and texts of a fixed set or form.
pub(super) fn is_scalar(schema: &Value) -> bool {
    of(schema, schema, 0)
}

fn of(schema: &Value, root: &Value, depth: u8) -> bool {
    /// Bound for schemas that refer to themselves.
    const MAX_DEPTH: u8 = 16;
    let Some(members) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
        return false;
    };
    let each = |value: &Value, is_one: &dyn Fn(&Value) -> bool| {
        let items = value.as_array();
        items.is_some_and(|items| !items.is_empty() && items.iter().all(is_one))
    };
    let is_single = |value: &Value| !value.is_object() && !value.is_array();
    if let Some(to) = members.get("$ref").and_then(Value::as_str) {
        let to = to.strip_prefix('#').and_then(|to| root.pointer(to));
        return to.is_some_and(|to| of(to, root, depth + 1));
    }
    if let Some(allowed) = members.get("enum") {
        return each(allowed, &is_single);
    }
    if let Some(only) = members.get("const") {
        return is_single(only);
    }
    for alternatives in ["anyOf", "oneOf", "allOf"] {
        if let Some(all) = members.get(alternatives) {
            return each(all, &|one| of(one, root, depth + 1));
        }
    }
    let has_form = members.contains_key("format") || members.contains_key("pattern");
    let is_of = |name: &Value| match name.as_str() {
        Some("number" | "integer" | "boolean" | "null") => true,
        Some("string") => has_form,
        _ => false,
    };
    members
        .get("type")
        .is_some_and(|types| is_of(types) || each(types, &is_of))
}

/// Returns the parts of a text that may be its only value, in their order of trust: the whole text and what its
/// dressing holds, then the last line. At most one of them is read: the first that is one value.
pub(super) fn candidates(text: &str) -> Vec<String> {
    let text = text.trim();
    let mut all = undressed(text);
    let lines: Vec<_> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    if let [before @ .., last] = &lines[..]
        && let Some(before) = before.last()
    {
        match is_fence(last) {
            true => all.extend(last_block(text)),
            false => all.extend(last_line(last, Some(before))),
        }
    } else {
        all.extend(last_line(text, None));
    }
    all
}

/// Returns a text, and what is left of it when marks around it are taken off, one after the other.
fn undressed(text: &str) -> Vec<String> {
    let mut all = vec![text.to_owned()];
    let block = strip_fences(text);
    if block.trim() != text {
        all.push(block.trim().to_owned());
    }
    while let Some(inner) = all.last().and_then(|last| without_a_dressing(last)) {
        all.push(inner);
    }
    all
}

/// Takes one pair of marks off: quotes, Markdown, LaTeX, `{"answer": ..}`, or a full stop.
fn without_a_dressing(text: &str) -> Option<String> {
    const PAIRS: [(&str, &str); 13] = [
        ("**", "**"),
        ("__", "__"),
        ("*", "*"),
        ("`", "`"),
        ("\"", "\""),
        ("'", "'"),
        ("“", "”"),
        ("„", "“"),
        ("«", "»"),
        ("\\boxed{", "}"),
        ("\\[", "\\]"),
        ("\\(", "\\)"),
        ("$", "$"),
    ];
    let between = |(open, close): &(&str, &str)| {
        let inner = text.strip_prefix(open)?.strip_suffix(close)?;
        let is_one = !inner.is_empty() && !inner.contains(open) && !inner.contains(close);
        is_one.then(|| inner.trim().to_owned())
    };
    if let Some(inner) = PAIRS.iter().find_map(between) {
        return Some(inner);
    }
    if let Some(inner) = text.strip_suffix('.') {
        return Some(inner.to_owned());
    }
    let members = serde_json::from_str::<
        std::collections::BTreeMap<String, Box<serde_json::value::RawValue>>,
    >(text)
    .ok()?;
    let mut members = members.into_iter();
    let (key, value) = members.next().filter(|_| members.len() == 0)?;
    is_label(&key).then(|| value.get().to_owned())
}

/// Returns `true` for a name under which a model puts its answer.
fn is_label(name: &str) -> bool {
    const NAMES: [&str; 7] = [
        "answer",
        "final answer",
        "result",
        "value",
        "output",
        "response",
        "final result",
    ];
    let name = name.trim().to_lowercase().replace('_', " ");
    let name = name.strip_prefix("the ").unwrap_or(&name);
    NAMES.contains(&name.strip_suffix(" is").unwrap_or(name))
}

/// Returns what the last line of a text says that the answer is. `before` is the line before it.
fn last_line(line: &str, before: Option<&str>) -> Vec<String> {
    let line = line.trim_start_matches(['#', '>', '-', ' ']).trim();
    if let Some(answer) = labelled(line) {
        return undressed(answer);
    }
    let marked = [("\\boxed{", "}"), ("**", "**")];
    for (open, close) in marked {
        let Some((head, rest)) = line.split_once(open) else {
            continue;
        };
        let Some((inner, tail)) = rest.split_once(close) else {
            continue;
        };
        if let Some(answer) = labelled(inner) {
            return match tail.trim().trim_end_matches('.').is_empty() && head.trim().is_empty() {
                true => undressed(answer),
                false => Vec::new(),
            };
        }
        if is_silent(head) && is_silent(tail) {
            return undressed(inner.trim());
        }
    }
    // A line of its own, which is no item of a list of values.
    let is_prose = |line: &str| line.ends_with(':') || line.split_whitespace().count() > 2;
    match before.is_some_and(is_prose) {
        true => undressed(line),
        false => Vec::new(),
    }
}

/// Returns the part of a line behind a label: `Answer: 42`, `**Result:** 42`, `The answer is 42`.
fn labelled(line: &str) -> Option<&str> {
    let bare = |text: &str| text.replace(['*', '_', '`'], " ");
    let marks = [":", "=", " is "];
    let splits = marks.iter().filter_map(|mark| line.split_once(mark));
    let mut labelled = splits.filter(|(label, _)| is_label(bare(label).trim()));
    let (_, answer) = labelled.next()?;
    // `**Answer:** 42` opens the bold text before the colon.
    Some(answer.trim_start_matches(['*', '_', ' ']).trim())
}

/// Returns `true` for the rest of a line that has no value besides the marked one, and does not deny it.
fn is_silent(rest: &str) -> bool {
    const WORDS: [&str; 16] = [
        "not",
        "no",
        "or",
        "yes",
        "true",
        "false",
        "about",
        "approximately",
        "than",
        "least",
        "most",
        "between",
        "either",
        "never",
        "cannot",
        "and",
    ];
    let lower = rest.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    let is_said = words.any(|word| WORDS.contains(&word));
    !is_said
        && !lower.contains(|c: char| c.is_numeric() || c == '*' || c == '{')
        && !lower.contains("n't")
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// Returns what the only block of a text holds, if the text ends with it.
fn last_block(text: &str) -> Vec<String> {
    let fences: Vec<_> = text.match_indices("```").collect();
    let [(open, _), (close, _)] = fences[..] else {
        return Vec::new();
    };
    let block = &text[open + 3..close];
    let inner = block.split_once('\n').map_or("", |(_, inner)| inner);
    undressed(inner.trim())
}
