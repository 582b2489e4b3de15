//! The requests of rig's cassettes, beside those that the client sends for the same conversations: Chat Completions and
//! Responses.

use crate::{client, replies};
use agents_core::{
    Effects,
    model::{Content, History, Media, Message, Model, Reply, Request, ToolCall},
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
use agents_openai::{ResponsesReply, openai};
use serde_json::{Value, json};
use std::{collections::BTreeMap, convert::Infallible};

type Differences = BTreeMap<&'static str, usize>;

fn note(differences: &mut Differences, why: &'static str) {
    *differences.entry(why).or_default() += 1;
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns the text of the parts of a content, and the other parts.
fn parts(content: &Value) -> (String, Vec<&Value>) {
    let Some(parts) = content.as_array() else {
        return (text(content), Vec::new());
    };
    let is_text = |part: &&Value| {
        let kind = part["type"].as_str().unwrap_or_default();
        matches!(kind, "text" | "input_text" | "output_text" | "refusal")
    };
    let (texts, others): (Vec<_>, Vec<_>) = parts.iter().partition(is_text);
    let texts = texts.into_iter().map(|part| {
        let said = [&part["text"], &part["refusal"]];
        said.into_iter().map(text).collect::<String>()
    });
    (texts.collect::<Vec<_>>().join("\n"), others)
}

/// Returns the image or file of a part, or the reason why we have no word for it.
fn media(part: &Value) -> Result<Media, &'static str> {
    let url = match part["type"].as_str().unwrap_or_default() {
        "image_url" => text(&part["image_url"]["url"]),
        "input_image" => text(&part["image_url"]),
        "file" => text(&part["file"]["file_data"]),
        "input_file" if part["file_url"].is_string() => {
            return Ok(Media::url("application/pdf", text(&part["file_url"])));
        }
        "input_file" => text(&part["file_data"]),
        _ => return Err("a part that is neither a text nor an image or a file"),
    };
    if url.is_empty() {
        return Err("a file by its id");
    }
    let name = [&part["file"]["filename"], &part["filename"]];
    let name = name.into_iter().find_map(|name| name.as_str());
    let kind = match part["type"].as_str() {
        Some("image_url" | "input_image") => "image/png",
        _ => "application/pdf",
    };
    let media = match url
        .strip_prefix("data:")
        .and_then(|data| data.split_once(";base64,"))
    {
        Some((kind, data)) => {
            let media = json!({ "type": kind, "base64": data });
            serde_json::from_value(media).unwrap()
        }
        None => Media::url(kind, url),
    };
    Ok(match name {
        Some(name) => media.named(name),
        None => media,
    })
}

fn content(value: &Value) -> Result<Content, &'static str> {
    let (text, others) = parts(value);
    let media: Result<Vec<_>, _> = others.into_iter().map(media).collect();
    Ok(media?.into_iter().fold(Content::from(text), Content::with))
}

/// Returns the messages of a recorded request of Chat Completions.
fn chat(request: &Value) -> Result<Vec<Message>, &'static str> {
    let messages = request["messages"].as_array().ok_or("no messages")?;
    let message = |message: &Value| {
        let said = &message["content"];
        Ok(match message["role"].as_str().unwrap_or_default() {
            "system" | "developer" => Message::System {
                content: parts(said).0,
            },
            "user" => Message::User {
                content: content(said)?,
            },
            "assistant" => {
                let calls = message["tool_calls"].as_array().into_iter().flatten();
                Message::Assistant {
                    content: parts(said).0,
                    thinking: None,
                    calls: calls
                        .map(|call| ToolCall {
                            id: text(&call["id"]),
                            name: text(&call["function"]["name"]),
                            arguments: text(&call["function"]["arguments"]),
                        })
                        .collect(),
                }
            }
            "tool" => Message::Tool {
                tool_call_id: text(&message["tool_call_id"]),
                name: "tool".into(),
                content: content(said)?,
            },
            _ => return Err("a role of its own"),
        })
    };
    messages.iter().map(message).collect()
}

