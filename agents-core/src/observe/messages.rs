//! Messages in the JSON form of OpenTelemetry's semantic conventions for generative AI: a role, and parts.

use crate::model::{FinishReason, Message, Reply, ToolCall};
use serde_json::{Value, json};

/// Returns the messages of a request in the form of OpenTelemetry's conventions.
pub(super) fn input(messages: &[Message]) -> Value {
    messages.iter().map(message).collect()
}

/// Returns the reply of a model in the form of OpenTelemetry's conventions.
pub(super) fn output(reply: &Reply) -> Value {
    let parts = assistant(&reply.content, reply.thinking.as_deref(), &reply.calls);
    json!([{ "role": "assistant", "parts": parts, "finish_reason": finish(reply) }])
}

/// Returns the reason why the model stopped, by its name in OpenTelemetry's conventions. A reply with calls that ended
/// by itself has stopped for the calls.
pub(super) fn finish(reply: &Reply) -> &str {
    match &reply.finish {
        FinishReason::Stop if !reply.calls.is_empty() => "tool_call",
        FinishReason::Stop => "stop",
        FinishReason::ToolCalls => "tool_call",
        FinishReason::Length => "length",
        FinishReason::Refusal | FinishReason::Filter => "content_filter",
        FinishReason::Other(why) => why,
    }
}

fn message(message: &Message) -> Value {
    let (role, parts) = match message {
        Message::System { content } => ("system", json!([text(content)])),
        Message::User { content } => ("user", json!([text(content)])),
        Message::Assistant {
            content,
            thinking,
            calls,
        } => ("assistant", assistant(content, thinking.as_deref(), calls)),
        Message::Tool {
            tool_call_id,
            content,
            ..
        } => (
            "tool",
            json!([{ "type": "tool_call_response", "id": tool_call_id, "response": content }]),
        ),
    };
    json!({ "role": role, "parts": parts })
}

fn assistant(content: &str, thinking: Option<&str>, calls: &[ToolCall]) -> Value {
    let thinking = thinking.map(|text| json!({ "type": "reasoning", "content": text }));
    let said = (!content.is_empty()).then(|| text(content));
    let calls = calls.iter().map(|call| {
        // Arguments that are no JSON are given as written.
        let arguments: Value = serde_json::from_str(&call.arguments)
            .unwrap_or_else(|_| Value::from(call.arguments.as_str()));
        json!({ "type": "tool_call", "id": call.id, "name": call.name, "arguments": arguments })
    });
    thinking.into_iter().chain(said).chain(calls).collect()
}

fn text(content: &str) -> Value {
    json!({ "type": "text", "content": content })
}

#[cfg(test)]
mod tests {
    use super::{input, output};
    use crate::model::{Message, Reply, ToolCall};
    use serde_json::json;

    #[test]
    fn the_form_of_the_conventions() {
        let call = ToolCall {
            id: "call_1".into(),
            name: "get_weather".into(),
            arguments: r#"{"location":"Paris"}"#.into(),
        };
        let reply = Reply {
            calls: vec![call.clone()],
            thinking: Some("hm".into()),
            ..Reply::default()
        };
        let parts = json!([
            { "type": "reasoning", "content": "hm" },
            { "type": "tool_call", "id": "call_1", "name": "get_weather", "arguments": { "location": "Paris" } },
        ]);
        assert_eq!(
            output(&reply),
            json!([{ "role": "assistant", "parts": parts, "finish_reason": "tool_call" }])
        );
        let messages = [
            Message::User {
                content: "Weather in Paris?".into(),
            },
            Message::Assistant {
                content: String::new(),
                thinking: Some("hm".into()),
                calls: vec![call],
            },
            Message::Tool {
                tool_call_id: "call_1".into(),
                name: "get_weather".into(),
                content: "rainy".into(),
            },
        ];
        assert_eq!(
            input(&messages),
            json!([
                { "role": "user", "parts": [{ "type": "text", "content": "Weather in Paris?" }] },
                { "role": "assistant", "parts": parts },
                { "role": "tool", "parts": [{ "type": "tool_call_response", "id": "call_1", "response": "rainy" }] },
            ])
        );
    }
}
