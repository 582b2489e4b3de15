//! The decoder alone: every split of a body gives the same reply, and every cut is an error.

use crate::{HELLO, HELLO_STREAM, call};
use agents_core::model::{FinishReason, ModelErrorKind, Reply, ToolCall};
use agents_http::{Decoder, Ending, Framing, Problem};
use agents_openai::ChatReply;

fn decode(body: &[u8], chunk: usize, ending: Ending) -> (Reply, Result<(), Problem>) {
    let mut decoder = Decoder::new(ChatReply::default());
    let read = body
        .chunks(chunk)
        .try_for_each(|piece| decoder.on(piece, None))
        .and_then(|()| decoder.end(ending, None));
    (decoder.into_reply(), read)
}

fn whole(body: &str) -> Reply {
    let (reply, read) = decode(body.as_bytes(), usize::MAX, Ending::Closed);
    assert_eq!(read, Ok(()), "{body}");
    reply
}

fn problem(body: &str) -> Problem {
    let (_, read) = decode(body.as_bytes(), usize::MAX, Ending::Closed);
    read.unwrap_err()
}

/// Returns a stream of these deltas, with an end.
fn stream(deltas: &[&str]) -> String {
    let mut stream = String::new();
    for delta in deltas {
        stream += &format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\r\n\r\n");
    }
    stream
        + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\r\n\r\ndata: [DONE]\r\n\r\n"
}

fn calls(deltas: &[&str]) -> Vec<ToolCall> {
    whole(&stream(deltas)).calls
}

/// Bodies whose every split and every cut is tried.
fn bodies() -> Vec<String> {
    let two_calls = stream(&[
        r#"{"role":"assistant","content":null,"reasoning_content":"h…m"}"#,
        r#"{"content":"Lookíng"}"#,
        r#"{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\": "}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"arguments":"\"é\"}"}}]}"#,
        r#"{"tool_calls":[{"index":1,"id":"b","function":{"name":"read","arguments":"{}"}}]}"#,
    ]);
    vec![HELLO.to_owned(), HELLO_STREAM.to_owned(), two_calls]
}

#[test]
fn a_reply_is_the_same_however_its_bytes_are_split() {
    for body in bodies() {
        let expect = whole(&body);
        for chunk in 1..body.len() {
            let (reply, read) = decode(body.as_bytes(), chunk, Ending::Closed);
            assert_eq!((&reply, read), (&expect, Ok(())), "{chunk} bytes of {body}");
        }
    }
}

#[test]
fn every_cut_is_an_error_and_leaves_out_calls_that_have_not_ended() {
    for body in bodies() {
        let expect = whole(&body);
        for cut in 0..body.len() {
            let (reply, read) = decode(&body.as_bytes()[..cut], usize::MAX, Ending::BrokeOff);
            assert_eq!(read, Err(Problem::Unfinished), "{cut} bytes of {body}");
            assert!(expect.content.starts_with(&reply.content));
            assert!(expect.calls.starts_with(&reply.calls));
            // A server that closes the connection early is no better, unless the reply was complete.
            let (reply, read) = decode(&body.as_bytes()[..cut], usize::MAX, Ending::Closed);
            if read.is_ok() {
                assert_eq!(
                    (&reply.content, &reply.calls),
                    (&expect.content, &expect.calls)
                );
            }
        }
    }
}

#[test]
fn a_document_and_a_stream_give_the_same_reply() {
    let reply = whole(HELLO);
    assert_eq!(reply, whole(HELLO_STREAM));
    assert_eq!(
        (&*reply.content, &reply.finish),
        ("hello", &FinishReason::Stop)
    );
    let usage = reply.usage;
    assert_eq!(
        (usage.input_tokens, usage.output_tokens, usage.cached_tokens),
        (10, 2, 4)
    );
}

#[test]
fn a_stream_may_lack_the_word_done_if_the_server_ends_it() {
    let body = HELLO_STREAM.replace("data: [DONE]\n\n", "");
    assert_eq!(whole(&body), whole(HELLO));
    let (_, read) = decode(body.as_bytes(), 7, Ending::BrokeOff);
    assert_eq!(read, Err(Problem::Unfinished));
    // Without a reason to stop, the content may be incomplete.
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"hel\"}}]}\n\n";
    assert_eq!(problem(body), Problem::Unfinished);
}

