//! The decoder alone: every split of a body gives the same reply, and every cut is an error.

use crate::{HELLO, HELLO_STREAM, call};
use agents_core::model::{FinishReason, ModelErrorKind, Reply};
use agents_gemini::ContentReply;
use agents_http::{Decoder, Ending, Framing, Problem};

fn decode(body: &[u8], chunk: usize, ending: Ending) -> (Reply, Result<(), Problem>) {
    let mut decoder = Decoder::new(ContentReply::default());
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

fn document(parts: &str, reason: &str) -> String {
    format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}]}},"finishReason":"{reason}"}}]}}"#)
}

/// Returns a stream with one part an event, and an end.
pub(crate) fn stream(parts: &[&str]) -> String {
    let event =
        |part| format!("data: {{\"candidates\":[{{\"content\":{{\"parts\":[{part}]}}}}]}}\n\n");
    let events: String = parts.iter().map(event).collect();
    events + "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n"
}

/// Parts with thoughts, a text and two calls.
pub(crate) const TWO_CALLS: [&str; 7] = [
    r#"{"text":"h…","thought":true}"#,
    r#"{"text":"m","thought":true}"#,
    r#"{"text":"Look"}"#,
    r#"{"text":"íng"}"#,
    r#"{"functionCall":{"name":"read_file","args":{"path": "é"}},"thoughtSignature":"c2ln"}"#,
    r#"{"functionCall":{"name":"now"}}"#,
    r#"{"text":"","thoughtSignature":"ZW5k"}"#,
];

/// A call whose arguments arrive value by value, and another one.
const PIECEMEAL: [&str; 6] = [
    r#"{"functionCall":{"name":"order","willContinue":true},"thoughtSignature":"c2ln"}"#,
    r#"{"functionCall":{"partialArgs":[{"jsonPath":"$.items[0].name","stringValue":"Te","willContinue":true}],"willContinue":true}}"#,
    r#"{"functionCall":{"partialArgs":[{"jsonPath":"$.items[0].name","stringValue":"a"}],"willContinue":true}}"#,
    r#"{"functionCall":{"partialArgs":[{"jsonPath":"$.count","numberValue":2},{"jsonPath":"$.hot","boolValue":true}],"willContinue":true}}"#,
    r#"{"functionCall":{}}"#,
    r#"{"functionCall":{"name":"now","args":{}}}"#,
];

