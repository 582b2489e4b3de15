//! Tests of values that hold tags: a value is whole, or the call says that it may not be.

use super::{printed, streamed};

/// Dialects of calls in tags, as text before a value of `note`, after it, and the opening and closing tag of a
/// parameter.
const DIALECTS: [[&str; 4]; 4] = [
    [
        "<tool_call><function=note><parameter=text>",
        "</function></tool_call>",
        "<parameter=x>",
        "</parameter>",
    ],
    [
        "<function_calls><invoke name=\"note\"><parameter name=\"text\">",
        "</invoke></function_calls>",
        "<parameter name=\"x\">",
        "</parameter>",
    ],
    [
        "<atem:function_calls><atem:invoke name=\"note\"><atem:parameter name=\"text\">",
        "</atem:invoke></atem:function_calls>",
        "<atem:parameter name=\"x\">",
        "</atem:parameter>",
    ],
    [
        "<tool_call>note<arg_key>text</arg_key><arg_value>",
        "</tool_call>",
        "<arg_key>x</arg_key><arg_value>",
        "</arg_value>",
    ],
];

/// Reads the value of `note` out of a text, with `true` if the call is certain; `None` if there is not one call.
fn read_value(text: &str) -> Option<(String, bool)> {
    let printed = printed(text);
    let chars = text
        .char_indices()
        .map(|(at, c)| &text[at..at + c.len_utf8()]);
    assert_eq!(streamed(chars), printed, "{text}");
    let [call] = &printed.calls[..] else {
        return None;
    };
    let value: super::Value = serde_json::from_str(&call.arguments).ok()?;
    let certain = call.changes.uncertain().is_none();
    Some((value["text"].as_str()?.to_owned(), certain))
}

#[test]
fn a_value_with_tags_is_whole_or_in_doubt() {
    for [before, after, open, close] in DIALECTS {
        for value in [
            format!("cp a b {close} --dry-run"),
            format!("cp a {open} b"),
            format!("cp a {open}1{close} b"),
            format!("see {open}1{close}"),
            format!("end with {close}"),
            format!("{open}1{close}{open}2{close} twice"),
            format!("a {after} b"),
            format!("a {close}{after} b"),
            format!("{before}inside{close}{after} and outside"),
            format!("{before}inside{close}{after}"),
        ] {
            let text = format!("{before}{value}{close}{after}");
            if let Some((read, certain)) = read_value(&text) {
                assert!(read == value || !certain, "{text}: {read}");
            }
        }
    }
}

#[test]
fn a_value_with_tags_in_the_middle_is_certain() {
    for [before, after, open, close] in &DIALECTS[..3] {
        let (call_end, _) = after.split_once("><").unwrap();
        for value in [
            format!("cp a b {close} --dry-run"),
            format!("cp a {open}1{close} b"),
            format!("end with {close}"),
            format!("a {call_end}> b"),
        ] {
            let text = format!("{before}{value}{close}{after}");
            assert_eq!(read_value(&text), Some((value, true)), "{text}");
        }
    }
}

#[test]
fn a_misspelt_end_tag_is_no_part_of_the_value() {
    for end in ["</text>", "</param>", "</parameters>"] {
        let text = format!(
            "<tool_call><function=note><parameter=text>\nlong text\n{end}\n</function></tool_call>"
        );
        assert_eq!(
            read_value(&text),
            Some(("long text".to_owned(), true)),
            "{end}"
        );
    }
    // A tag that the value opens belongs to the value.
    let text = "<function=note><parameter=text><text>a</text></function></tool_call>";
    assert_eq!(read_value(text), Some(("<text>a</text>".to_owned(), true)));
    let text =
        "<function=note><parameter=text>a</b><parameter=text>c</parameter></function></tool_call>";
    assert_eq!(read_value(text).map(|(_, certain)| certain), Some(false));
}

#[test]
fn values_that_are_no_text_end_at_the_first_end_tag() {
    for text in [
        "<function=lamp><parameter=level>3</parameter></parameter></function></tool_call>",
        "<tool_call>lamp<arg_key>level</arg_key><arg_value>3</arg_value></arg_value></tool_call>",
    ] {
        let printed = printed(text);
        assert_eq!(printed.calls[0].arguments, r#"{"level":3}"#, "{text}");
        assert!(printed.calls[0].changes.is_empty(), "{text}");
    }
}
