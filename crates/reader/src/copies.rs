//! Values that a text says twice: as JSON, and as a string that holds the same JSON.

use super::{byte_search::skip_space, strict, tape::unescape};

/// Returns the value of a text that says it twice, once as JSON and once in a string, in any order:
/// `{"a":1}"{\"a\":1}"`. Returns `None` for any other text.
pub(super) fn said_once(raw: &str) -> Option<&str> {
    if !raw.contains("\\\"") {
        return None;
    }
    let bytes = raw.as_bytes();
    let mut value: Option<&str> = None;
    let mut copies = Vec::new();
    let mut at = skip_space(bytes, 0);
    while at < raw.len() {
        let end = strict::scan(bytes, at, &mut Vec::new()).ok()?;
        let text = &raw[at..end];
        match bytes[at] {
            b'"' => copies.push(unescape(&text[1..text.len() - 1])),
            b'{' | b'[' if value.is_none() => value = Some(text),
            _ => return None,
        }
        at = skip_space(bytes, end);
    }
    let without_space = compact(value?)?;
    let same = |copy: &_| compact(copy).is_some_and(|copy| copy == without_space);
    (!copies.is_empty() && copies.iter().all(|copy| same(&**copy))).then_some(value?)
}

/// Returns JSON without the white space outside of its strings; `None` if the text is not one valid value.
fn compact(json: &str) -> Option<String> {
    let end = strict::scan(json.as_bytes(), 0, &mut Vec::new()).ok()?;
    if skip_space(json.as_bytes(), end) < json.len() {
        return None;
    }
    let (mut in_string, mut escaped) = (false, false);
    let keep = |c: &char| {
        match (*c, escaped) {
            (_, true) => escaped = false,
            ('\\', _) => escaped = true,
            ('"', _) => in_string = !in_string,
            _ => {}
        }
        in_string || !c.is_ascii_whitespace()
    };
    Some(json.chars().filter(keep).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_beside_itself_in_a_string_is_said_once() {
        let check = |raw: &str, once: Option<&str>| assert_eq!(said_once(raw), once, "{raw}");
        let value = r#"{"a": "x y"}"#;
        let copy = r#""{\"a\":\"x y\"}""#;
        check(&format!("{value}{copy}"), Some(value));
        check(&format!(" {copy} {value}\n{copy}"), Some(value));
        check(r#"["a"]"[\"a\"]""#, Some(r#"["a"]"#));
        // Another value, another text within a string, two values, and a copy alone.
        check(&format!("{value}{}", copy.replace("x y", "z")), None);
        check(&format!("{value}{}", copy.replace("x y", "xy")), None);
        check(&format!("{value}{value}{copy}"), None);
        check(copy, None);
        check(&format!("{value}\"{{\\\"a\\\":\\\"x y\\\"\""), None);
    }
}
