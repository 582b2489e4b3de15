//! Property tests on generated texts that mix markers, calls and prose.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{printed, read, streamed, with_tools};
use crate::printed::table;

/// Pieces of generated texts: markers whole and halved, bodies whole and damaged, and the text between them.
const PIECES: &[&str] = &[
    "<tool_call>",
    "</tool_call>",
    "</tool_",
    "<tool_call fake",
    "<|tool_call>",
    "<tool_call|>",
    "<start_function_call>",
    "<end_function_call>",
    "<|tool_call_start|>",
    "<|tool_call_end|>",
    "<function_calls>",
    "</function_calls>",
    "<atem:function_calls>",
    "<atem:invoke name=\"lamp\">",
    "<atem:parameter name=\"room\">",
    "</atem:parameter></atem:invoke>",
    "</atem:function_calls>",
    "<｜tool▁call▁begin｜>",
    "function<｜tool▁sep｜>",
    "<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>",
    "<|START_ACTION|>",
    "<|END_ACTION|>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "[/TOOL_CALLS]",
    "<user>",
    "</user>",
    "<function=lamp>",
    "<parameter=room>\n",
    "</parameter>",
    "</function>",
    "<arg_key>",
    "level",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "<think>",
    "</think>",
    "[THINK]",
    "<|channel>thought\n",
    "<channel|>",
    " to=lamp",
    " to=self",
    "<|start|>assistant",
    "<|message|>",
    "<|eot|>",
    "lamp",
    "lamp_all",
    "灯",
    "call:lamp",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "`",
    "```",
    "```json\n",
    "\\",
    ",",
    ":",
    "=",
    "<",
    "<|\"|>",
    "\n",
    "\n\n",
    " ",
    "5",
    "\u{a0}",
    "é",
    "room",
    "{\"name\":\"lamp\",\"arguments\":{\"room\":\"hall\"}}",
    "[{\"name\": \"lamp_all\", \"arguments\": {}}",
    "{\"name\": \"lamp\", \"arguments\": {\"room\": \"ha",
    "{\"lamp\":{}}",
    "{\"data\":[1,{\"a\":\"}\"}]}",
    "lamp(room='hall', level=5)",
    "[lamp(room=\"hall\"), lamp_all()]",
    "{room:<|\"|>hall<|\"|>}",
    "{\"room\":\"hall\"}",
    "({\"level\":1})",
    "<|python_tag|>",
    ".call",
    "```tool_code\n",
    "Action: lamp\nAction Input: ",
    "The lamp is on. ",
];

fn glued() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        12 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Cuts a text into chunks at places that a test has drawn.
fn cut<'t>(text: &'t str, cuts: &[prop::sample::Index]) -> Vec<&'t str> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
    places.retain(|&at| text.is_char_boundary(at));
    places.push(text.len());
    places.sort_unstable();
    let mut from = 0;
    let mut chunk = |to| {
        let chunk = &text[from..to];
        from = to;
        chunk
    };
    places.into_iter().map(&mut chunk).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12_000))]

    #[test]
    fn streaming_equals_reading(
        text in glued(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        prop_assert_eq!(streamed(cut(&text, &cuts)), printed(&text));
    }

    #[test]
    fn streaming_by_characters_equals_reading(text in glued()) {
        let chars = text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]);
        prop_assert_eq!(streamed(chars), printed(&text));
    }

    #[test]
    fn calls_are_declared_and_intact_ones_are_json(text in glued()) {
        for call in printed(&text).calls {
            let value = serde_json::from_str::<serde_json::Value>(&call.arguments);
            prop_assert_eq!(value.is_ok(), call.is_valid, "{:?}", call);
            prop_assert!(with_tools(|tools| tools.iter().any(|tool| tool.name == call.name)));
        }
    }

    #[test]
    fn without_tools_there_are_no_calls(text in glued()) {
        prop_assert!(read(&text, &[]).calls.is_empty());
    }
}

/// Checks that long runs of an opening without an end take linear time.
#[test]
fn hostile_repetition_is_linear() {
    let n = if cfg!(debug_assertions) {
        10_000
    } else {
        100_000
    };
    let singles = PIECES.iter().map(|piece| piece.repeat(n));
    let pairs = [
        ["<tool_call>", "{\"\\\""],
        ["<tool_call>", "{\"name\":\"lamp\",\"arguments\":{\""],
        ["<tool_call>lamp", "<arg_key>a</arg_key><arg_value>"],
        ["<function=lamp>", "<parameter=a>"],
        ["<|tool_call>call:lamp{", "room:<|\"|>"],
        ["<|tool_call>call:lamp{", "room:'"],
        ["<|tool_call>call:lamp{room:", ",,}"],
        ["[lamp(a=", "["],
        ["{\"name\":", "["],
        ["{\"arguments\":", "{"],
        ["\n", "lamp({"],
        ["[{\"name\":\"lamp\",", "\"arguments\":"],
        ["`", "<tool_call>{\"name\":\"lamp\"}</tool_call>"],
        ["<|start|>", "to=lamp<|message|>{"],
        ["{\"tool_calls\":[", "{\"function\":"],
        ["<｜tool▁call▁begin｜>lamp<｜tool▁sep｜>", "{\"a"],
        ["```json\n", "{\"name\":\"lamp\","],
    ];
    let pairs = pairs.iter().map(|pair| pair.concat().repeat(n / 4));
    for text in singles.chain(pairs) {
        let head: String = text.chars().take(60).collect();
        let start = Instant::now();
        printed(&text);
        let took = start.elapsed();
        assert!(took < Duration::from_secs(2), "{head}: {took:?}");

        // Chunks of a few characters, as models write them.
        let ends = text.char_indices().map(|(at, _)| at).step_by(5).take(n / 4);
        let ends: Vec<usize> = ends.collect();
        let start = Instant::now();
        streamed(ends.windows(2).map(|ends| &text[ends[0]..ends[1]]));
        let took = start.elapsed();
        assert!(took < Duration::from_secs(4), "{head} streamed: {took:?}");
    }
}

/// Checks that every marker of the tables, repeated, is read in bounded time: a marker alone, and with the beginnings
/// of calls behind it.
///
/// Reading 100 kB takes some milliseconds in time that is linear, and 6 to 11 seconds in time that is quadratic. The
/// bound is a hundred times the former, so that a busy machine does not matter, and below the latter.
#[test]
fn every_marker_is_read_in_bounded_time() {
    const LENGTH: usize = 100_000;
    let tails = [
        "",
        "lamp(room=",
        "lamp.call(room=",
        "commentary to=functions.lamp <|message|>{",
        "{\"name\":\"lamp\",\"arguments\":{\"room\":\"",
        "[{\"name\":\"lamp\",",
        "=lamp><parameter=room>",
        "room<arg_value>",
        "</parameter",
    ];
    let mut slow = Vec::new();
    for marker in table::markers() {
        for tail in tails {
            let text = format!("{marker}{tail}").repeat(LENGTH / (marker.len() + tail.len()));
            let start = Instant::now();
            printed(&text);
            let took = start.elapsed();
            if took > Duration::from_secs(5) {
                slow.push(format!("{marker}{tail}: {took:?}"));
            }
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}
