//! Recorded replies of the server, which are no part of the project.
//!
//! `AGENTS_FIXTURES` names a folder with rig's `tests/cassettes` and with the `__fixtures__` of vercel/ai. Each reply is
//! decoded whole, byte by byte, and cut short; a simple reading of the same JSON says what has to come out.

use agents_core::model::Reply;
use agents_gemini::ContentReply;
use agents_http::{
    Problem,
    testing::fixtures::{Recorded, read},
};
use agents_needs::Need;
use serde_json::{Value, json};

/// Contents that a recorded reply has to have.
#[derive(Debug, Default, PartialEq)]
struct Expected {
    text: String,
    thinking: String,
    /// Names and arguments.
    calls: Vec<(String, Value)>,
    output: u64,
}

/// Reads a recorded reply in the simplest way. Arguments that come value by value are left out.
fn expected(recorded: &Recorded) -> Expected {
    let events: Vec<Value> = match serde_json::from_str(&recorded.body) {
        Ok(Value::Array(events)) => events,
        Ok(whole) => vec![whole],
        Err(_) => recorded
            .body
            .lines()
            .filter_map(|line| {
                serde_json::from_str(line.strip_prefix("data:").unwrap_or(line)).ok()
            })
            .collect(),
    };
    let mut expected = Expected::default();
    for event in events {
        let parts = &event["candidates"][0]["content"]["parts"];
        for part in parts.as_array().into_iter().flatten() {
            let text = part["text"].as_str().unwrap_or_default();
            match part["thought"] == true {
                true => expected.thinking += text,
                false => expected.text += text,
            }
            if let Some(name) = part["functionCall"]["name"].as_str() {
                let arguments = match &part["functionCall"]["args"] {
                    Value::Null => json!({}),
                    arguments => arguments.clone(),
                };
                expected.calls.push((name.to_owned(), arguments));
            }
        }
        let usage = &event["usageMetadata"];
        if usage["promptTokenCount"].is_number() {
            let count = |key: &str| usage[key].as_u64().unwrap_or_default();
            expected.output = count("candidatesTokenCount") + count("thoughtsTokenCount");
        }
    }
    expected
}

fn decoded(reply: &Reply, recorded: &Recorded) -> Expected {
    let is_piecemeal = recorded.body.contains("\"partialArgs\"");
    let calls = reply.calls.iter().map(|call| {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        match is_piecemeal {
            true => (call.name.clone(), json!({})),
            false => (call.name.clone(), arguments),
        }
    });
    Expected {
        text: reply.content.clone(),
        thinking: reply.thinking.as_deref().unwrap_or_default().to_owned(),
        calls: calls.collect(),
        output: reply.usage.output_tokens,
    }
}

#[test]
fn recorded_replies() {
    let is_content = |recorded: &Recorded| match recorded.path.is_empty() {
        true => recorded.body.contains("\"candidates\"") && recorded.file.contains("google"),
        false => recorded.path.contains("enerateContent"),
    };
    let Some(all) = read(is_content) else {
        return Need::Fixtures.missing("AGENTS_FIXTURES names no folder");
    };
    let (mut replies, mut refusals, mut cuts) = (0, 0, 0);
    for recorded in &all {
        let at = &recorded.file;
        let body = &recorded.body;
        let (reply, read) = recorded.decode::<ContentReply>(usize::MAX, usize::MAX);
        if recorded.status != 200 {
            assert!(read.is_err(), "{at}: an error is no reply");
            refusals += 1;
            continue;
        }
        replies += 1;
        assert_eq!(read, Ok(()), "{at}");
        assert_eq!(decoded(&reply, recorded), expected(recorded), "{at}");
        let bytewise = recorded.decode::<ContentReply>(1, usize::MAX);
        assert_eq!(bytewise, (reply.clone(), Ok(())), "{at}, byte by byte");
        // All cuts of a short body, and a thousand of a long one.
        for stop in (0..body.len()).step_by(1 + body.len() / 1_000) {
            if body.as_bytes()[stop..].trim_ascii().is_empty() {
                continue;
            }
            let (part, read) = recorded.decode::<ContentReply>(usize::MAX, stop);
            assert_eq!(read, Err(Problem::Unfinished), "{at}, cut at {stop}");
            let is_start =
                reply.content.starts_with(&part.content) && reply.calls.starts_with(&part.calls);
            assert!(is_start, "{at}, cut at {stop}");
            cuts += 1;
        }
    }
    assert!(replies > 0, "the folder has no replies of generateContent");
    eprintln!("{replies} replies, {refusals} refusals, {cuts} cuts");
}
