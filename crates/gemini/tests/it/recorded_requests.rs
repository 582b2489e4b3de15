//! The requests of rig's cassettes, beside those that the client sends for the same conversations.

use crate::{HELLO, bodies, kept, replies, result};
use agents_core::{
    Effects,
    model::{Content, History, Media, Message, Model, Request},
    tool::{FnTool, ToolSet, ToolSpec},
};
use agents_gemini::{ContentReply, gemini};
use agents_http::{
    Decoder, Ending,
    testing::{
        Answer,
        fixtures::{Recorded, read},
    },
};
use agents_needs::Need;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, convert::Infallible};

/// Returns the messages of a recorded request. The ids are those that a run would make.
fn conversation(request: &Value) -> Vec<Message> {
    let mut messages = Vec::new();
    for part in request["systemInstruction"]["parts"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let content = part["text"].as_str().unwrap().to_owned();
        messages.push(Message::System { content });
    }
    // Calls that have no result yet.
    let mut open = Vec::new();
    for content in request["contents"].as_array().unwrap() {
        if content["role"] == "model" {
            let message = said(content, messages.len());
            if let Message::Assistant { calls, .. } = &message {
                open.clone_from(calls);
            }
            messages.push(message);
            continue;
        }
        for part in content["parts"].as_array().unwrap() {
            let response = &part["functionResponse"];
            messages.push(match (part["text"].as_str(), response.is_object()) {
                (Some(text), _) => Message::User {
                    content: text.into(),
                },
                (None, true) => {
                    let name = response["name"].as_str().unwrap();
                    let text = match &response["response"]["result"] {
                        Value::String(text) => text.clone(),
                        other => other.to_string(),
                    };
                    let call = open.iter().position(|call| call.name == name).unwrap();
                    let mut message = result(&open.remove(call).id, name, &text);
                    if let Message::Tool { content, .. } = &mut message {
                        let parts = response["parts"].as_array().into_iter().flatten();
                        content.media = parts.map(media).collect();
                    }
                    message
                }
                (None, false) => {
                    let media = media(part);
                    Message::User {
                        content: Content::default().with(media),
                    }
                }
            });
        }
    }
    messages
}

fn media(part: &Value) -> Media {
    let text = |key: &str| part["inlineData"][key].as_str().unwrap().to_owned();
    Media::bytes(text("mimeType"), &STANDARD.decode(text("data")).unwrap()).unwrap()
}

/// Returns the message of a run in which the model had replied with these parts.
fn said(content: &Value, turn: usize) -> Message {
    let body =
        json!({ "candidates": [{ "content": bare(content), "finishReason": "STOP" }] }).to_string();
    let mut decoder = Decoder::new(ContentReply::default());
    decoder.on(body.as_bytes(), None).unwrap();
    decoder.end(Ending::Closed, None).unwrap();
    let mut reply = decoder.into_reply();
    for (number, call) in reply.calls.iter_mut().enumerate() {
        if call.id.is_empty() {
            call.id = format!("call_{turn}_{number}");
        }
    }
    kept(&reply)
}

fn tools(request: &Value) -> ToolSet {
    let tools = request["tools"].as_array().into_iter().flatten();
    let declared = tools.flat_map(|tool| {
        tool["functionDeclarations"]
            .as_array()
            .into_iter()
            .flatten()
    });
    declared.fold(ToolSet::new(), |set, tool| {
        let text = |key: &str| tool[key].as_str().unwrap().to_owned();
        let schema = match &tool["parameters"] {
            Value::Null => json!({ "type": "object" }),
            schema => schema.clone(),
        };
        let spec = ToolSpec::new(text("name"), text("description"), Effects::Reads, schema);
        set.with(FnTool::with_spec(spec, |_, _| async {
            Ok::<_, Infallible>(())
        }))
    })
}

/// Returns the value without `null` and `"thought": false`, which say nothing.
fn bare(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let says_nothing = |(key, value): &(&String, &Value)| {
                value.is_null() || (*key == "thought" && **value == false)
            };
            let fields = fields.iter().filter(|field| !says_nothing(field));
            fields
                .map(|(key, value)| (key.clone(), bare(value)))
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(items) => items.iter().map(bare).collect(),
        value => value.clone(),
    }
}

