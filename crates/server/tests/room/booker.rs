//! An agent that asks the user, and then whether it may book.

use agents::{
    AgentBuilder, Effects,
    agent::ModelAgent,
    model::Message,
    testing::{Script, ScriptedModel},
    tool::{Ask, FnTool, NeedsApproval, ToolSpec},
};
use serde_json::{Value, json};
use std::io;

/// Returns an agent that asks where the user wants to sit, looks the price up, and books when it may. If the input is not
/// about a flight, its answer is the input.
pub(crate) fn booker() -> ModelAgent<'static, String, String> {
    let (model, _) = ScriptedModel::from_fn(|asked| {
        let user = |message: &Message| matches!(message, Message::User { .. });
        let begin = asked.messages.iter().rposition(user).unwrap_or_default();
        let told = asked.messages[begin..].iter();
        let told: Vec<_> = told
            .filter(|message| matches!(message, Message::Tool { .. }))
            .map(|message| message.text().to_owned())
            .collect();
        match (asked.messages[begin].text(), told.len()) {
            ("A flight.", 0) => Script::call("ask_user", r#"{"question": "Window or aisle?"}"#),
            // The reader makes a number of the text.
            ("A flight.", 1) => Script::call("price", r#"{"row": "12"}"#),
            ("A flight.", 2) => Script::call(
                "book",
                json!({"seat": told[0].trim_matches('"')}).to_string(),
            ),
            ("A flight.", _) => Script::text(told[2].trim_matches('"')),
            ("Fail.", 0) => Script::fail("the key sk-secret is wrong"),
            (said, _) => Script::text(format!("You say: {said}")),
        }
    });
    let row =
        json!({"type": "object", "properties": {"row": {"type": "integer"}}, "required": ["row"]});
    let price = ToolSpec::new("price", "Says what a seat costs.", Effects::Reads, row);
    let price = FnTool::with_spec(price, |args: Value, _| async move {
        Ok::<_, io::Error>(args["row"].as_i64().unwrap_or_default() * 10)
    });
    let seat =
        json!({"type": "object", "properties": {"seat": {"type": "string"}}, "required": ["seat"]});
    let book = ToolSpec::new("book", "Books a seat.", Effects::Writes, seat)
        .approval(NeedsApproval::Always);
    let book = FnTool::with_spec(book, |args: Value, _| async move {
        let seat = args["seat"].as_str().unwrap_or_default();
        Ok::<_, io::Error>(format!("Booked: {seat}."))
    });
    AgentBuilder::<String, String>::new("booker")
        .tool(Ask::<String>::to_user())
        .tool(price)
        .tool(book)
        .model(model)
        .build()
}
