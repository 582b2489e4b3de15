//! The promises of `.body(..)`, which every client keeps.

#![allow(clippy::unwrap_used)]

use super::{Answer, Server, user};
use agents_core::model::{History, Model, ModelErrorKind as Kind, Request};
use serde_json::{Value, json};

/// Checks that a client sends a field by its name, and refuses those that it sets itself.
///
/// `client` makes a client of the server at this address that has these fields, in their order. `own` has fields of the
/// client, each with whatever sets it as its errors name it; a field within an object has the name of the object and a
/// dot in front. `reply` is a reply in one document.
///
/// # Panics
/// When the client breaks a promise.
pub async fn check_fields<M: Model>(
    reply: &str,
    own: &[(&str, &str)],
    client: impl Fn(&str, &[(&str, Value)]) -> M,
) {
    let server = Server::plays([Answer::json(200, reply)]).await;
    let ask = async |fields: &[(&str, Value)]| {
        let history = History::from(vec![user("hi")]);
        let model = client(&server.url, fields);
        let asked = model.chat(Request::new(&history)).await;
        let sent = server.bodies().pop().unwrap_or_default();
        asked.map(|_| serde_json::from_str::<Value>(&sent).unwrap())
    };
    for (path, by) in own {
        let (name, value) = match path.split_once('.') {
            Some((name, within)) => {
                let keys = within.rsplit('.');
                let value = keys.fold(json!("x"), |value, key| json!({ key: value }));
                (name, value)
            }
            None => (*path, json!("x")),
        };
        let error = ask(&[(name, value)]).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Setup, "{path}");
        let text = error.to_string();
        let begin = format!("the field `{path}` of a request is set by {by}: ");
        assert!(text.starts_with(&begin), "{text}");
        assert!(
            text.ends_with(&format!("`.body(\"{name}\", ..)`")),
            "{text}"
        );
        assert_eq!(server.seen().len(), 0, "{path}: nothing is sent");
    }
    let fields = [
        ("x-own", json!(1)),
        ("x-other", json!({ "a": [true] })),
        ("x-own", json!("two")),
        ("x-none", Value::Null),
    ];
    let sent = ask(&fields).await.unwrap();
    assert_eq!(sent["x-own"], "two", "{sent}");
    assert_eq!(sent["x-other"], json!({ "a": [true] }), "{sent}");
    assert_eq!(sent.get("x-none"), None, "{sent}");
    // The fields of one request are sent with it alone.
    let sent = ask(&[]).await.unwrap();
    assert_eq!(sent.get("x-own"), None, "{sent}");
}
