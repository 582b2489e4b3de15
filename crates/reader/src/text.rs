//! Text helpers for programs with repair functions of their own.

use std::borrow::Cow;

/// Replaces every backslash in a path by a slash, and changes nothing else.
///
/// A text without a backslash comes back unchanged. Doubled and trailing separators, drive letters and `..` are kept.
///
/// ```
/// use agents_reader::normalize_separators;
///
/// assert_eq!(normalize_separators(r"src\main.rs"), "src/main.rs");
/// assert_eq!(normalize_separators(r"C:\data\\..\a\"), "C:/data//../a/");
/// assert_eq!(normalize_separators("src/main.rs"), "src/main.rs");
/// ```
#[must_use]
pub fn normalize_separators(path: &str) -> Cow<'_, str> {
    match path.contains('\\') {
        true => path.replace('\\', "/").into(),
        false => path.into(),
    }
}

/// Removes the Markdown fence around a text that is one fenced block; any other text comes back
/// unchanged.
///
/// Both fences (` ``` ` or `~~~`) are removed, with the language if it is one word, and with white space at either end.
/// The closing fence may be missing. The text inside stays as it is.
///
/// ```
/// use agents_reader::strip_fences;
///
/// assert_eq!(strip_fences("```json\n{ }\n```\n"), "{ }");
/// assert_eq!(strip_fences("~~~\n{ }\n~~~"), "{ }");
/// // The text was cut off.
/// assert_eq!(strip_fences("```json\n{ }"), "{ }");
/// // No fence, prose around it, and more than one block.
/// for text in ["{ }\n", "Here:\n```\n{ }\n```", "```\n1\n```\n```\n2\n```"] {
///     assert_eq!(strip_fences(text), text);
/// }
/// ```
#[must_use]
pub fn strip_fences(raw: &str) -> Cow<'_, str> {
    let text = raw.trim();
    for mark in ["```", "~~~"] {
        let Some(inside) = text.strip_prefix(mark) else {
            continue;
        };
        // The info string is a word; a longer one is content.
        let line = inside
            .split(['\n', '{', '[', '"'])
            .next()
            .unwrap_or_default();
        let word = line
            .trim()
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-_.".contains(c));
        let inside = if word { &inside[line.len()..] } else { inside };
        let inside = inside.strip_suffix(mark).unwrap_or(inside);
        // With a second block, the fence is not around the whole text.
        if inside
            .lines()
            .any(|line| line.trim_start().starts_with(mark))
        {
            return raw.into();
        }
        return inside.trim().into();
    }
    raw.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences() {
        assert_eq!(strip_fences("```\nx = 1\n```\n"), "x = 1");
        assert_eq!(strip_fences("```json {\"a\": 1}```"), "{\"a\": 1}");
        assert_eq!(strip_fences("~~~yaml\na: 1"), "a: 1");
        let two = "```\na\n```\nand\n```\nb\n```";
        assert_eq!(strip_fences(two), two);
    }
}