/// Returns the messages of a recorded request of Responses.
fn responses(request: &Value) -> Result<Vec<Message>, &'static str> {
    let mut messages = Vec::new();
    if let Some(system) = request["instructions"].as_str() {
        let content = system.to_owned();
        messages.push(Message::System { content });
    }
    if request["input"].is_string() {
        let content = content(&request["input"])?;
        messages.push(Message::User { content });
        return Ok(messages);
    }
    let items = request["input"].as_array().ok_or("no input")?;
    let mut said = Vec::new();
    for item in items {
        let kind = item["type"].as_str().unwrap_or("message");
        match (kind, item["role"].as_str().unwrap_or_default()) {
            ("message", "assistant") => {
                let (text, _) = parts(&item["content"]);
                let content = json!([{ "type": "output_text", "text": text }]);
                said.push(json!({ "type": "message", "role": "assistant", "content": content }));
                continue;
            }
            ("function_call" | "reasoning", _) => {
                said.push(item.clone());
                continue;
            }
            _ => {}
        }
        messages.extend(reply(&mut said));
        messages.push(match (kind, item["role"].as_str().unwrap_or_default()) {
            ("message", "system" | "developer") => Message::System {
                content: parts(&item["content"]).0,
            },
            ("message", _) => Message::User {
                content: content(&item["content"])?,
            },
            ("function_call_output", _) => Message::Tool {
                tool_call_id: text(&item["call_id"]),
                name: "tool".into(),
                content: content(&item["output"])?,
            },
            _ => return Err("an item of a tool of the server"),
        });
    }
    messages.extend(reply(&mut said));
    Ok(messages)
}

/// Returns the message of a run in which the model had replied with these items.
fn reply(items: &mut Vec<Value>) -> Option<Message> {
    if items.is_empty() {
        return None;
    }
    let output = std::mem::take(items);
    let body = json!({ "status": "completed", "output": output }).to_string();
    let mut decoder = Decoder::new(ResponsesReply::default());
    decoder.on(body.as_bytes(), None).unwrap();
    decoder.end(Ending::Closed, None).unwrap();
    let Reply {
        content,
        thinking,
        calls,
        ..
    } = decoder.into_reply();
    Some(Message::Assistant {
        content,
        thinking,
        calls,
    })
}

fn tools(request: &Value, differences: &mut Differences) -> ToolSet {
    let tools = request["tools"].as_array().into_iter().flatten();
    tools.fold(ToolSet::new(), |set, tool| {
        if tool["type"] != "function" {
            note(differences, "tools of the server are set by `.body(..)`");
            return set;
        }
        let tool = tool.get("function").unwrap_or(tool);
        let schema = tool.get("parameters").filter(|schema| schema.is_object());
        let spec = ToolSpec::new(
            text(&tool["name"]),
            text(&tool["description"]),
            Effects::Reads,
            schema
                .cloned()
                .unwrap_or_else(|| json!({ "type": "object" })),
        );
        set.with(FnTool::with_spec(spec, |_, _| async {
            Ok::<_, Infallible>(())
        }))
    })
}

/// Returns what the two requests must have in common. Each difference that is meant is counted.
fn meaning(request: &Value, differences: &mut Differences) -> Value {
    let mut messages = Vec::new();
    if let Some(system) = request["instructions"].as_str() {
        let system = json!({ "role": "system", "content": system });
        messages.push(item(&system, differences));
        note(differences, "`instructions` are a message of the system");
    }
    let input = match request["input"].as_str() {
        Some(text) => json!([{ "role": "user", "content": text }]),
        None => request["input"].clone(),
    };
    for message in [&request["messages"], &input] {
        for message in message.as_array().into_iter().flatten() {
            messages.push(item(message, differences));
        }
    }
    let tools = request["tools"].as_array().into_iter().flatten();
    let tools: Vec<_> = tools
        .filter(|tool| tool["type"] == "function")
        .map(|tool| {
            let tool = tool.get("function").unwrap_or(tool);
            if tool["strict"] == true {
                note(differences, "no tool asks for strict arguments");
            }
            json!([tool["name"], text(&tool["description"]), tool["parameters"]])
        })
        .collect();
    json!({ "model": request["model"], "messages": messages, "tools": tools })
}

