//! Recorded replies of many servers, which are no part of the project.
//!
//! `AGENTS_FIXTURES` names a folder with rig's `tests/cassettes` and with the `__fixtures__` of vercel/ai. Each reply is
//! decoded whole, byte by byte, and cut short; a simple reading of the same JSON says what has to come out.

use agents_http::{
    Problem,
    testing::fixtures::{Recorded, read},
};
use agents_needs::Need;
use agents_openai::ChatReply;
use serde_json::Value;

/// Returns the text, the number of calls and the input tokens of a reply, read in the simplest way.
fn expected(recorded: &Recorded) -> (String, usize, u64) {
    let (mut text, mut calls, mut input) = (String::new(), Vec::new(), 0);
    let whole: Option<Value> = serde_json::from_str(&recorded.body).ok();
    let events = recorded.body.lines().filter_map(|line| {
        let line = line.strip_prefix("data:").unwrap_or(line);
        serde_json::from_str::<Value>(line).ok()
    });
    for event in whole
        .clone()
        .into_iter()
        .chain(events.filter(|_| whole.is_none()))
    {
        for usage in [&event["usage"], &event["x_groq"]["usage"]] {
            input = usage["prompt_tokens"].as_u64().unwrap_or(input);
        }
        let choice = &event["choices"][0];
        if choice["index"].as_u64().unwrap_or_default() > 0 {
            continue;
        }
        let said = match whole.is_some() || choice.get("delta").is_none() {
            true => &choice["message"],
            false => &choice["delta"],
        };

        match &said["content"] {
            Value::String(piece) => text += piece,
            Value::Array(parts) => parts
                .iter()
                .for_each(|part| text += part["text"].as_str().unwrap_or_default()),
            _ => {}
        }
        for call in said["tool_calls"].as_array().into_iter().flatten() {
            let key = (
                call["index"].clone(),
                whole.is_some().then(|| call["id"].clone()),
            );
            if !calls.contains(&key) {
                calls.push(key);
            }
        }
    }
    (text, calls.len(), input)
}

#[test]
fn recorded_replies() {
    let is_chat = |recorded: &Recorded| match recorded.path.is_empty() {
        true => recorded.body.contains("\"chat.completion"),
        false => recorded.path.ends_with("/chat/completions"),
    };
    let Some(all) = read(is_chat) else {
        return Need::Fixtures.missing("AGENTS_FIXTURES names no folder");
    };
    let (mut replies, mut refusals, mut cuts) = (0, 0, 0);
    for recorded in &all {
        let at = &recorded.file;
        let body = &recorded.body;
        let (reply, read) = recorded.decode::<ChatReply>(usize::MAX, usize::MAX);
        if recorded.status != 200 {
            assert!(read.is_err(), "{at}: an error is no reply");
            refusals += 1;
            continue;
        }
        replies += 1;
        if let Err(problem) = read {
            // A server may report an error with the status 200.
            let is_reported = matches!(problem, Problem::Reported { .. });
            assert!(is_reported && body.contains("\"error\""), "{at}: {problem}");
            continue;
        }
        let (text, calls, input) = expected(recorded);
        let read = (&*reply.content, reply.calls.len(), reply.usage.input_tokens);
        assert_eq!(read, (&*text, calls, input), "{at}");
        assert_eq!(
            recorded.decode::<ChatReply>(1, usize::MAX),
            (reply.clone(), Ok(())),
            "{at}, byte by byte"
        );
        // All cuts of a short body, and a hundred of a long one.
        for stop in (0..body.len()).step_by(1 + body.len() / 100) {
            if !body.is_char_boundary(stop) || body[stop..].trim().is_empty() {
                continue;
            }
            let (part, read) = recorded.decode::<ChatReply>(usize::MAX, stop);
            assert_eq!(read, Err(Problem::Unfinished), "{at}, cut at {stop}");
            assert!(
                reply.content.starts_with(&part.content) && reply.calls.starts_with(&part.calls),
                "{at}"
            );
            cuts += 1;
        }
    }
    assert!(replies > 0, "the folder has no replies of Chat Completions");
    eprintln!("{replies} replies, {refusals} refusals, {cuts} cuts");
}
