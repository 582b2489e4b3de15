//! Strict reading of JSON onto a tape, without any repair.

use super::{
    MAX_DEPTH,
    byte_search::{skip_space, string_special},
    tape::{Kind, Node},
};

/// Reason why strict reading stopped, with the offset in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Syntax(usize),
    TooDeep(usize),
}

/// Reads one JSON value from the offset `at`, appends its nodes to the tape, and returns the offset of its end.
///
/// If the scan stops at invalid JSON, the tape keeps the nodes that were read before.
pub(super) fn scan(bytes: &[u8], mut at: usize, nodes: &mut Vec<Node>) -> Result<usize, Stop> {
    let mut open = [0u32; MAX_DEPTH];
    let mut depth = 0;
    'value: loop {
        at = skip_space(bytes, at);
        let start = at;
        match bytes.get(at) {
            Some(&b @ (b'{' | b'[')) => {
                if depth == MAX_DEPTH {
                    return Err(Stop::TooDeep(at));
                }
                let (kind, close) = if b == b'{' {
                    (Kind::Object, b'}')
                } else {
                    (Kind::Array, b']')
                };
                open[depth] = nodes.len() as u32;
                push(nodes, kind, start, start);
                at = skip_space(bytes, at + 1);
                if bytes.get(at) != Some(&close) {
                    depth += 1;
                    if b == b'{' {
                        at = key(bytes, at, nodes)?;
                    }
                    continue 'value;
                }
                at += 1;
                nodes[open[depth] as usize].end = at as u32;
            }
            Some(b'"') => {
                at = string(bytes, at + 1)?;
                push(nodes, Kind::String, start, at);
            }
            Some(b'-' | b'0'..=b'9') => {
                at = number(bytes, at).ok_or(Stop::Syntax(start))?;
                push(nodes, Kind::Number, start, at);
            }
            _ => {
                let (kind, word) = [
                    (Kind::True, "true"),
                    (Kind::False, "false"),
                    (Kind::Null, "null"),
                ]
                .into_iter()
                .find(|(_, word)| bytes[at..].starts_with(word.as_bytes()))
                .ok_or(Stop::Syntax(at))?;
                at += word.len();
                push(nodes, kind, start, at);
            }
        }
        while depth > 0 {
            at = skip_space(bytes, at);
            let top = open[depth - 1] as usize;
            let object = nodes[top].kind == Kind::Object;
            match bytes.get(at) {
                Some(b',') => {
                    at += 1;
                    if object {
                        at = key(bytes, skip_space(bytes, at), nodes)?;
                    }
                    continue 'value;
                }
                Some(b'}') if object => {}
                Some(b']') if !object => {}
                _ => return Err(Stop::Syntax(at)),
            }
            at += 1;
            depth -= 1;
            nodes[top].end = at as u32;
            nodes[top].next = nodes.len() as u32;
        }
        return Ok(at);
    }
}

fn push(nodes: &mut Vec<Node>, kind: Kind, start: usize, end: usize) {
    let next = nodes.len() as u32 + 1;
    nodes.push(Node {
        kind,
        made: false,
        start: start as u32,
        end: end as u32,
        next,
    });
}

/// Reads a key and its colon at `start`, and returns the place behind them.
fn key(bytes: &[u8], start: usize, nodes: &mut Vec<Node>) -> Result<usize, Stop> {
    if bytes.get(start) != Some(&b'"') {
        return Err(Stop::Syntax(start));
    }
    let end = string(bytes, start + 1)?;
    push(nodes, Kind::String, start, end);
    let colon = skip_space(bytes, end);
    match bytes.get(colon) {
        Some(b':') => Ok(colon + 1),
        _ => Err(Stop::Syntax(colon)),
    }
}

/// Reads the rest of a string after its opening quote, and returns its end.
fn string(bytes: &[u8], mut at: usize) -> Result<usize, Stop> {
    loop {
        at = string_special(bytes, at, b'"');
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += escape(&bytes[at..]).ok_or(Stop::Syntax(at))?,
            _ => return Err(Stop::Syntax(at)),
        }
    }
}

/// Returns the length of the valid escape at the beginning of `bytes`; `None` if it is invalid. A lone half of a
/// surrogate pair is not valid, since no Rust string could hold it.
pub(super) fn escape(bytes: &[u8]) -> Option<usize> {
    match bytes.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => match hex4(bytes.get(2..6)?)? {
            0xD800..0xDC00 => (bytes.get(6..8)? == b"\\u"
                && (0xDC00..0xE000).contains(&hex4(bytes.get(8..12)?)?))
            .then_some(12),
            0xDC00..0xE000 => None,
            _ => Some(6),
        },
        _ => None,
    }
}

fn hex4(digits: &[u8]) -> Option<u32> {
    digits
        .iter()
        .try_fold(0, |sum, &b| Some(sum * 16 + (b as char).to_digit(16)?))
}

/// Returns the end of the number at `at`, if it is spelled as in JSON; else `None`.
pub(super) fn number(bytes: &[u8], mut at: usize) -> Option<usize> {
    let digits = |mut at: usize| {
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        (at > start).then_some(at)
    };
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    at = match bytes.get(at)? {
        b'0' => at + 1,
        _ => digits(at)?,
    };
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = bytes.get(at) {
            at += 1;
        }
        at = digits(at)?;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> bool {
        let mut nodes = Vec::new();
        let ours = scan(text.as_bytes(), 0, &mut nodes)
            .is_ok_and(|end| skip_space(text.as_bytes(), end) == text.len());
        let serde = serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok();
        // A raw value may hold lone surrogates; a string may not.
        assert!(ours <= serde, "{text}");
        if ours {
            assert!(nodes.iter().all(|node| node.end > node.start), "{text}");
            assert_eq!(nodes[0].next as usize, nodes.len(), "{text}");
        }
        ours
    }

    #[test]
    fn accepts_standard_json() {
        for text in [
            "0",
            "-0.5e+10",
            "\"\"",
            "[]",
            "{}",
            " [ 1 , {\"a\" : [ ] } ] ",
            r#""\u00e9\ud83c\udf0d\/""#,
            "12345678901234567890123456789",
        ] {
            assert!(check(text), "{text}");
        }
    }

    #[test]
    fn refuses_nonstandard_json() {
        for text in [
            "",
            "01",
            "1.",
            ".5",
            "+1",
            "[1,]",
            "{,}",
            "{\"a\"}",
            "[1 2]",
            "tru",
            "'a'",
            "\"\n\"",
            r#""\x41""#,
            r#""\ud83c""#,
            "{}}",
            "[",
            "{\"a\":1",
        ] {
            assert!(!check(text), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        assert!(check(&format!(
            "{}{}",
            "[".repeat(MAX_DEPTH),
            "]".repeat(MAX_DEPTH)
        )));
        let deep = "[".repeat(MAX_DEPTH + 1);
        assert_eq!(
            scan(deep.as_bytes(), 0, &mut Vec::new()),
            Err(Stop::TooDeep(MAX_DEPTH))
        );
    }
}