#[test]
fn events_may_come_line_by_line() {
    let lines = HELLO_STREAM.replace("data: ", "").replace("\n\n", "\n");
    for chunk in 1..lines.len() {
        let mut decoder = Decoder::framed(ChatReply::default(), Framing::Lines);
        for piece in lines.as_bytes().chunks(chunk) {
            decoder.on(piece, None).unwrap();
        }
        decoder.end(Ending::Closed, None).unwrap();
        assert_eq!(decoder.into_reply(), whole(HELLO));
    }
}

#[test]
fn calls_that_arrive_interleaved() {
    let deltas = [
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":""}},{"index":1,"id":"b","function":{"name":"two","arguments":"{\"x\""}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}"#,
        r#"{"tool_calls":[{"index":1,"function":{"arguments":": 1}"}}]}"#,
    ];
    assert_eq!(
        calls(&deltas),
        [call("a", "one", "{}"), call("b", "two", "{\"x\": 1}")]
    );
}

#[test]
fn calls_without_an_index() {
    let deltas = [
        r#"{"tool_calls":[{"id":"a","function":{"name":"one","arguments":"{\"x\""}}]}"#,
        r#"{"tool_calls":[{"function":{"arguments":": 1}"}}]}"#,
        r#"{"tool_calls":[{"id":"b","function":{"name":"two","arguments":"{}"}}]}"#,
    ];
    assert_eq!(
        calls(&deltas),
        [call("a", "one", "{\"x\": 1}"), call("b", "two", "{}")]
    );
}

#[test]
fn calls_without_an_id() {
    let deltas = [
        r#"{"tool_calls":[{"index":0,"function":{"name":"one","arguments":"{\"x\": 1}"}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"name":"one","arguments":"{\"x\": 2}"}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"name":"two","arguments":"{}"}}]}"#,
    ];
    let expect = [
        call("", "one", "{\"x\": 1}"),
        call("", "one", "{\"x\": 2}"),
        call("", "two", "{}"),
    ];
    assert_eq!(calls(&deltas), expect);
}

#[test]
fn calls_with_the_same_id() {
    let deltas = [
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{}"}}]}"#,
        r#"{"tool_calls":[{"index":1,"id":"a","function":{"name":"one","arguments":"{\"x\": 2}"}}]}"#,
    ];
    assert_eq!(
        calls(&deltas),
        [call("a", "one", "{}"), call("a", "one", "{\"x\": 2}")]
    );
}

#[test]
fn pieces_of_a_call_may_repeat_its_name_and_change_its_id() {
    let deltas = [
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":""}}]}"#,
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{\"x\""}}]}"#,
        r#"{"tool_calls":[{"index":0,"id":"z","function":{"name":"","arguments":": 1}"}}]}"#,
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":""}}]}"#,
    ];
    assert_eq!(calls(&deltas), [call("a", "one", "{\"x\": 1}")]);
}

#[test]
fn a_name_may_come_behind_the_arguments() {
    let args = r#"{"x": 1}"#;
    for deltas in [
        [
            r#"{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{\"x\""}}]}"#,
            r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":": 1}"}}]}"#,
        ],
        [
            r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"","arguments":"{\"x\": 1}"}}]}"#,
            r#"{"tool_calls":[{"index":0,"function":{"name":"one"}}]}"#,
        ],
        [
            r#"{"tool_calls":[{"id":"a","function":{"arguments":"{\"x\": "}}]}"#,
            r#"{"tool_calls":[{"id":"a","function":{"name":"one","arguments":"1}"}}]}"#,
        ],
        [
            r#"{"tool_calls":[{"id":"a","function":{"arguments":"{\"x\": "}}]}"#,
            r#"{"tool_calls":[{"function":{"name":"one","arguments":"1}"}}]}"#,
        ],
    ] {
        assert_eq!(calls(&deltas), [call("a", "one", args)], "{deltas:?}");
    }
    // The name of the next call is no name of this one.
    let deltas = [
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}"#,
        r#"{"tool_calls":[{"index":1,"id":"b","function":{"name":"two","arguments":"{}"}}]}"#,
    ];
    assert_eq!(
        calls(&deltas),
        [call("a", "", "{}"), call("b", "two", "{}")]
    );
}

