//! Tests of several calls in one text: none is lost among others.

use proptest::prelude::*;

use super::{printed, read, streamed, value, with_tools};
use crate::printed::{Declared, Printed};

/// Spellings of a call that stand without a wrapper, and in one.
fn spellings(room: usize) -> Vec<String> {
    let call = format!(r#"{{"name":"lamp","arguments":{{"room":"r{room}"}}}}"#);
    vec![
        call.clone(),
        format!("[{call}]"),
        format!("[lamp(room=\"r{room}\")]"),
        format!(r#"{{"lamp":{{"room":"r{room}"}}}}"#),
        format!("<tool_call>{call}</tool_call>"),
        format!(
            "<tool_call><function=lamp><parameter=room>r{room}</parameter></function></tool_call>"
        ),
        format!("<tool_call>lamp<arg_key>room</arg_key><arg_value>r{room}</arg_value></tool_call>"),
        format!("[TOOL_CALLS]lamp[ARGS]{{\"room\":\"r{room}\"}}"),
        format!("<|tool_call>call:lamp{{room:<|\"|>r{room}<|\"|>}}<tool_call|>"),
        format!("```json\n{call}\n```"),
    ]
}

/// Joints between the calls of a series.
const JOINTS: &[&str] = &[
    ", ", ",", "; ", ";", "\n", "\n\n", ",\n", " ", " and ", ", then ", "\n- ", "\n* ", ",\n2. ",
    ";\n3) ",
];

fn is_uncertain(printed: &Printed) -> bool {
    let mut calls = printed.calls.iter();
    calls.all(|call| call.changes.uncertain().is_some())
}

fn rooms(printed: &Printed) -> Vec<String> {
    let room = |json: &str| -> Option<String> {
        let value: super::Value = serde_json::from_str(json).ok()?;
        Some(value["room"].as_str()?.to_owned())
    };
    let calls = printed.calls.iter();
    calls.filter_map(|call| room(&call.arguments)).collect()
}

#[test]
fn three_calls_with_any_joint_are_three_calls() {
    for joint in JOINTS {
        for start in ["", "- ", "1. ", "I do it all: "] {
            let calls = (0..3).map(|room| spellings(room)[0].clone());
            let text = format!("{start}{}", calls.collect::<Vec<_>>().join(joint));
            let printed = printed(&text);
            assert_eq!(rooms(&printed), ["r0", "r1", "r2"], "{text}");
            assert!(!is_uncertain(&printed), "{text}: {printed:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// Checks that calls in any spelling and with any joints are all read, or that those that are read are uncertain.
    #[test]
    fn a_series_is_read_whole_or_is_uncertain(
        start in prop::sample::select(&["", "- ", "So: ", "I will do it.\n", "Calls: "][..]),
        end in prop::sample::select(&["", "\n", ".", "\nThat is all.", " is what I do."][..]),
        series in prop::collection::vec((0..10usize, prop::sample::select(JOINTS)), 1..6),
    ) {
        let mut text = start.to_owned();
        for (n, (spelling, joint)) in series.iter().enumerate() {
            if n > 0 {
                text += joint;
            }
            text += &spellings(n)[*spelling];
        }
        text += end;
        let printed = printed(&text);
        let wanted: Vec<String> = (0..series.len()).map(|n| format!("r{n}")).collect();
        let whole = rooms(&printed) == wanted;
        prop_assert!(whole || is_uncertain(&printed), "{}\n{:?}", text, printed);
    }
}

/// Checks that a call which cannot be read casts doubt on the calls that are read.
#[test]
fn text_among_calls_that_may_be_a_call_is_doubt() {
    let call = r#"{"name":"lamp","arguments":{"room":"hall"}}"#;
    for between in [
        r#"{"nome":"lamp","arguments":{"room":"attic"}}"#,
        r#"{"name":"attic","arguments":{}}"#,
        r#"{"room":"attic"}"#,
        "lamp{room: attic}",
        "<tool_call>lamp: attic</tool_call>",
        "<function=lamp>attic",
        "```json\n{\"name\":\"lamp\",\"arguments\":{}} // and so on\n```",
    ] {
        for joint in [", ", "\n"] {
            let text = [call, between, call].join(joint);
            let printed = printed(&text);
            assert!(
                !printed.calls.is_empty() && is_uncertain(&printed),
                "{text}: {printed:?}"
            );
        }
    }
    for text in [
        // In a list, in a wrapper, in Python, and in the tags of a family.
        format!(r#"[{call},{{"nome":"lamp"}},{call}]"#),
        format!(r#"<tool_call>{call}{{"nome":"lamp"}}{call}</tool_call>"#),
        "[lamp(room=\"a\"), attic(x=1), lamp(room=\"b\")]".to_owned(),
        "<tool_call><function=lamp></function><function=attic></function></tool_call>".to_owned(),
        format!("{call}\n<tool_call>{{\"name\":\"lamp\",\"arguments\":{{\"room\":\"at"),
        // A call in words that is not the last thing said.
        format!("Action: lamp\nAction Input: {{}}\n{call}"),
        "<|python_tag|>lamp.call(room=\"a\") now\n<|python_tag|>lamp.call(room=\"b\")".to_owned(),
        // A sentence mentions one call, and another is made.
        format!("I take {call} rather than that.\n{call}"),
    ] {
        let printed = printed(&text);
        assert!(
            !printed.calls.is_empty() && is_uncertain(&printed),
            "{text}: {printed:?}"
        );
    }
}

#[test]
fn prose_and_quoted_code_among_calls_are_no_doubt() {
    let call = r#"{"name":"lamp","arguments":{"room":"hall"}}"#;
    for between in [
        "\nNow the other one, for 3 < 5 [1]:\n",
        "\nThe rule is `a { b }`.\n",
        "\n```rust\nfn main() {}\n```\n",
        "\n\n",
    ] {
        let text = [call, call].join(between);
        let printed = printed(&text);
        assert!(
            printed.calls.len() == 2 && !is_uncertain(&printed),
            "{text}: {printed:?}"
        );
    }
    let text = format!("Write `{call}` to call.\n{call}");
    let printed = printed(&text);
    assert!(
        printed.calls.len() == 1 && !is_uncertain(&printed),
        "{printed:?}"
    );
}

#[test]
fn a_series_streams_as_it_is_read() {
    let call = r#"{"name":"lamp","arguments":{"room":"hall"}}"#;
    let text = format!("Both: {call}, {call} and\n{call}; the rest follows.");
    let chars = text
        .char_indices()
        .map(|(at, c)| &text[at..at + c.len_utf8()]);
    assert_eq!(streamed(chars), printed(&text));
}

#[test]
fn one_call_alone_is_certain() {
    with_tools(|tools| {
        let schema = value!({"type": "object", "properties": {"n": {"type": "integer"}}});
        let more = [
            tools,
            &[Declared {
                name: "f",
                schema: &schema,
            }],
        ]
        .concat();
        for spelling in spellings(0) {
            let printed = read(&format!("I look.\n{spelling}"), &more);
            assert!(
                printed.calls.len() == 1 && !is_uncertain(&printed),
                "{spelling}: {printed:?}"
            );
        }
    });
}
