//! The promises about the identity of calls, which every client keeps, in runs of an agent that pays.

#![allow(clippy::unwrap_used)]

use super::{Answer, Server, bodies};
use agents_core::{Agent, AgentBuilder, Effects, Error, model::Model, tool::FnTool};
use serde_json::{Value, json};
use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

/// What a run of the agent that pays came to.
#[derive(Debug)]
pub struct Paid {
    /// Arguments of the executions of the tool, in their order.
    pub payments: Vec<Value>,
    /// Bodies of the requests that the server got, oldest first.
    pub bodies: Vec<Value>,
    /// The agent's answer.
    pub answer: Result<String, Error>,
}

/// Runs an agent with the tool `pay`, which writes, against a server that gives these answers. The client streams if
/// `streams` says so.
///
/// # Panics
/// When a request is no JSON.
pub async fn pays<M: Model + 'static>(
    client: impl FnOnce(&str) -> M,
    answers: impl IntoIterator<Item = Answer>,
    streams: bool,
) -> Paid {
    let server = Server::plays(answers).await;
    let payments = Arc::new(Mutex::new(Vec::new()));
    let schema = json!({
        "type": "object",
        "properties": { "to": { "type": "string" }, "cents": { "type": "integer" } },
        "required": ["to", "cents"],
    });
    let log = payments.clone();
    let pay = FnTool::new(
        "pay",
        "Pays.",
        Effects::Writes,
        schema,
        move |args: Value, _| {
            log.lock().unwrap().push(args);
            async { Ok::<_, Infallible>("paid") }
        },
    );
    let agent = AgentBuilder::<String, String>::new("payer");
    let agent = agent.tool(pay).model(client(&server.url)).build();
    let run = agent.run("Pay Ada 9 euros.");
    let answer = match streams {
        true => run.on_event(|_| ()).await,
        false => run.await,
    };
    let payments = std::mem::take(&mut *payments.lock().unwrap());
    Paid {
        payments,
        bodies: bodies(&server),
        answer,
    }
}

/// Checks which calls of a reply a client takes for one. `reply` makes a reply with these calls of `pay`, each an id,
/// which may be empty, and arguments; `done` is the reply that answers.
///
/// # Panics
/// When the client breaks a promise.
pub async fn check_identity<M: Model + 'static>(
    client: impl Fn(&str) -> M,
    streams: bool,
    reply: impl Fn(&[(&str, &str)]) -> Answer,
    done: impl Fn() -> Answer,
) {
    let (ada, bob) = (r#"{"to":"Ada","cents":900}"#, r#"{"to":"Bob","cents":900}"#);
    let spaced = r#"{ "cents": 900, "to": "Ada" }"#;
    for (calls, expect, is_told) in [
        // An id is the identity of a call, however its arguments are written.
        (&[("c9", ada), ("c9", ada)][..], &["Ada"][..], false),
        (&[("c9", ada), ("c9", spaced), ("c9", ada)], &["Ada"], false),
        (&[("c9", ada), ("c9", bob)], &["Ada", "Bob"], false),
        (&[("c8", ada), ("c9", ada)], &["Ada", "Ada"], false),
        // Without one, the second call is not made, and the model is told.
        (&[("", ada), ("", spaced)], &["Ada"], true),
        (&[("", ada), ("", bob), ("", ada)], &["Ada", "Bob"], true),
    ] {
        let paid = pays(&client, [reply(calls), done()], streams).await;
        assert!(paid.answer.is_ok(), "{calls:?}: {:?}", paid.answer);
        let to: Vec<_> = paid.payments.iter().map(|paid| &paid["to"]).collect();
        assert_eq!(to, expect, "{calls:?}");
        let told = paid.bodies[1].to_string();
        assert_eq!(told.contains("stands twice"), is_told, "{calls:?}: {told}");
    }
}