#[test]
fn each_piece_of_a_call_may_have_an_id_of_its_own() {
    let piece = |id: &str, arguments: &str| {
        format!(
            r#"{{"tool_calls":[{{"index":0,"id":"{id}","function":{{"name":"one","arguments":{}}}}}]}}"#,
            serde_json::Value::from(arguments)
        )
    };
    for (pieces, expect) in [
        (&["", "{\"x\": ", "1}"][..], &["{\"x\": 1}"][..]),
        (&["", "{\"x\": 1}"], &["{\"x\": 1}"]),
        (&["{\"x\"", ": {\"y\"", ": 1}}"], &["{\"x\": {\"y\": 1}}"]),
        // Two whole calls, and two without arguments, are two.
        (&["{\"x\": 1}", "{\"x\": 1}"], &["{\"x\": 1}", "{\"x\": 1}"]),
        (&["", ""], &["", ""]),
    ] {
        let deltas: Vec<_> = (0..)
            .zip(pieces)
            .map(|(id, text)| piece(&format!("c{id}"), text))
            .collect();
        let deltas: Vec<_> = deltas.iter().map(String::as_str).collect();
        let found: Vec<_> = calls(&deltas)
            .into_iter()
            .map(|call| call.arguments)
            .collect();
        assert_eq!(found, expect, "{pieces:?}");
    }
}

#[test]
fn calls_in_other_shapes() {
    let args = r#"{"x": 1}"#;
    for (id, body) in [
        // One call without a list, a call without `function`, and other names of the arguments.
        (
            "a",
            r#"{"tool_calls":{"id":"a","function":{"name":"one","arguments":"{\"x\": 1}"}}}"#,
        ),
        (
            "a",
            r#"{"tool_calls":[{"id":"a","name":"one","arguments":"{\"x\": 1}"}]}"#,
        ),
        (
            "a",
            r#"{"tool_calls":[{"id":"a","name":"one","input":{"x": 1}}]}"#,
        ),
        (
            "a",
            r#"{"tool_calls":[{"id":"a","function":{"name":"one","parameters":{"x": 1}}}]}"#,
        ),
        // The form before `tool_calls`.
        (
            "",
            r#"{"function_call":{"name":"one","arguments":"{\"x\": 1}"}}"#,
        ),
        (
            "a",
            r#"{"function_call":{"name":"one","arguments":"{}"},"tool_calls":[{"id":"a","function":{"name":"one","arguments":{"x": 1}}}]}"#,
        ),
    ] {
        let document =
            format!(r#"{{"choices":[{{"message":{body},"finish_reason":"tool_calls"}}]}}"#);
        assert_eq!(whole(&document).calls, [call(id, "one", args)], "{body}");
        assert_eq!(calls(&[body]), [call(id, "one", args)], "{body}");
    }
    // Without an index, too, a fragment under another id may be the rest of the arguments.
    let rest = [
        r#"{"tool_calls":[{"id":"a","function":{"name":"one","arguments":"{\"x\""}}]}"#,
        r#"{"tool_calls":[{"id":"b","function":{"name":"one","arguments":": 1}"}}]}"#,
    ];
    assert_eq!(calls(&rest), [call("a", "one", args)]);
    let old = [
        r#"{"function_call":{"name":"one","arguments":""}}"#,
        r#"{"function_call":{"arguments":"{\"x\""}}"#,
        r#"{"function_call":{"arguments":": 1}"}}"#,
    ];
    assert_eq!(calls(&old), [call("", "one", args)]);
}

#[test]
fn a_message_that_grows() {
    let said = |message: &str| format!("data: {{\"choices\":[{{\"message\":{message}}}]}}\n\n");
    let end = "data: {\"choices\":[{\"message\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let body = [r#"{"content":"He"}"#, r#"{"content":"Hell"}"#]
        .map(said)
        .concat()
        + end;
    assert_eq!(whole(&body).content, "Hello");
    let growing = [r#"{\"x\""#, r#"{\"x\": 1}"#].map(|args| {
        said(&format!(
            r#"{{"tool_calls":[{{"id":"a","function":{{"name":"one","arguments":"{args}"}}}}]}}"#
        ))
    });
    let body = growing.concat() + end;
    assert_eq!(whole(&body).calls, [call("a", "one", r#"{"x": 1}"#)]);
}

#[test]
fn arguments_may_be_an_object_and_keep_their_digits() {
    let body = r#"{"choices":[{"message":{"tool_calls":[
        {"id":"a","function":{"name":"pay","arguments":{"cents": 12345678901234567890.10}}},
        {"id":"b","function":{"name":"now","arguments":null}},
        {"function":{"name":"now"}}
    ]},"finish_reason":"stop"}]}"#;
    let reply = whole(body);
    let expect = [
        call("a", "pay", r#"{"cents": 12345678901234567890.10}"#),
        call("b", "now", ""),
        call("", "now", ""),
    ];
    assert_eq!(reply.calls, expect);
    assert_eq!(reply.finish, FinishReason::ToolCalls);
}