fn item(item: &Value, differences: &mut Differences) -> Value {
    let role = match item["role"].as_str() {
        Some("developer") => {
            note(differences, "the role `developer` is `system`");
            "system"
        }
        Some(role) => role,
        None => "",
    };
    for (field, why) in [
        (
            "reasoning_content",
            "reasoning goes back to the provider that it is from, with calls alone",
        ),
        (
            "reasoning_details",
            "reasoning goes back to the provider that it is from, with calls alone",
        ),
        (
            "reasoning",
            "reasoning goes back to the provider that it is from, with calls alone",
        ),
    ] {
        if item.get(field).is_some_and(|value| !value.is_null()) {
            note(differences, why);
        }
    }
    match item["type"].as_str() {
        Some("function_call") => {
            json!({ "call": [item["call_id"], item["name"], item["arguments"]] })
        }
        Some("function_call_output") => {
            let (text, media) = parts(&item["output"]);
            json!({ "result": item["call_id"], "text": text, "media": media })
        }
        Some("reasoning") => {
            json!({ "reasoning": item["id"], "encrypted": item["encrypted_content"], "summary": item["summary"] })
        }
        _ => {
            let (text, media) = parts(&item["content"]);
            let media: Vec<_> = media.into_iter().map(shown).collect();
            let calls = item["tool_calls"].as_array().into_iter().flatten();
            let calls: Vec<_> = calls
                .map(|call| {
                    let function = &call["function"];
                    json!([call["id"], function["name"], function["arguments"]])
                })
                .collect();
            json!({ "role": role, "text": text, "media": media, "calls": calls, "result": item["tool_call_id"] })
        }
    }
}

/// Returns a part without the fields that say how the server is to look at it.
fn shown(part: &Value) -> Value {
    let mut part = part.clone();
    for holder in ["/image_url", ""] {
        if let Some(fields) = part.pointer_mut(holder).and_then(Value::as_object_mut) {
            fields.remove("detail");
        }
    }
    part
}

#[tokio::test]
async fn recorded_requests() {
    let is_ours = |recorded: &Recorded| {
        let path = recorded.path.split('?').next().unwrap_or_default();
        let is_path = path.ends_with("/chat/completions") || path.ends_with("/responses");
        is_path && recorded.status == 200 && !recorded.request.is_empty()
    };
    let Some(all) = read(is_ours) else {
        return Need::Fixtures.missing("AGENTS_FIXTURES names no folder");
    };
    let chat_server = replies(Answer::json(200, crate::HELLO)).await;
    let hello = r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}"#;
    let responses_server = replies(Answer::json(200, hello)).await;
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let (mut differences, mut other) = (Differences::new(), Vec::new());
    for recorded in &all {
        let Ok(request) = serde_json::from_str::<Value>(&recorded.request) else {
            note(&mut differences, "a body that is no JSON");
            continue;
        };
        let is_chat = recorded.path.contains("/chat/completions");
        let provider = recorded
            .file
            .split("/cassettes/")
            .nth(1)
            .unwrap_or_default();
        let provider = provider.split('/').next().unwrap_or_default();
        let protocol = if is_chat { "chat" } else { "responses" };
        let count = counts.entry(format!("{provider} {protocol}")).or_default();
        count[1] += 1;
        let messages = match is_chat {
            true => chat(&request),
            false => responses(&request),
        };
        let messages = match messages {
            Ok(messages) => messages,
            Err(why) => {
                note(&mut differences, why);
                continue;
            }
        };
        let history = History::from(messages);
        let tools = tools(&request, &mut differences);
        let server = if is_chat {
            &chat_server
        } else {
            &responses_server
        };
        let model = openai(text(&request["model"])).base_url(client(server).address());
        let model = if is_chat { model } else { model.responses() };
        let asked = model.chat(Request::new(&history).with_tools(&tools));
        asked.await.unwrap();
        let ours: Value = serde_json::from_str(&server.bodies().pop().unwrap()).unwrap();
        let theirs = meaning(&request, &mut differences);
        let ours = meaning(&ours, &mut Differences::new());
        match ours == theirs {
            true => count[0] += 1,
            false => other.push(format!(
                "{}\n  ours   {ours}\n  theirs {theirs}",
                recorded.file
            )),
        }
    }
    assert!(!counts.is_empty(), "the folder has no requests");
    for (provider, [same, all]) in &counts {
        eprintln!("{provider}: {same} of {all}");
    }
    eprintln!("differences that are meant: {differences:#?}");
    // Arguments that are no object are sent as an object that says so. An image of a result follows in a message.
    let meant = [
        "/groq/agent_tool_sessions/parallel_tool_calls",
        "/llamacpp/image_tool_result/",
    ];
    let (meant, other): (Vec<_>, Vec<_>) = other
        .into_iter()
        .partition(|request: &String| meant.iter().any(|file| request.contains(file)));
    eprintln!("{} requests differ as they are meant to", meant.len());
    assert!(other.is_empty(), "{}", other.join("\n"));
}
