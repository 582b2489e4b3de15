//! A tool loop over Chat Completions, written by hand with only reqwest and serde_json.

use agents_bench::{KEY, PROMPT, QUESTION, Task, measure};
use serde_json::{Value, json};

#[tokio::main]
async fn main() {
    let task = Task::from_args();
    let http = reqwest::Client::new();
    let url = format!("{}/v1/chat/completions", task.url);
    let tools = json!([{"type": "function", "function": {
        "name": "add",
        "description": "Add two integers.",
        "parameters": {
            "type": "object",
            "properties": {
                "left": {"type": "integer", "description": "Left operand"},
                "right": {"type": "integer", "description": "Right operand"},
            },
            "required": ["left", "right"],
        },
    }}]);
    measure("by hand", &task, || async {
        let mut messages = vec![
            json!({"role": "system", "content": PROMPT}),
            json!({"role": "user", "content": QUESTION}),
        ];
        loop {
            let body = json!({"model": "bench", "messages": messages, "tools": tools});
            let response = http
                .post(&url)
                .bearer_auth(KEY)
                .json(&body)
                .send()
                .await
                .expect("the server answers");
            let reply: Value = response.json().await.expect("the server speaks JSON");
            let message = reply["choices"][0]["message"].clone();
            let Some(calls) = message["tool_calls"].as_array().cloned() else {
                return message["content"].as_str().unwrap_or_default().to_owned();
            };
            messages.push(message);
            for call in calls {
                let args = call["function"]["arguments"].as_str().unwrap_or_default();
                let args: Value = serde_json::from_str(args).expect("arguments are JSON");
                let sum = args["left"].as_i64().unwrap_or(0) + args["right"].as_i64().unwrap_or(0);
                messages.push(json!({
                    "role": "tool",
                    "content": sum.to_string(),
                    "tool_call_id": call["id"],
                }));
            }
        }
    })
    .await;
}
