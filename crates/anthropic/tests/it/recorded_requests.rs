//! The requests of rig's cassettes, beside those that the client sends for the same conversations.

use crate::{bodies, client, kept, replies, result};
use agents_anthropic::{MessagesReply, PromptCache};
use agents_core::{
    Effects,
    model::{Content, History, Media, Message, Model, Request},
    tool::{FnTool, ToolSet, ToolSpec},
};
use agents_http::{
    Decoder, Ending,
    testing::{
        Answer,
        fixtures::{Recorded, read},
    },
};
use agents_needs::Need;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use std::{collections::BTreeMap, convert::Infallible};

/// Returns the messages of a recorded request, or the reason why we have no word for one of them.
fn conversation(request: &Value) -> Result<Vec<Message>, &'static str> {
    let mut messages = Vec::new();
    for block in request["system"].as_array().into_iter().flatten() {
        let content = block["text"].as_str().unwrap().to_owned();
        messages.push(Message::System { content });
    }
    for message in request["messages"].as_array().unwrap() {
        if message["role"] == "system" {
            return Err("a system message in the middle");
        }
        if message["role"] == "assistant" {
            messages.push(said(message));
            continue;
        }
        for block in message["content"].as_array().unwrap() {
            messages.push(match block["type"].as_str().unwrap() {
                "text" => Message::User {
                    content: block["text"].as_str().unwrap().into(),
                },
                "tool_result" => {
                    let id = block["tool_use_id"].as_str().unwrap();
                    result(id, "tool", block["content"][0]["text"].as_str().unwrap())
                }
                _ => Message::User {
                    content: Content::default().with(media(block)?),
                },
            });
        }
    }
    Ok(messages)
}

/// Returns the message of a run in which the model had replied with these blocks.
fn said(message: &Value) -> Message {
    let body = json!({ "content": message["content"], "stop_reason": "end_turn" }).to_string();
    let mut decoder = Decoder::new(MessagesReply::default());
    decoder.on(body.as_bytes(), None).unwrap();
    decoder.end(Ending::Closed, None).unwrap();
    kept(&decoder.into_reply())
}

fn media(block: &Value) -> Result<Media, &'static str> {
    let source = &block["source"];
    let kind = source["media_type"].as_str().unwrap_or("application/pdf");
    let data = source["data"].as_str().unwrap_or_default();
    let media = match source["type"].as_str() {
        Some("base64") => Media::bytes(kind, &STANDARD.decode(data).unwrap()).unwrap(),
        Some("text") => Media::bytes(kind, data.as_bytes()).unwrap(),
        Some("url") => Media::url(kind, source["url"].as_str().unwrap()),
        _ => return Err("a file by its id"),
    };
    Ok(match block["title"].as_str() {
        Some(name) => media.named(name),
        None => media,
    })
}

fn tools(request: &Value) -> ToolSet {
    let tools = request["tools"].as_array().into_iter().flatten();
    tools
        .filter(|tool| tool.get("type").is_none())
        .fold(ToolSet::new(), |set, tool| {
            let text = |key: &str| tool[key].as_str().unwrap().to_owned();
            let spec = ToolSpec::new(
                text("name"),
                text("description"),
                Effects::Reads,
                tool["input_schema"].clone(),
            );
            set.with(FnTool::with_spec(spec, |_, _| async {
                Ok::<_, Infallible>(())
            }))
        })
}

/// Returns what the two requests must have in common. Each difference that is meant is counted.
fn meaning(request: &Value, differences: &mut BTreeMap<&'static str, usize>) -> Value {
    let mut request = request.clone();
    let fields = request.as_object_mut().unwrap();
    fields.retain(|key, _| matches!(&**key, "system" | "messages" | "tools" | "model"));
    if let Some(tools) = fields.get_mut("tools").and_then(Value::as_array_mut) {
        tools.retain(|tool| tool.get("type").is_none());
    }
    if fields.get("tools").is_some_and(|tools| tools == &json!([])) {
        fields.remove("tools");
    }
    let messages = request["messages"].as_array_mut().unwrap();
    let count = messages.len();
    messages.dedup_by(|next, held| {
        let is_same = next["role"] == held["role"];
        if is_same {
            let blocks = next["content"].as_array().unwrap().clone();
            held["content"].as_array_mut().unwrap().extend(blocks);
        }
        is_same
    });
    if messages.len() < count {
        *differences
            .entry("messages of one role are joined")
            .or_default() += 1;
    }
    strip(&mut request, differences);
    request
}

fn strip(value: &mut Value, differences: &mut BTreeMap<&'static str, usize>) {
    match value {
        Value::Object(fields) => {
            for (key, why) in [
                ("cache_control", "marks for the cache are in other places"),
                ("strict", "no tool asks for strict arguments"),
                ("citations", "citations are kept in replies of ours alone"),
            ] {
                if fields.remove(key).is_some() {
                    *differences.entry(why).or_default() += 1;
                }
            }
            // The schema of a tool is compared as it is.
            let inner = fields.iter_mut().filter(|(key, _)| *key != "input_schema");
            inner.for_each(|(_, value)| strip(value, differences));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| strip(item, differences)),
        _ => {}
    }
}

#[tokio::test]
async fn recorded_requests() {
    let is_messages =
        |recorded: &Recorded| recorded.path.ends_with("/v1/messages") && recorded.status == 200;
    let Some(all) = read(is_messages) else {
        return Need::Fixtures.missing("AGENTS_FIXTURES names no folder");
    };
    let server = replies(Answer::json(200, crate::HELLO)).await;
    let (mut same, mut differences) = (0, BTreeMap::new());
    for recorded in &all {
        let request: Value = serde_json::from_str(&recorded.request).unwrap();
        let messages = match conversation(&request) {
            Ok(messages) => messages,
            Err(why) => {
                *differences.entry(why).or_default() += 1;
                continue;
            }
        };
        let history = History::from(messages);
        let tools = tools(&request);
        let model = agents_anthropic::anthropic(request["model"].as_str().unwrap())
            .base_url(client(&server).address())
            .prompt_cache(PromptCache::Off);
        model
            .chat(Request::new(&history).with_tools(&tools))
            .await
            .unwrap();
        let ours = bodies(&server).pop().unwrap();
        let theirs = meaning(&request, &mut differences);
        assert_eq!(
            meaning(&ours, &mut BTreeMap::new()),
            theirs,
            "{}",
            recorded.file
        );
        same += 1;
    }
    assert!(same > 0, "the folder has no requests of the Messages API");
    eprintln!("{same} requests are the same, but for: {differences:?}");
}
