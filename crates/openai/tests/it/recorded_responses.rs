//! Recorded replies of Responses, which are no part of the project: each is decoded whole, byte by byte, and cut short.
//! `AGENTS_FIXTURES` is as for the replies of Chat Completions.

use agents_http::{
    Problem,
    testing::fixtures::{Recorded, read},
};
use agents_needs::Need;
use agents_openai::ResponsesReply;
use serde_json::Value;

/// Returns the text, the number of calls and the input tokens of a reply, read in the simplest way: from the items that
/// are done, or else from the last response.
fn expected(recorded: &Recorded) -> (String, usize, u64) {
    let whole: Option<Value> = serde_json::from_str(&recorded.body).ok();
    let events = recorded.body.lines().filter_map(|line| {
        let line = line.strip_prefix("data:").unwrap_or(line);
        serde_json::from_str::<Value>(line).ok()
    });
    let (mut items, mut last) = (Vec::new(), whole.clone().unwrap_or_default());
    for event in events.filter(|_| whole.is_none()) {
        match event["type"].as_str().unwrap_or_default() {
            "response.output_item.done" => items.push(event["item"].clone()),
            "response.completed" | "response.incomplete" => {
                last = event["response"].clone();
                // Some files have the replies of several requests, one behind the other.
                break;
            }
            _ => {}
        }
    }
    if items.is_empty() {
        items.extend(last["output"].as_array().into_iter().flatten().cloned());
    }
    let (mut text, mut calls) = (String::new(), 0);
    for item in &items {
        calls += usize::from(item["type"] == "function_call");
        let parts = item["content"].as_array().into_iter().flatten();
        let parts = parts.filter(|part| item["type"] == "message" && part["type"] == "output_text");
        parts.for_each(|part| text += part["text"].as_str().unwrap_or_default());
    }
    let input = last["usage"]["input_tokens"].as_u64().unwrap_or_default();
    (text, calls, input)
}

#[test]
fn recorded_replies() {
    let is_responses = |recorded: &Recorded| match recorded.path.is_empty() {
        true => {
            let body = &recorded.body;
            body.contains("\"response.created\"") || body.contains("\"object\":\"response\"")
        }
        false => recorded.path.ends_with("/responses"),
    };
    let Some(all) = read(is_responses) else {
        return Need::Fixtures.missing("AGENTS_FIXTURES names no folder");
    };
    let (mut replies, mut refusals, mut cuts) = (0, 0, 0);
    for recorded in &all {
        let (at, body) = (&recorded.file, &recorded.body);
        let mut lines = body.lines().filter(|line| !line.trim().is_empty());
        let is_json = |line: &str| serde_json::from_str::<Value>(line).is_ok();
        if recorded.is_lines && !lines.all(is_json) {
            eprintln!("{at} has events over several lines");
            continue;
        }
        let (reply, read) = recorded.decode::<ResponsesReply>(usize::MAX, usize::MAX);
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
        let split = recorded.decode::<ResponsesReply>(1, usize::MAX);
        assert_eq!(split, (reply.clone(), Ok(())), "{at}, byte by byte");
        if body.matches("\"type\":\"response.created\"").count() > 1 {
            continue;
        }
        // All cuts of a short body, and a hundred of a long one.
        for stop in (0..body.len()).step_by(1 + body.len() / 100) {
            if !body.is_char_boundary(stop) || body[stop..].trim().is_empty() {
                continue;
            }
            let (part, read) = recorded.decode::<ResponsesReply>(usize::MAX, stop);
            assert_eq!(read, Err(Problem::Unfinished), "{at}, cut at {stop}");
            assert!(reply.calls.starts_with(&part.calls), "{at}, cut at {stop}");
            cuts += 1;
        }
    }
    assert!(replies > 0, "the folder has no replies of Responses");
    eprintln!("{replies} replies, {refusals} refusals, {cuts} cuts");
}
