//! The loop by hand: one tool, one model.

use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), reqwest::Error> {
    let http = reqwest::Client::new();
    let tools = json!([{"type": "function", "function": {
        "name": "add",
        "description": "Add two integers.",
        "parameters": {
            "type": "object",
            "properties": {"left": {"type": "integer"}, "right": {"type": "integer"}},
            "required": ["left", "right"],
        },
    }}]);
    let mut messages = vec![json!({"role": "user", "content": "What is 17 + 25?"})];
    loop {
        let body =
            json!({"model": "qwen3:4b", "stream": false, "messages": messages, "tools": tools});
        let response = http
            .post("http://127.0.0.1:11434/api/chat")
            .json(&body)
            .send()
            .await?;
        let reply: Value = response.json().await?;
        let message = reply["message"].clone();
        let Some(calls) = message["tool_calls"].as_array().cloned() else {
            println!("{}", message["content"]);
            return Ok(());
        };
        messages.push(message);
        for call in calls {
            let args = &call["function"]["arguments"];
            let sum = args["left"].as_i64().unwrap_or(0) + args["right"].as_i64().unwrap_or(0);
            messages.push(json!({"role": "tool", "content": sum.to_string(), "tool_name": "add"}));
        }
    }
}
