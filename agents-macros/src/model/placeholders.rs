//! Names of arguments in braces, within a text: `pay {amount} cents`.

use std::ops::Range;

/// Placeholder of a text: `{name}` or `{name:?}`.
pub(crate) struct Placeholder<'a> {
    /// The range in the text of the name and the format, without the braces.
    pub(crate) at: Range<usize>,
    pub(crate) name: &'a str,
    /// The format of the placeholder: the text behind the colon.
    pub(crate) format: &'a str,
}

/// Returns the placeholders of a text. Doubled braces are no placeholders.
pub(crate) fn placeholders(text: &str) -> Vec<Placeholder<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(open) = text[from..].find('{') {
        let begin = from + open + 1;
        if text[begin..].starts_with('{') {
            from = begin + 1;
            continue;
        }
        let Some(length) = text[begin..].find('}') else {
            break;
        };
        let inside = &text[begin..begin + length];
        let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
        found.push(Placeholder {
            at: begin..begin + length,
            name: name.trim(),
            format: format.trim(),
        });
        from = begin + length + 1;
    }
    found
}
