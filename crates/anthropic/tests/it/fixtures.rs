//! Recorded replies of the server, which are no part of the project.
//!
//! `AGENTS_FIXTURES` names a folder with rig's `tests/cassettes` and with the `__fixtures__` of vercel/ai. Each reply is
//! decoded whole, byte by byte, and cut short; a simple reading of the same JSON says what has to come out.

use agents_anthropic::MessagesReply;
use agents_core::model::Reply;
use agents_http::{
    Problem,
    testing::fixtures::{Recorded, read},
};
use agents_needs::Need;
use serde_json::Value;

/// Contents that a recorded reply has to have.
#[derive(Debug, Default, PartialEq)]
struct Expected {
    text: String,
    thinking: String,
    /// Names and arguments.
    calls: Vec<(String, Value)>,
    output: u64,
}

/// Reads a recorded reply in the simplest way.
fn expected(recorded: &Recorded) -> Expected {
    let mut expected = Expected::default();
    let mut read_block = |block: &Value, deltas: &[Value], output: Option<u64>| {
        let said = |key: &str| {
            let deltas = deltas.iter().filter_map(|delta| delta[key].as_str());
            block[key]
                .as_str()
                .into_iter()
                .chain(deltas)
                .collect::<String>()
        };
        match block["type"].as_str() {
            Some("text") => expected.text += &said("text"),
            Some("thinking") => expected.thinking += &said("thinking"),
            Some("tool_use") => {
                let pieces = said("partial_json");
                let input =
                    serde_json::from_str(&pieces).unwrap_or_else(|_| block["input"].clone());
                let name = block["name"].as_str().unwrap().to_owned();
                expected.calls.push((name, input));
            }
            _ => {}
        }
        expected.output = output.unwrap_or(expected.output);
    };
    if let Ok(whole) = serde_json::from_str::<Value>(&recorded.body) {
        for block in whole["content"].as_array().into_iter().flatten() {
            read_block(block, &[], None);
        }
        read_block(&Value::Null, &[], whole["usage"]["output_tokens"].as_u64());
        return expected;
    }
    let events: Vec<Value> = recorded
        .body
        .lines()
        .filter_map(|line| serde_json::from_str(line.strip_prefix("data:").unwrap_or(line)).ok())
        .collect();
    // Some recordings go on with the next message.
    let end = events
        .iter()
        .position(|event| event["type"] == "message_stop");
    let events = &events[..end.unwrap_or(events.len())];
    // A message that begins anew replaces the one before.
    let start = events
        .iter()
        .rposition(|event| event["type"] == "message_start");
    let events = &events[start.unwrap_or_default()..];
    for event in events {
        if event["type"] == "content_block_start" {
            let deltas: Vec<_> = events
                .iter()
                .filter(|delta| {
                    delta["type"] == "content_block_delta" && delta["index"] == event["index"]
                })
                .map(|delta| delta["delta"].clone())
                .collect();
            read_block(&event["content_block"], &deltas, None);
        }
        read_block(&Value::Null, &[], event["usage"]["output_tokens"].as_u64());
    }
    expected
}

fn decoded(reply: &Reply, recorded: &Recorded) -> Expected {
    // Arguments that a limit cut off are no JSON.
    let arguments = |text: &str| serde_json::from_str(text).unwrap_or_default();
    let calls = reply.calls.iter();
    let summaries = recorded.body.contains("\"compaction\"");
    Expected {
        text: reply.content.clone(),
        thinking: reply.thinking.as_deref().unwrap_or_default().to_owned(),
        calls: calls
            .map(|call| (call.name.clone(), arguments(&call.arguments)))
            .collect(),
        output: match summaries {
            true => expected(recorded).output,
            false => reply.usage.output_tokens,
        },
    }
}

#[test]
fn recorded_replies() {
    let is_messages = |recorded: &Recorded| match recorded.path.is_empty() {
        true => {
            let body = &recorded.body;
            recorded.file.contains("anthropic")
                && (body.contains("message_start") || body.contains("\"stop_reason\""))
        }
        false => recorded.path.ends_with("/v1/messages"),
    };
    let Some(all) = read(is_messages) else {
        return Need::Fixtures.missing("AGENTS_FIXTURES names no folder");
    };
    let (mut replies, mut refusals, mut cuts) = (0, 0, 0);
    for recorded in &all {
        let at = &recorded.file;
        let body = &recorded.body;
        let (reply, read) = recorded.decode::<MessagesReply>(usize::MAX, usize::MAX);
        if recorded.status != 200 {
            assert!(read.is_err(), "{at}: an error is no reply");
            refusals += 1;
            continue;
        }
        replies += 1;
        assert_eq!(read, Ok(()), "{at}");
        assert_eq!(decoded(&reply, recorded), expected(recorded), "{at}");
        let bytewise = recorded.decode::<MessagesReply>(1, usize::MAX);
        assert_eq!(bytewise, (reply.clone(), Ok(())), "{at}, byte by byte");
        // A message that begins anew is not the beginning of the whole one.
        let is_spliced = body.matches("\"message_start\"").count() > 2;
        // All cuts of a short body, and a thousand of a long one.
        for stop in (0..body.len()).step_by(1 + body.len() / 1_000) {
            if body.as_bytes()[stop..].trim_ascii().is_empty() {
                continue;
            }
            let (part, read) = recorded.decode::<MessagesReply>(usize::MAX, stop);
            // A gateway may send something behind the end of the message.
            let is_behind = String::from_utf8_lossy(&body.as_bytes()[..stop])
                .contains("\"message_stop\"")
                && part == reply;
            assert!(
                is_behind || read == Err(Problem::Unfinished),
                "{at}, cut at {stop}"
            );
            let is_start =
                reply.content.starts_with(&part.content) && reply.calls.starts_with(&part.calls);
            assert!(is_start || is_spliced, "{at}, cut at {stop}");
            cuts += 1;
        }
    }
    assert!(replies > 0, "the folder has no replies of the Messages API");
    eprintln!("{replies} replies, {refusals} refusals, {cuts} cuts");
}
