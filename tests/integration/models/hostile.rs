//! Streams that misbehave, read by each decoder: nothing is invented, nothing is cut short and called whole.

use agents::{
    anthropic::MessagesReply,
    gemini::ContentReply,
    model::Reply,
    openai::{ChatReply, ResponsesReply},
};
use agents_http::{Decoder, Ending, Format, Framing, Problem};

/// A format: a stream of a text and a call, and an event that reports an error.
struct Case {
    name: &'static str,
    events: Vec<&'static str>,
    error: &'static str,
    decode: Decode,
}

/// Function that decodes a body, a number of bytes at a time.
type Decode = fn(&[u8], usize, Option<Framing>, Ending) -> (Reply, Result<(), Problem>);

fn decode<F: Format + Default>(
    body: &[u8],
    chunk: usize,
    framing: Option<Framing>,
    ending: Ending,
) -> (Reply, Result<(), Problem>) {
    let mut decoder = match framing {
        Some(framing) => Decoder::framed(F::default(), framing),
        None => Decoder::new(F::default()),
    };
    let read = body
        .chunks(chunk)
        .try_for_each(|piece| decoder.on(piece, None))
        .and_then(|()| decoder.end(ending, None));
    (decoder.into_reply(), read)
}

fn cases() -> [Case; 4] {
    [
        Case {
            name: "openai-chat",
            events: vec![
                r#"{"choices":[{"index":0,"delta":{"content":"Lookíng"}}]}"#,
                r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"find","arguments":"{\"q\":"}}]}}]}"#,
                r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}"#,
                r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
                r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#,
                "[DONE]",
            ],
            error: r#"{"error":{"message":"the machine burns","code":500}}"#,
            decode: decode::<ChatReply>,
        },
        Case {
            name: "openai-responses",
            events: vec![
                r#"{"type":"response.created","response":{"id":"r","status":"in_progress","output":[]}}"#,
                r#"{"type":"response.output_text.delta","delta":"Lookíng"}"#,
                r#"{"type":"response.output_item.done","item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Lookíng"}]}}"#,
                r#"{"type":"response.output_item.done","item":{"type":"function_call","call_id":"a","name":"find","arguments":"{\"q\":1}"}}"#,
                r#"{"type":"response.completed","response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":7,"output_tokens":3}}}"#,
            ],
            error: r#"{"type":"error","message":"the machine burns","code":"server_error"}"#,
            decode: decode::<ResponsesReply>,
        },
        Case {
            name: "anthropic",
            events: vec![
                r#"{"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Lookíng"}}"#,
                r#"{"type":"content_block_stop","index":0}"#,
                r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"find","input":{}}}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"q\":"}}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}"#,
                r#"{"type":"content_block_stop","index":1}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}}"#,
                r#"{"type":"message_stop"}"#,
            ],
            error: r#"{"type":"error","error":{"type":"api_error","message":"the machine burns"}}"#,
            decode: decode::<MessagesReply>,
        },
        Case {
            name: "gemini",
            events: vec![
                r#"{"candidates":[{"content":{"parts":[{"text":"Lookíng"}]}}]}"#,
                r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"find","args":{"q":1}}}]}}]}"#,
                r#"{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":3}}"#,
            ],
            error: r#"{"error":{"code":500,"message":"the machine burns","status":"INTERNAL"}}"#,
            decode: decode::<ContentReply>,
        },
    ]
}

fn stream(events: &[&str], end: &str) -> String {
    let events = events
        .iter()
        .map(|event| format!("data: {event}{end}{end}"));
    events.collect()
}

impl Case {
    fn stream(&self) -> String {
        stream(&self.events, "\n")
    }

    fn read(&self, body: &str) -> (Reply, Result<(), Problem>) {
        (self.decode)(body.as_bytes(), usize::MAX, None, Ending::Closed)
    }

    /// Checks that the body gives the same reply as the plain stream, whole and byte by byte.
    fn is_the_same(&self, body: &str, framing: Option<Framing>) {
        let (expect, read) = self.read(&self.stream());
        assert_eq!(read, Ok(()), "{}", self.name);
        assert_eq!(expect.content, "Lookíng", "{}", self.name);
        assert_eq!(expect.calls.len(), 1, "{}", self.name);
        assert_eq!(
            (expect.usage.input_tokens, expect.usage.output_tokens),
            (7, 3),
            "{}",
            self.name
        );
        for chunk in [usize::MAX, 1, 7] {
            let (reply, read) = (self.decode)(body.as_bytes(), chunk, framing, Ending::Closed);
            assert_eq!(read, Ok(()), "{}: {body}", self.name);
            assert_eq!(reply, expect, "{}: {body}", self.name);
        }
    }
}

#[test]
fn line_ends_comments_and_unknown_events_change_nothing() {
    for case in cases() {
        let plain = case.stream();
        case.is_the_same(&stream(&case.events, "\r\n"), None);
        case.is_the_same(&stream(&case.events, "\r"), None);
        case.is_the_same(&format!("\u{feff}{plain}"), None);
        case.is_the_same(&format!(": a comment\n\n{plain}: bye\n\n"), None);
        case.is_the_same(&plain.replace("\n\n", "\n\n: still here\n\n"), None);
        case.is_the_same(&plain.replace("data: ", "id: 7\nretry: 10\ndata:"), None);
        let unknown = "event: new\ndata: {\"type\":\"new\",\"new\":1}\n\n";
        case.is_the_same(&plain.replacen("\n\n", &format!("\n\n{unknown}"), 1), None);
        // A JSON event a line, without the frames of server-sent events.
        let lines = case.events.join("\n");
        case.is_the_same(&lines, Some(Framing::Lines));
        case.is_the_same(
            &format!("{}\r\n", case.events.join("\r\n\r\n")),
            Some(Framing::Lines),
        );
    }
}

