//! The promises of `.schemas(..)`, which every client keeps.

#![allow(clippy::unwrap_used)]

use super::{Answer, Server, bodies, tools, user};
use crate::{Dialect, Keywords, References};
use agents_core::model::{History, Model, Request};
use serde_json::{Value, json};

/// Checks that a client sends the schemas of tools and answers in a dialect that the program sets. Nothing of it may be left
/// in the requests of another client of the same conversation.
///
/// `client` makes a client of the server at this address, with this dialect if there is one. `tool` and `answer` are JSON
/// Pointers to the schema of the first tool and to that of the answer in a request. `reply` is a reply in one document.
///
/// # Panics
/// When the client breaks a promise.
pub async fn check_schemas<M: Model>(
    reply: &str,
    tool: &str,
    answer: &str,
    client: impl Fn(&str, Option<Dialect>) -> M,
) {
    let dialect = Dialect {
        keywords: Keywords::Without(&["required"]),
        references: References::Inlined,
        ..Dialect::ANY
    };
    let list = json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/List" } } });
    let schema = json!({
        "type": "object",
        "properties": { "x": { "$ref": "#/$defs/Size" }, "list": { "$ref": "#/$defs/List" } },
        "required": ["x"],
        "$defs": { "Size": { "type": "integer" }, "List": list },
    });
    let fitted = json!({
        "type": "object",
        "properties": { "x": { "type": "integer" }, "list": { "$ref": "#/$defs/List" } },
        "$defs": { "List": list },
    });
    let arguments = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let (history, tools) = (History::from(vec![user("hi")]), tools());
    let server = Server::plays([Answer::json(200, reply)]).await;
    for dialect in [None, Some(dialect), None] {
        let request = Request::new(&history).with_tools(&tools);
        let request = request.with_format(&schema);
        client(&server.url, dialect).chat(request).await.unwrap();
    }
    let bodies = bodies(&server);
    let at = |body: usize, pointer: &str| -> Value {
        let found = bodies[body].pointer(pointer);
        found.unwrap_or_else(|| panic!("{}", bodies[body])).clone()
    };
    assert_eq!(at(1, tool), arguments);
    assert_eq!(at(1, answer), fitted);
    assert_eq!(at(0, tool)["required"], json!(["path"]));
    assert_eq!(bodies[2], bodies[0]);
}