fn without_nullable(schema: &Value) -> Value {
    let bare = schema.to_string().replace("\"nullable\":true,", "");
    serde_json::from_str(&bare).unwrap()
}

/// Returns what the two requests must have in common, in our words. Each difference that is meant is counted.
fn meaning(request: &Value, differences: &mut BTreeMap<&'static str, usize>) -> Value {
    let request = bare(request);
    let mut count = |why| *differences.entry(why).or_default() += 1;
    let mut contents: Vec<(Value, Vec<Value>)> = Vec::new();
    for content in request["contents"].as_array().unwrap() {
        let mut parts = content["parts"].as_array().unwrap().clone();
        for part in &mut parts {
            if let Some(response) = part.pointer_mut("/functionResponse/response")
                && let Some(result) = response.as_object_mut().unwrap().remove("result")
            {
                count("a result is called `output`");
                *response = json!({ "output": result });
            }
            if let Some(Value::String(text)) = part.pointer_mut("/functionResponse/response/output")
                && let Ok(json) = serde_json::from_str::<Value>(text)
                && !json.is_string()
            {
                *part
                    .pointer_mut("/functionResponse/response/output")
                    .unwrap() = json;
            }
        }
        let is_plain_thought =
            |part: &Value| part["thought"] == true && part.get("thoughtSignature").is_none();
        if parts.iter().any(is_plain_thought) {
            count("thoughts without a signature stay here");
            parts.retain(|part| !is_plain_thought(part));
        }
        let in_order = parts.clone();
        // What is no result follows behind the results.
        let name = |part: &Value| {
            let name = part["functionResponse"]["name"].as_str();
            name.unwrap_or("~").to_owned()
        };
        parts.sort_by_key(name);
        if parts != in_order {
            count("results stand in the order in which the tools ended");
        }
        match contents.last_mut() {
            Some((role, held)) if *role == content["role"] => held.append(&mut parts),
            _ => contents.push((content["role"].clone(), parts)),
        }
    }
    let mut declared = Vec::new();
    for tool in request["tools"].as_array().into_iter().flatten() {
        for tool in tool["functionDeclarations"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let schema = match tool
                .get("parametersJsonSchema")
                .or_else(|| tool.get("parameters"))
            {
                Some(schema) if schema["properties"] == json!({}) => {
                    count("a tool without parameters has no schema");
                    Value::Null
                }
                Some(schema) => {
                    if schema.to_string().contains("\"nullable\"") {
                        count("`nullable` is no keyword of JSON Schema");
                    }
                    without_nullable(schema)
                }
                None => Value::Null,
            };
            declared.push(json!([tool["name"], tool["description"], schema]));
        }
    }
    if declared.iter().any(|tool| !tool[2].is_null()) {
        count("parameters are called `parametersJsonSchema`");
    }
    json!([contents, request["systemInstruction"]["parts"], declared])
}

#[tokio::test]
async fn recorded_requests() {
    let is_content =
        |recorded: &Recorded| recorded.path.contains("enerateContent") && recorded.status == 200;
    let Some(all) = read(is_content) else {
        return Need::Fixtures.missing("AGENTS_FIXTURES names no folder");
    };
    let server = replies(Answer::json(200, HELLO)).await;
    let (mut same, mut differences) = (0, BTreeMap::new());
    for recorded in &all {
        let request: Value = serde_json::from_str(&recorded.request).unwrap();
        let history = History::from(conversation(&request));
        let tools = tools(&request);
        let name = recorded
            .path
            .rsplit('/')
            .next()
            .unwrap()
            .split(':')
            .next()
            .unwrap();
        let model = gemini(name).base_url(&server.url);
        model
            .chat(Request::new(&history).with_tools(&tools))
            .await
            .unwrap();
        let ours = meaning(&bodies(&server).pop().unwrap(), &mut BTreeMap::new());
        assert_eq!(
            ours,
            meaning(&request, &mut differences),
            "{}",
            recorded.file
        );
        same += 1;
    }
    assert!(same > 0, "the folder has no requests of generateContent");
    eprintln!("{same} requests are the same, but for: {differences:?}");
}