#[test]
fn a_cut_at_each_byte_is_an_error_and_invents_no_call() {
    for case in cases() {
        let body = case.stream();
        let (expect, _) = case.read(&body);
        for stop in 0..body.len() {
            let part = &body.as_bytes()[..stop];
            let (reply, read) = (case.decode)(part, usize::MAX, None, Ending::BrokeOff);
            match read {
                // What follows the last event of the format is no part of the reply.
                Ok(()) => assert_eq!(reply, expect, "{} {stop}", case.name),
                Err(problem) => assert_eq!(problem, Problem::Unfinished, "{} {stop}", case.name),
            }
            let is_known = |call| expect.calls.contains(call);
            assert!(reply.calls.iter().all(is_known), "{} {stop}", case.name);
            assert!(
                expect.content.starts_with(&reply.content),
                "{} {stop}",
                case.name
            );
        }
    }
}

#[test]
fn an_error_in_the_middle_ends_the_reply() {
    for case in cases() {
        for at in 0..case.events.len() - 1 {
            let mut events = case.events.clone();
            events.insert(at, case.error);
            let (_, read) = case.read(&stream(&events, "\n"));
            let Err(Problem::Reported { message, .. }) = read else {
                panic!("{} {at}: {read:?}", case.name)
            };
            assert!(
                message.contains("the machine burns"),
                "{}: {message}",
                case.name
            );
        }
    }
}

#[test]
fn events_that_are_no_json_are_an_error() {
    for case in cases() {
        for garbage in ["{\"choices\":", "<html>", "{]", "\u{0}", "null null"] {
            let mut events = case.events.clone();
            events.insert(1, garbage);
            let (_, read) = case.read(&stream(&events, "\n"));
            assert!(
                matches!(read, Err(Problem::Malformed { .. })),
                "{} {garbage}: {read:?}",
                case.name
            );
        }
    }
}

#[test]
fn bytes_that_are_no_text_do_no_harm() {
    for case in cases() {
        let body = case.stream();
        let at = body.find("Look").unwrap() + 2;
        let mut bytes = body.into_bytes();
        bytes[at] = 0xff;
        let (reply, read) = (case.decode)(&bytes, 1, None, Ending::Closed);
        match read {
            // Responses repeats the text whole.
            Ok(()) => assert!(
                ["Lo\u{fffd}kíng", "Lookíng"].contains(&&*reply.content),
                "{}: {}",
                case.name,
                reply.content
            ),
            Err(problem) => assert!(
                matches!(problem, Problem::Malformed { .. }),
                "{}: {problem}",
                case.name
            ),
        }
    }
}

#[test]
fn an_empty_body_and_a_page_of_a_proxy_are_no_reply() {
    for case in cases() {
        for body in [
            "",
            "\n\n",
            ": only a comment\n\n",
            "<html>gone</html>",
            "{}",
            "[]",
            "data: \n\n",
        ] {
            let (reply, read) = case.read(body);
            assert!(read.is_err(), "{} {body:?}: {reply:?}", case.name);
            assert!(reply.calls.is_empty() && reply.content.is_empty());
        }
    }
}

#[test]
fn calls_of_chat_completions_are_kept_apart_whatever_their_ids() {
    let [chat, ..] = cases();
    let delta = |calls: &str| {
        format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{calls}]}}}}]}}"#)
    };
    let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;
    let read = |deltas: &[&str]| {
        let mut events: Vec<_> = deltas.iter().map(|calls| delta(calls)).collect();
        events.push(end.into());
        let events: Vec<_> = events.iter().map(String::as_str).collect();
        let (reply, read) = chat.read(&stream(&events, "\n"));
        assert_eq!(read, Ok(()));
        let calls = reply.calls.into_iter();
        calls
            .map(|call| (call.id, call.name, call.arguments))
            .collect::<Vec<_>>()
    };
    let call = |id: &str, name: &str, arguments: &str| {
        (id.to_owned(), name.to_owned(), arguments.to_owned())
    };
    // Interleaved.
    let calls = read(&[
        r#"{"index":0,"id":"a","function":{"name":"one","arguments":"{\"x\""}}"#,
        r#"{"index":1,"id":"b","function":{"name":"two","arguments":"{\"y\""}}"#,
        r#"{"index":0,"function":{"arguments":":1}"}}"#,
        r#"{"index":1,"function":{"arguments":":2}"}}"#,
    ]);
    assert_eq!(
        calls,
        [
            call("a", "one", r#"{"x":1}"#),
            call("b", "two", r#"{"y":2}"#)
        ]
    );
    // The same id twice, and none at all.
    let calls = read(&[
        r#"{"index":0,"id":"a","function":{"name":"one","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"two","arguments":"{}"}}"#,
    ]);
    assert_eq!(calls, [call("a", "one", "{}"), call("a", "two", "{}")]);
    let calls = read(&[
        r#"{"index":0,"function":{"name":"one","arguments":"{}"}},{"index":1,"function":{"name":"two","arguments":"{}"}}"#,
    ]);
    assert_eq!(calls, [call("", "one", "{}"), call("", "two", "{}")]);
    // Arguments that stop in the middle are kept as they are: the run tells the model.
    let calls =
        read(&[r#"{"index":0,"id":"a","function":{"name":"one","arguments":"{\"x\": [1, "}}"#]);
    assert_eq!(calls, [call("a", "one", r#"{"x": [1, "#)]);
}