#[test]
fn reasoning_in_any_field() {
    for (deltas, expect) in [
        (
            vec![
                r#"{"reasoning_content":"h"}"#,
                r#"{"reasoning_content":"m"}"#,
            ],
            "hm",
        ),
        (
            vec![
                r#"{"reasoning":"h","reasoning_content":"h"}"#,
                r#"{"reasoning":"m","reasoning_content":"m"}"#,
            ],
            "hm",
        ),
        (
            vec![
                r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"x"}]}"#,
            ],
            "hm",
        ),
    ] {
        assert_eq!(
            whole(&stream(&deltas)).thinking.as_deref(),
            Some(expect),
            "{deltas:?}"
        );
    }
}

#[test]
fn a_refusal_is_no_answer() {
    let body = r#"{"choices":[{"message":{"content":null,"refusal":"I cannot help"},"finish_reason":"stop"}]}"#;
    let reply = whole(body);
    assert_eq!(reply.refusal.as_deref(), Some("I cannot help"));
    assert_eq!((&*reply.content, reply.finish), ("", FinishReason::Refusal));
    let filtered =
        whole(r#"{"choices":[{"message":{"content":"I"},"finish_reason":"content_filter"}]}"#);
    assert_eq!(filtered.finish, FinishReason::Filter);
}

#[test]
fn errors_within_a_reply() {
    let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"hel\"}}]}\n\n";
    for (body, kind, message) in [
        (
            r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#.to_owned(),
            ModelErrorKind::Overloaded,
            "slow down",
        ),
        (
            format!("{begun}data: {{\"error\":{{\"code\":502,\"message\":\"gone\"}}}}\n\n"),
            ModelErrorKind::Interrupted,
            "gone",
        ),
        (
            format!("{begun}event: error\ndata: {{\"error\":\"bad\"}}\n\n"),
            ModelErrorKind::Refused,
            "bad",
        ),
        (
            format!(
                "{begun}data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"error\"}}]}}\n\n"
            ),
            ModelErrorKind::Interrupted,
            "the model's provider failed during the reply",
        ),
    ] {
        let expect = Problem::Reported {
            kind,
            message: message.to_owned(),
        };
        assert_eq!(problem(&body), expect, "{body}");
    }
}

#[test]
fn errors_in_other_clothes() {
    let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"hel\"}}]}\n\n";
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    for (frame, kind, message) in [
        (
            "event: error\ndata: {\"message\":\"gone\"}",
            ModelErrorKind::Interrupted,
            "gone",
        ),
        (
            "event: error\ndata: gone",
            ModelErrorKind::Interrupted,
            "gone",
        ),
        (
            "error: {\"code\":400,\"message\":\"context shift is disabled\"}",
            ModelErrorKind::TooLong,
            "context shift is disabled",
        ),
        (
            "error: {\"code\":500,\"message\":\"gone\"}",
            ModelErrorKind::Interrupted,
            "gone",
        ),
        (
            "data: {\"detail\":\"gone\"}",
            ModelErrorKind::Interrupted,
            "gone",
        ),
        (
            "data: {\"status\":503,\"message\":\"busy\"}",
            ModelErrorKind::Overloaded,
            "busy",
        ),
        (
            "data: {\"object\":\"error\",\"message\":\"gone\",\"code\":500}",
            ModelErrorKind::Interrupted,
            "gone",
        ),
        (
            "data: {\"choices\":[],\"message\":\"gone\"}",
            ModelErrorKind::Interrupted,
            "gone",
        ),
        (
            "data: {\"errors\":[{\"message\":\"gone\"}]}",
            ModelErrorKind::Interrupted,
            "gone",
        ),
    ] {
        let body = format!("{begun}{frame}\n\n{end}");
        let message = message.to_owned();
        let expect = Err(Problem::Reported { kind, message });
        for chunk in [usize::MAX, 1, 7] {
            let (_, read) = decode(body.as_bytes(), chunk, Ending::Closed);
            assert_eq!(read, expect, "{frame}");
        }
    }
    // What has neither `choices` nor an error is skipped.
    for noise in [
        r#"{"status":"queued"}"#,
        r#"{"id":"c","choices":[],"prompt_filter_results":[]}"#,
    ] {
        assert_eq!(
            whole(&format!("data: {noise}\n\n{HELLO_STREAM}")),
            whole(HELLO)
        );
    }
}

#[test]
fn a_stream_without_a_reason_to_stop_is_no_reply() {
    for deltas in [
        &[r#"{"content":"The answer is"}"#][..],
        &[
            r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{\"x\": \"O"}}]}"#,
        ],
        &[r#"{"content":""}"#],
    ] {
        let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\r\n\r\n";
        let body = stream(deltas).replace(end, "");
        assert_eq!(problem(&body), Problem::Unfinished, "{body}");
        let body = body + HELLO_STREAM;
        assert_eq!(
            problem(&body),
            Problem::Unfinished,
            "nothing follows the end of a stream"
        );
    }
    // A document is whole by its last bracket.
    let body = r#"{"choices":[{"message":{"content":"hello"}}]}"#;
    assert_eq!(
        (whole(body).content, whole(body).finish),
        ("hello".to_owned(), FinishReason::Stop)
    );
}

