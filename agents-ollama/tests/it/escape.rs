//! Fields that the client does not know, and replies as they arrive. Ollama gives requests no ids, and proxies in front of
//! it do.

use crate::{
    HELLO,
    server::{Answer, Asked, Server},
};
use agents_core::model::ModelErrorKind as Kind;
use agents_http::testing::{check_fields, check_raw_replies};
use agents_ollama::ollama;
use serde_json::Value;

/// Stream with the reply of [`HELLO`].
const HELLO_STREAM: &str = concat!(
    "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"hel\"},\"done\":false}\n",
    "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"lo\"},\"done\":false}\n",
    "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done_reason\":\"stop\",\"done\":true,\"prompt_eval_count\":10,\"eval_count\":2}\n",
);

#[tokio::test]
async fn other_fields_are_sent_and_those_of_the_client_are_refused() {
    let own = [
        ("model", "`ollama(..)`"),
        ("messages", "the conversation"),
        ("tools", "the tools of the agent"),
        ("format", "the type of the answer"),
        ("options", "`.option(..)`"),
        ("truncate", "the client"),
    ];
    check_fields(HELLO, &own, |url, fields: &[(&str, Value)]| {
        fields
            .iter()
            .fold(ollama("m").url(url), |model, (name, value)| {
                model.body(*name, value.clone())
            })
    })
    .await;
}

#[tokio::test]
async fn each_reply_is_shown_as_it_arrived_without_keys() {
    check_raw_replies("x-request-id", HELLO, HELLO_STREAM, |url, key, hook| {
        ollama("m").url(url).bearer(key).on_raw_reply(hook)
    })
    .await;
}

#[tokio::test]
async fn a_list_of_models_that_is_refused_has_the_id_too() {
    let head = "x-request-id: req-9\r\n";
    for (status, kind) in [(503, Kind::Overloaded), (200, Kind::Malformed)] {
        let server = Server::plays([Answer::with_head(status, head, "busy")]).await;
        let error = server.model().models().await.unwrap_err();
        assert_eq!((error.kind(), error.request_id()), (kind, Some("req-9")));
    }
}