#[test]
fn a_part_may_have_a_text_and_a_call() {
    let call_of = r#""functionCall":{"name":"now","args":{}}"#;
    for (fields, content, thinking) in [
        (r#""text":"Let me see.","#, "Let me see.", None),
        (r#""text":"hm","thought":true,"#, "", Some("hm")),
        (
            r#""text":"Let me see.","thoughtSignature":"c2ln","#,
            "Let me see.",
            Some(""),
        ),
        (r#""text":"","#, "", None),
    ] {
        let part = format!("{{{fields}{call_of}}}");
        for reply in [whole(&stream(&[&part])), whole(&document(&part, "STOP"))] {
            assert_eq!(reply.content, content, "{part}");
            assert_eq!(reply.calls, [call("", "now", "{}")], "{part}");
            assert_eq!(reply.thinking.as_deref(), thinking, "{part}");
        }
    }
}

#[test]
fn calls_and_reasons_in_other_shapes() {
    for part in [
        r#"{"functionCall":{"name":"read_file","args":"{\"path\":\"x\"}"}}"#,
        r#"{"function_call":{"name":"read_file","args":{"path":"x"}}}"#,
    ] {
        let body = format!(
            r#"data: {{"candidates":[{{"content":{{"parts":[{part}]}},"finish_reason":"STOP"}}],"usage_metadata":{{"promptTokenCount":3}}}}"#
        );
        let reply = whole(&format!("{body}\n\n"));
        assert_eq!(
            reply.calls,
            [call("", "read_file", r#"{"path":"x"}"#)],
            "{part}"
        );
        assert_eq!(reply.usage.input_tokens, 3);
    }
    // What is no object is for the reader of arguments.
    let reply = whole(&stream(&[
        r#"{"functionCall":{"name":"now","args":"noon"}}"#,
    ]));
    assert_eq!(reply.calls, [call("", "now", "noon")]);
}

#[test]
fn errors_in_other_clothes() {
    let begun = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hel\"}]}}]}\n\n";
    let end = "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n";
    for (frame, kind) in [
        (
            "event: error\ndata: {\"message\":\"gone\"}",
            ModelErrorKind::Interrupted,
        ),
        (
            "error: {\"code\":503,\"message\":\"gone\"}",
            ModelErrorKind::Overloaded,
        ),
        ("data: {\"detail\":\"gone\"}", ModelErrorKind::Interrupted),
        (
            "data: {\"code\":500,\"message\":\"gone\",\"status\":\"INTERNAL\"}",
            ModelErrorKind::Interrupted,
        ),
    ] {
        let message = "gone".to_owned();
        let expect = Problem::Reported { kind, message };
        assert_eq!(
            problem(&format!("{begun}{frame}\n\n{end}")),
            expect,
            "{frame}"
        );
    }
    assert_eq!(problem(begun), Problem::Unfinished);
}

#[test]
fn half_a_character_is_no_reason_to_lose_a_reply() {
    let reply = whole(&stream(&[r#"{"text":"\ud83d"}"#, r#"{"text":"\ude00"}"#]));
    assert_eq!(reply.content, "😀");
    assert_eq!(
        whole(&stream(&[r#"{"text":"a\ude00"}"#])).content,
        "a\u{fffd}"
    );
    assert_eq!(
        whole(&document(r#"{"text":"a\ud83d"}"#, "STOP")).content,
        "a"
    );
}

#[test]
fn a_reply_is_the_same_however_its_bytes_are_split() {
    for body in [
        HELLO,
        HELLO_STREAM,
        &stream(&TWO_CALLS),
        &stream(&PIECEMEAL),
    ] {
        let expect = whole(body);
        for chunk in 1..body.len() {
            let (reply, read) = decode(body.as_bytes(), chunk, Ending::Closed);
            assert_eq!((&reply, read), (&expect, Ok(())), "{chunk} bytes of {body}");
        }
    }
}

#[test]
fn every_cut_is_an_error_and_leaves_out_calls_that_have_not_ended() {
    for body in [
        HELLO,
        HELLO_STREAM,
        &stream(&TWO_CALLS),
        &stream(&PIECEMEAL),
    ] {
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
fn a_document_and_a_stream_give_the_same_reply() {
    let reply = whole(HELLO);
    assert_eq!(reply, whole(HELLO_STREAM));
    assert_eq!(
        (&*reply.content, &reply.finish),
        ("hello", &FinishReason::Stop)
    );
    // Thoughts are written, and the input includes what came from the cache.
    let usage = reply.usage;
    assert_eq!(
        (usage.input_tokens, usage.cached_tokens, usage.output_tokens),
        (10, 4, 5)
    );
    // Without `alt=sse`, a stream is a list.
    let events = HELLO_STREAM
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let list = format!("[{}]", events.collect::<Vec<_>>().join(",\n"));
    assert_eq!(whole(&list), reply);
    let (_, read) = decode(&list.as_bytes()[..list.len() - 2], 5, Ending::Closed);
    assert_eq!(read, Err(Problem::Unfinished));
    let reply = whole(&stream(&TWO_CALLS));
    assert_eq!(whole(&document(&TWO_CALLS.join(","), "STOP")), reply);
}

#[test]
fn calls_keep_the_arguments_that_the_model_wrote() {
    let reply = whole(&stream(&TWO_CALLS));
    assert_eq!(
        reply.calls,
        [
            call("", "read_file", "{\"path\": \"é\"}"),
            call("", "now", "{}")
        ]
    );
    assert_eq!(
        (reply.thinking.as_deref(), &*reply.content),
        (Some("h…m"), "Lookíng")
    );
    assert_eq!(reply.finish, FinishReason::ToolCalls);
    let parts = r#"{"functionCall":{"id":"a","name":"pay","args":{"cents": 12345678901234567890.10}}},
        {"functionCall":{"id":"a","name":"now","args":null}}"#;
    let expect = [
        call("a", "pay", r#"{"cents": 12345678901234567890.10}"#),
        call("a", "now", "{}"),
    ];
    assert_eq!(whole(&document(parts, "STOP")).calls, expect);
}

#[test]
fn arguments_that_arrive_value_by_value() {
    let expect = [
        call(
            "",
            "order",
            r#"{"count":2,"hot":true,"items":[{"name":"Tea"}]}"#,
        ),
        call("", "now", "{}"),
    ];
    assert_eq!(whole(&stream(&PIECEMEAL)).calls, expect);
    // The event that ends a call may be missing at the end, and before the next call.
    let unended = [PIECEMEAL[0], PIECEMEAL[3]];
    let order = call("", "order", r#"{"count":2,"hot":true}"#);
    assert_eq!(whole(&stream(&unended)).calls, std::slice::from_ref(&order));
    assert_eq!(
        whole(&stream(&[unended[0], unended[1], PIECEMEAL[5]])).calls,
        [order, call("", "now", "{}")]
    );
    let nowhere = PIECEMEAL[3].replace("$.count", "count");
    let problem = problem(&stream(&[PIECEMEAL[0], &nowhere])).to_string();
    assert!(
        problem.contains("an argument has a path that leads nowhere"),
        "{problem}"
    );
}

#[test]
fn reasons_to_stop() {
    let filtered = |reason: &str| (FinishReason::Filter, Some(reason.to_owned()));
    for (reason, expect) in [
        ("STOP", (FinishReason::Stop, None)),
        ("MAX_TOKENS", (FinishReason::Length, None)),
        ("SAFETY", filtered("SAFETY")),
        ("RECITATION", filtered("RECITATION")),
        ("PROHIBITED_CONTENT", filtered("PROHIBITED_CONTENT")),
        ("LATER", (FinishReason::Other("LATER".into()), None)),
    ] {
        let reply = whole(&document(r#"{"text":"hi"}"#, reason));
        assert_eq!((reply.finish, reply.refusal), expect);
        // A reply without content is one too.
        let bare = format!(r#"{{"candidates":[{{"finishReason":"{reason}"}}]}}"#);
        assert_eq!(whole(&bare).finish, expect.0);
    }
}

#[test]
fn a_prompt_that_was_blocked() {
    let body =
        r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":7}}"#;
    for body in [body.to_owned(), format!("data: {body}\n\n")] {
        let reply = whole(&body);
        assert_eq!(reply.finish, FinishReason::Filter);
        assert_eq!(
            reply.refusal.as_deref(),
            Some("the prompt was blocked (SAFETY)")
        );
        assert_eq!(reply.usage.input_tokens, 7);
    }
}

#[test]
fn a_call_that_the_server_could_not_read_is_asked_for_again() {
    let body = r#"{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: now("}]}"#;
    let expect = Problem::Reported {
        kind: ModelErrorKind::Interrupted,
        message: "the model's reply cannot be read (MALFORMED_FUNCTION_CALL) Malformed function call: now(".into(),
    };
    assert_eq!(problem(body), expect);
    assert_eq!(problem(&format!("data: {body}\n\n")), expect);
}

#[test]
fn events_may_come_line_by_line() {
    let lines: String = HELLO_STREAM
        .lines()
        .filter_map(|line| Some(format!("{}\n", line.strip_prefix("data: ")?)))
        .collect();
    for chunk in 1..lines.len() {
        let mut decoder = Decoder::framed(ContentReply::default(), Framing::Lines);
        for piece in lines.as_bytes().chunks(chunk) {
            decoder.on(piece, None).unwrap();
        }
        decoder.end(Ending::Closed, None).unwrap();
        assert_eq!(decoder.into_reply(), whole(HELLO));
    }
}

#[test]
fn errors_within_a_reply() {
    for (status, kind) in [
        ("RESOURCE_EXHAUSTED", ModelErrorKind::Overloaded),
        ("UNAVAILABLE", ModelErrorKind::Overloaded),
        ("DEADLINE_EXCEEDED", ModelErrorKind::TimedOut),
        ("INTERNAL", ModelErrorKind::Interrupted),
        ("INVALID_ARGUMENT", ModelErrorKind::Refused),
    ] {
        let error =
            format!(r#"{{"error":{{"code":1,"message":"slow down","status":"{status}"}}}}"#);
        let expect = Problem::Reported {
            kind,
            message: "slow down".into(),
        };
        let begun = HELLO_STREAM.split_inclusive("\r\n\r\n").next().unwrap();
        for body in [
            format!("{begun}data: {error}\n\n"),
            error.clone(),
            format!("[{error}]"),
        ] {
            assert_eq!(problem(&body), expect);
        }
    }
}

#[test]
fn bodies_that_are_no_reply() {
    for (body, why) in [
        ("<html>Bad gateway</html>", "it has no reply"),
        ("{}", "it has no `candidates`"),
        ("[]", "it has no `candidates`"),
        ("{\"candidates\": 1}", "invalid type"),
        ("data: {\"candidates\": [}\n\n", "expected value"),
        (
            "data: {\"candidates\":[{\"content\":{\"parts\":[7]}}]}\n\n",
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
fn other_candidates_events_and_fields_are_skipped() {
    let noise = concat!(
        ": keep-alive\n\ndata: {\"news\":[1]}\n\n",
        "data: {\"candidates\":[{\"index\":1,\"content\":{\"parts\":[{\"text\":\"other\"}]}}]}\n\n",
        "data: {\"candidates\":[{\"groundingMetadata\":{\"x\":1}}]}\n\n",
    );
    assert_eq!(whole(&format!("{noise}{HELLO_STREAM}")), whole(HELLO));
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
