//! async-openai 0.43 over Chat Completions. It is a client and has no agent: the loop is written by hand over its types.

use agents_bench::{KEY, PROMPT, QUESTION, Task, measure};
use async_openai::{
    Client,
    config::OpenAIConfig,
    types::chat::{
        ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessageArgs,
        ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage,
        ChatCompletionRequestToolMessage, ChatCompletionRequestUserMessage, ChatCompletionTool,
        ChatCompletionTools, CreateChatCompletionRequestArgs, FunctionObject,
    },
};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct AddArgs {
    left: i64,
    right: i64,
}

#[tokio::main]
async fn main() {
    let task = Task::from_args();
    let config = OpenAIConfig::new()
        .with_api_base(format!("{}/v1", task.url))
        .with_api_key(KEY);
    let client = Client::with_config(config);
    let tools = vec![ChatCompletionTools::Function(ChatCompletionTool {
        function: FunctionObject {
            name: "add".into(),
            description: Some("Add two integers.".into()),
            parameters: Some(json!({
                "type": "object",
                "properties": {
                    "left": {"type": "integer", "description": "Left operand"},
                    "right": {"type": "integer", "description": "Right operand"},
                },
                "required": ["left", "right"],
            })),
            strict: None,
        },
    })];
    measure("async-openai 0.43", &task, || async {
        let mut messages: Vec<ChatCompletionRequestMessage> = vec![
            ChatCompletionRequestSystemMessage::from(PROMPT).into(),
            ChatCompletionRequestUserMessage::from(QUESTION).into(),
        ];
        loop {
            let request = CreateChatCompletionRequestArgs::default()
                .model("bench")
                .messages(messages.clone())
                .tools(tools.clone())
                .build()
                .expect("the request is well formed");
            let mut reply = client
                .chat()
                .create(request)
                .await
                .expect("the server answers");
            let message = reply.choices.remove(0).message;
            let Some(calls) = message.tool_calls else {
                return message.content.unwrap_or_default();
            };
            let said = ChatCompletionRequestAssistantMessageArgs::default()
                .tool_calls(calls.clone())
                .build()
                .expect("the message is well formed");
            messages.push(said.into());
            for call in calls {
                let ChatCompletionMessageToolCalls::Function(call) = call else {
                    continue;
                };
                let args: AddArgs =
                    serde_json::from_str(&call.function.arguments).expect("arguments are JSON");
                let result = ChatCompletionRequestToolMessage {
                    content: (args.left + args.right).to_string().into(),
                    tool_call_id: call.id,
                };
                messages.push(result.into());
            }
        }
    })
    .await;
}