#[test]
fn events_without_an_empty_line_between() {
    let body = HELLO_STREAM.replace("\n\n", "\n");
    for chunk in [usize::MAX, 1, 7] {
        let (reply, read) = decode(body.as_bytes(), chunk, Ending::Closed);
        assert_eq!((reply, read), (whole(HELLO), Ok(())));
    }
    // One document over several lines is still one.
    let body = "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"hello\"},\ndata: \"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    assert_eq!(whole(body).content, "hello");
}

#[test]
fn a_document_with_the_end_of_a_stream() {
    let glued = HELLO_STREAM.replace("\n\ndata: [DONE]", "data: [DONE]");
    assert_eq!(whole(&glued), whole(HELLO));
    for end in ["data: [DONE]\n\n", "\n\ndata: [DONE]\n\n", "\ndata:[DONE]"] {
        let body = format!("{HELLO}{end}");
        for chunk in [usize::MAX, 1, 7] {
            let (reply, read) = decode(body.as_bytes(), chunk, Ending::Closed);
            assert_eq!((reply, read), (whole(HELLO), Ok(())), "{end:?}");
        }
    }
    // A stream whose first event lacks the name of its field.
    let body = HELLO_STREAM.replacen("data: ", "", 1);
    assert_eq!(whole(&body), whole(HELLO));
    assert!(matches!(
        problem(&format!("{HELLO} and more")),
        Problem::Malformed { .. }
    ));
}

#[test]
fn half_a_character_is_no_reason_to_lose_a_reply() {
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    for (deltas, expect) in [
        (
            &[r#"{"content":"a\ud83d"}"#, r#"{"content":"\ude00!"}"#][..],
            "a😀!",
        ),
        (
            &[
                r#"{"content":"a\uD83D"}"#,
                r#"{"role":"assistant"}"#,
                r#"{"content":"\uDE00"}"#,
            ],
            "a😀",
        ),
        (
            &[r#"{"reasoning_content":"\ude00 x"}"#, r#"{"content":"a"}"#],
            "a",
        ),
        (&[r#"{"content":"a"}"#, r#"{"content":"\ud83d"}"#], "a"),
    ] {
        let events = deltas
            .iter()
            .map(|delta| format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n"));
        let body = events.collect::<String>() + end;
        for chunk in [usize::MAX, 1, 7] {
            let (reply, read) = decode(body.as_bytes(), chunk, Ending::Closed);
            assert_eq!((&*reply.content, read), (expect, Ok(())), "{deltas:?}");
        }
    }
    let document = r#"{"choices":[{"message":{"content":"a\ud83d"},"finish_reason":"stop"}]}"#;
    assert_eq!(whole(document).content, "a");
}

#[test]
fn bodies_that_are_no_reply() {
    for (body, why) in [
        ("<html>Bad gateway</html>", "it has no reply"),
        ("data: [DONE]\n\n", "it has no `choices`"),
        ("{}", "it has no `choices`"),
        ("[]", "invalid length"),
        ("{\"choices\": 1}", "invalid type"),
        ("data: {\"choices\": [}\n\n", "expected value"),
    ] {
        let problem = problem(body).to_string();
        assert!(problem.contains(why), "{body}: {problem}");
    }
    for body in ["", " \n", ": a comment\n\n"] {
        assert!(
            decode(body.as_bytes(), 1, Ending::Closed).1.is_err(),
            "{body:?}"
        );
    }
}

#[test]
fn unknown_events_and_fields_are_skipped() {
    let noise = "event: ping\ndata: {\"type\": \"ping\"}\n\n: keep-alive\n\nretry: 5\n\n";
    let body = format!(
        "{noise}{}",
        HELLO_STREAM.replace("\"delta\"", "\"extra\":[1],\"delta\"")
    );
    assert_eq!(whole(&body), whole(HELLO));
}
