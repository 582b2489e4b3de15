use crate::{model::ToolCall, reader};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Maximum length in bytes of a tool's name in a reply that is held back as it arrives; a reply with a longer name is
/// shown at once.
const LONGEST_NAME: usize = 128;

/// Parses a reply that is a call in the form of [`instructions`](super::instructions), and nothing else; `None` for any
/// other reply. The name in the call need not be that of a tool, and a Markdown fence may be around the call.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::prompted::read_call;
///
/// let call = read_call("```json\n{\"name\": \"wether\", \"arguments\": {\"city\": \"Oslo\"}}\n```").unwrap();
/// assert_eq!((&*call.name, &*call.arguments), ("wether", r#"{"city": "Oslo"}"#));
///
/// for text in [
///     r#"I call {"name": "wether", "arguments": {"city": "Oslo"}}"#,
///     r#"{"name": "Ada", "arguments": {}, "age": 36}"#,
///     r#"{"name": "Ada", "arguments": "none"}"#,
/// ] {
///     assert_eq!(read_call(text), None);
/// }
/// ```
pub fn read_call(text: &str) -> Option<ToolCall> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Call<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
        #[serde(borrow)]
        arguments: &'a RawValue,
    }
    let text = reader::strip_fences(text.trim());
    // An answer in words costs no more than this check.
    if !text.starts_with('{') {
        return None;
    }
    let Call { name, arguments } = serde_json::from_str(&text).ok()?;
    let is_one = !name.trim().is_empty() && arguments.get().starts_with('{');
    is_one.then(|| ToolCall {
        id: String::new(),
        name: name.into_owned(),
        arguments: arguments.get().to_owned(),
    })
}

/// Returns `true` if a reply that begins so may become a call that [`read_call`] reads; until then it is not shown.
pub(crate) fn may_be_call(begun: &str) -> bool {
    let mut rest = begun.trim_start();
    if "```".starts_with(rest) {
        return true;
    }
    if let Some(fenced) = rest.strip_prefix("```") {
        match fenced.find('\n') {
            Some(line) => rest = fenced[line..].trim_start(),
            None => return fenced.len() < LONGEST_NAME,
        }
    }
    let parts: [&[&str]; 2] = [
        &["{", "\"name\"", ":", "\""],
        &[",", "\"arguments\"", ":", "{"],
    ];
    for (index, tokens) in parts.into_iter().enumerate() {
        for token in tokens {
            match rest.strip_prefix(token) {
                Some(after) if index > 0 || *token != "\"" => rest = after.trim_start(),
                Some(after) => rest = after,
                None => return token.starts_with(rest),
            }
        }
        if index == 0 {
            match rest.find('"') {
                Some(end) if end <= LONGEST_NAME => rest = rest[end + 1..].trim_start(),
                Some(_) => return false,
                None => return rest.len() <= LONGEST_NAME,
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_read_as_a_call_may_have_become_one_from_its_first_letter_on() {
        for text in [
            r#"{"name": "nate", "arguments": {"a": 1}}"#,
            "```json\n{ \"name\" : \"nate\" , \"arguments\" : { } }\n```\n",
            "\n\n```\n{\"name\":\"Über\",\"arguments\":{}}\n```",
        ] {
            assert!(read_call(text).is_some(), "{text}");
            for (end, _) in text.char_indices() {
                assert!(may_be_call(&text[..end]), "{}", &text[..end]);
            }
        }
        for text in [
            "I",
            "{\"n\": 1",
            "{\"name\": \"Ada\", \"age\"",
            "{\"name\": 1",
            "```python\nx",
            "[{",
        ] {
            assert!(!may_be_call(text), "{text}");
        }
        assert!(!may_be_call(&format!("{{\"name\": \"{}", "a".repeat(200))));
    }
}
