//! The decoder alone: every split of a body gives the same reply, and every cut is an error.

use crate::{HELLO, HELLO_STREAM, call};
use agents_anthropic::MessagesReply;
use agents_core::model::{FinishReason, ModelErrorKind, Reply};
use agents_http::{Decoder, Ending, Framing, Problem};

fn decode(body: &[u8], chunk: usize, ending: Ending) -> (Reply, Result<(), Problem>) {
    let mut decoder = Decoder::new(MessagesReply::default());
    let read = body
        .chunks(chunk)
        .try_for_each(|piece| decoder.on(piece, None))
        .and_then(|()| decoder.end(ending, None));
    (decoder.into_reply(), read)
}

pub(crate) fn whole(body: &str) -> Reply {
    let (reply, read) = decode(body.as_bytes(), usize::MAX, Ending::Closed);
    assert_eq!(read, Ok(()), "{body}");
    reply
}

fn problem(body: &str) -> Problem {
    let (_, read) = decode(body.as_bytes(), usize::MAX, Ending::Closed);
    read.unwrap_err()
}

/// Returns a stream of these events.
pub(crate) fn stream(events: &[&str]) -> String {
    let events = events.iter().map(|event| format!("data: {event}\r\n\r\n"));
    events.collect()
}

/// Returns a stream of these blocks with an end; a block is its beginning and the deltas behind it.
pub(crate) fn blocks(blocks: &[(&str, &[&str])], stop_reason: &str) -> String {
    let mut events = vec![
        r#"{"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}"#
            .to_owned(),
    ];
    for (index, (begin, deltas)) in blocks.iter().enumerate() {
        events.push(format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{begin}}}"#
        ));
        for delta in *deltas {
            events.push(format!(
                r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#
            ));
        }
        events.push(format!(
            r#"{{"type":"content_block_stop","index":{index}}}"#
        ));
    }
    events.push(format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{stop_reason}"}},"usage":{{"output_tokens":9}}}}"#
    ));
    events.push(r#"{"type":"message_stop"}"#.to_owned());
    stream(&events.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Returns a stream with thinking, a text and two calls.
pub(crate) fn two_calls() -> String {
    blocks(
        &[
            (
                r#"{"type":"thinking","thinking":"","signature":""}"#,
                &[
                    r#"{"type":"thinking_delta","thinking":"h…"}"#,
                    r#"{"type":"thinking_delta","thinking":"m"}"#,
                    r#"{"type":"signature_delta","signature":"EqQB"}"#,
                ],
            ),
            (r#"{"type":"redacted_thinking","data":"EmwK"}"#, &[]),
            (
                r#"{"type":"text","text":""}"#,
                &[r#"{"type":"text_delta","text":"Lookíng"}"#],
            ),
            (
                r#"{"type":"tool_use","id":"toolu_1","name":"read_file","input":{}}"#,
                &[
                    r#"{"type":"input_json_delta","partial_json":""}"#,
                    r#"{"type":"input_json_delta","partial_json":"{\"path\": "}"#,
                    r#"{"type":"input_json_delta","partial_json":"\"é\"}"}"#,
                ],
            ),
            (
                r#"{"type":"tool_use","id":"toolu_2","name":"now","input":{}}"#,
                &[],
            ),
        ],
        "tool_use",
    )
}

#[test]
fn a_reply_is_the_same_however_its_bytes_are_split() {
    for body in [HELLO, HELLO_STREAM, &two_calls()] {
        let expect = whole(body);
        for chunk in 1..body.len() {
            let (reply, read) = decode(body.as_bytes(), chunk, Ending::Closed);
            assert_eq!((&reply, read), (&expect, Ok(())), "{chunk} bytes of {body}");
        }
    }
}

#[test]
fn every_cut_is_an_error_and_leaves_out_calls_that_have_not_ended() {
    for body in [HELLO, HELLO_STREAM, &two_calls()] {
        let expect = whole(body);
        for cut in 0..body.len() {
            let part = &body.as_bytes()[..cut];
            let (reply, read) = decode(part, usize::MAX, Ending::BrokeOff);
            assert_eq!(read, Err(Problem::Unfinished), "{cut} bytes of {body}");
            assert!(expect.content.starts_with(&reply.content));
            assert!(expect.calls.starts_with(&reply.calls));
            // A server that closes the connection early is no better, unless the reply was complete.
            let (reply, read) = decode(part, usize::MAX, Ending::Closed);
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
fn errors_in_other_clothes() {
    let (begun, rest) =
        HELLO_STREAM.split_at(HELLO_STREAM.find("event: content_block_stop").unwrap());
    for (frame, kind) in [
        (
            "event: error\ndata: {\"message\":\"gone\"}",
            ModelErrorKind::Interrupted,
        ),
        ("event: error\ndata: gone", ModelErrorKind::Interrupted),
        (
            "error: {\"code\":529,\"message\":\"gone\"}",
            ModelErrorKind::Overloaded,
        ),
        ("data: {\"detail\":\"gone\"}", ModelErrorKind::Interrupted),
        (
            "data: {\"status\":500,\"message\":\"gone\"}",
            ModelErrorKind::Interrupted,
        ),
        (
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"gone\"}}",
            ModelErrorKind::Overloaded,
        ),
    ] {
        let message = "gone".to_owned();
        let expect = Err(Problem::Reported { kind, message });
        let body = format!("{begun}{frame}\n\n{rest}");
        for chunk in [usize::MAX, 1, 7] {
            assert_eq!(
                decode(body.as_bytes(), chunk, Ending::Closed).1,
                expect,
                "{frame}"
            );
        }
    }
}

#[test]
fn a_stream_without_a_reason_to_stop_is_no_reply() {
    for body in [HELLO_STREAM.to_owned(), two_calls()] {
        let lines = body.lines().filter(|line| !line.contains("message_delta"));
        let body: String = lines.map(|line| format!("{line}\n")).collect();
        assert!(body.contains("message_stop"));
        assert_eq!(problem(&body), Problem::Unfinished, "{body}");
    }
}

#[test]
fn half_a_character_is_no_reason_to_lose_a_reply() {
    let text = |deltas: &[&str]| {
        whole(&blocks(
            &[(r#"{"type":"text","text":""}"#, deltas)],
            "end_turn",
        ))
        .content
    };
    let delta = |text: &str| format!(r#"{{"type":"text_delta","text":"{text}"}}"#);
    let (first, second) = (delta(r"a\ud83d"), delta(r"\ude00!"));
    assert_eq!(text(&[&first, &second]), "a😀!");
    assert_eq!(text(&[&second]), "\u{fffd}!");
    assert_eq!(text(&[&first]), "a");
}

#[test]
fn a_document_and_a_stream_give_the_same_reply() {
    let reply = whole(HELLO);
    assert_eq!(reply, whole(HELLO_STREAM));
    assert_eq!(
        (&*reply.content, &reply.finish),
        ("hello", &FinishReason::Stop)
    );
    // The input includes what was read from the cache, and what was written into it.
    let usage = reply.usage;
    assert_eq!(
        (usage.input_tokens, usage.output_tokens, usage.requests),
        (10, 2, 1)
    );
    assert_eq!((usage.cached_tokens, usage.cache_write_tokens), (5, 1));
}

#[test]
fn calls_keep_the_arguments_that_the_model_wrote() {
    let expect = [
        call("toolu_1", "read_file", "{\"path\": \"é\"}"),
        call("toolu_2", "now", "{}"),
    ];
    let reply = whole(&two_calls());
    assert_eq!(
        (reply.calls, reply.finish),
        (expect.to_vec(), FinishReason::ToolCalls)
    );
    assert_eq!(reply.thinking.as_deref(), Some("h…m"));
    let document = r#"{"content":[
        {"type":"tool_use","id":"a","name":"pay","input":{"cents": 12345678901234567890.10}},
        {"type":"tool_use","id":"a","name":"now","input":null},
        {"type":"tool_use","name":"now"}
    ],"stop_reason":"tool_use"}"#;
    let expect = [
        call("a", "pay", r#"{"cents": 12345678901234567890.10}"#),
        call("a", "now", "{}"),
        call("", "now", "{}"),
    ];
    assert_eq!(whole(document).calls, expect);
}

#[test]
fn deltas_that_arrive_interleaved() {
    let body = stream(&[
        r#"{"type":"message_start","message":{}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"one","input":{}}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"two","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"x\""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":": 1}"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    assert_eq!(
        whole(&body).calls,
        [call("a", "one", "{}"), call("b", "two", "{\"x\": 1}")]
    );
}

#[test]
fn blocks_without_an_index_follow_each_other() {
    let body = two_calls();
    let bare = (0..5).fold(body.clone(), |body, index| {
        body.replace(&format!("\"index\":{index},"), "")
            .replace(&format!(",\"index\":{index}"), "")
    });
    assert_ne!(bare, body);
    assert_eq!(whole(&bare), whole(&body));
}

#[test]
fn a_message_that_begins_anew_replaces_what_came_before() {
    let begun = stream(&[
        r#"{"type":"message_start","message":{"usage":{"input_tokens":3}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"x","name":"pay","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"cents\": 1"}}"#,
    ]);
    assert_eq!(
        whole(&format!("{begun}{}", two_calls())),
        whole(&two_calls())
    );
}

#[test]
fn reasons_to_stop() {
    for (reason, finish) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("tool_use", FinishReason::ToolCalls),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("refusal", FinishReason::Refusal),
        ("pause_turn", FinishReason::Other("pause_turn".into())),
    ] {
        let text: (&str, &[&str]) = (r#"{"type":"text","text":"hi"}"#, &[]);
        assert_eq!(whole(&blocks(&[text], reason)).finish, finish);
        let document =
            format!(r#"{{"content":[{{"type":"text","text":"hi"}}],"stop_reason":"{reason}"}}"#);
        assert_eq!(whole(&document).finish, finish);
    }
}

#[test]
fn a_refusal_says_why() {
    let details = r#""stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"It is forbidden."}"#;
    let document = format!(r#"{{"content":[],{details}}}"#);
    let events = stream(&[
        r#"{"type":"message_start","message":{}}"#,
        &format!(r#"{{"type":"message_delta","delta":{{{details}}}}}"#),
        r#"{"type":"message_stop"}"#,
    ]);
    for body in [document, events] {
        let reply = whole(&body);
        assert_eq!(reply.finish, FinishReason::Refusal);
        assert_eq!(reply.refusal.as_deref(), Some("It is forbidden."));
    }
}

#[test]
fn summaries_of_the_conversation_are_counted() {
    let document = r#"{"content":[{"type":"compaction","content":"So far"},{"type":"text","text":"hi"}],"stop_reason":"end_turn",
        "usage":{"input_tokens":10,"output_tokens":5,"iterations":[
            {"type":"compaction","input_tokens":100,"output_tokens":20},
            {"type":"message","input_tokens":10,"output_tokens":5},
            {"type":"advisor_message","input_tokens":900,"output_tokens":90}]}}"#;
    let usage = whole(document).usage;
    assert_eq!(
        (usage.input_tokens, usage.output_tokens, usage.requests),
        (110, 25, 1)
    );
}

#[test]
fn events_may_come_line_by_line() {
    let lines: String = HELLO_STREAM
        .lines()
        .filter_map(|line| Some(format!("{}\n", line.strip_prefix("data: ")?)))
        .collect();
    for chunk in 1..lines.len() {
        let mut decoder = Decoder::framed(MessagesReply::default(), Framing::Lines);
        for piece in lines.as_bytes().chunks(chunk) {
            decoder.on(piece, None).unwrap();
        }
        decoder.end(Ending::Closed, None).unwrap();
        assert_eq!(decoder.into_reply(), whole(HELLO));
    }
}

#[test]
fn errors_within_a_reply() {
    let begun = HELLO_STREAM
        .split_once("event: content_block_stop")
        .unwrap()
        .0;
    for (kind, expect) in [
        ("overloaded_error", ModelErrorKind::Overloaded),
        ("rate_limit_error", ModelErrorKind::Overloaded),
        ("timeout_error", ModelErrorKind::TimedOut),
        ("api_error", ModelErrorKind::Interrupted),
        ("invalid_request_error", ModelErrorKind::Refused),
    ] {
        let error =
            format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"slow down"}}}}"#);
        let expect = Problem::Reported {
            kind: expect,
            message: "slow down".into(),
        };
        assert_eq!(
            problem(&format!("{begun}event: error\ndata: {error}\n\n")),
            expect
        );
        assert_eq!(problem(&error), expect);
    }
}

#[test]
fn bodies_that_are_no_reply() {
    for (body, why) in [
        ("<html>Bad gateway</html>", "it has no reply"),
        (
            "data: {\"type\":\"message_stop\"}\n\n",
            "it ends before it begins",
        ),
        ("{}", "it has no `content`"),
        ("[]", "invalid length"),
        ("{\"content\": 1}", "invalid type"),
        ("data: {\"type\": }\n\n", "expected value"),
        (
            "data: {\"type\":\"content_block_start\"}\n\n",
            "it has no `content_block`",
        ),
        (
            "data: {\"type\":\"content_block_start\",\"content_block\":7}\n\n",
            "invalid type",
        ),
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
fn invalid_utf_8_is_replaced() {
    let body = HELLO_STREAM.replace("hel", "h\u{1}l").into_bytes();
    let body: Vec<_> = body
        .into_iter()
        .map(|byte| if byte == 1 { 0xff } else { byte })
        .collect();
    let (reply, read) = decode(&body, 3, Ending::Closed);
    assert_eq!((&*reply.content, read), ("h\u{fffd}llo", Ok(())));
}

#[test]
fn unknown_events_blocks_and_fields_are_skipped() {
    let noise = concat!(
        "event: news\ndata: {\"type\":\"news\",\"message\":\"hi\",\"delta\":7,\"usage\":[]}\n\n",
        ": keep-alive\n\nretry: 5\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"citations_delta\",\"citation\":{\"cited_text\":\"x\"}}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"later_delta\",\"more\":[1]}}\n\n",
    );
    let body = HELLO_STREAM.replacen("event: ping\n", &format!("{noise}event: ping\n"), 1);
    assert_eq!(whole(&body), whole(HELLO));
}
