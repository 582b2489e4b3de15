//! The promises of `.on_raw_reply(..)` and of the id of a request, which every client keeps.

#![allow(clippy::unwrap_used)]

use super::{Answer, Server, user};
use crate::RawReply;
use agents_core::{
    Agent, AgentBuilder,
    model::{Delta, History, Model, ModelErrorKind as Kind, Request},
    run::{Event, EventKind},
};
use std::{
    fmt,
    sync::{Arc, Mutex},
};
use tracing::{
    Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// Code that a client in [`check_raw_replies`] has to give each reply to.
pub type Listener = Box<dyn Fn(&RawReply) + Send + Sync>;

/// Key that no client may show.
const KEY: &str = "sk-hunter2-of-acme";

/// Checks that a client gives each reply to its hook as it has arrived: in one document, as a stream, one that breaks off,
/// and a refusal. Errors have the id of the request, and so have the event with which a run fails, and the log. A hook that
/// panics is no failure of the request.
///
/// `client` makes a client of the server at this address with this key and this hook. `header` is the header in which its
/// provider sends the id of a request. `document` and `stream` are a reply in one document and as a stream.
///
/// # Panics
/// When the client breaks a promise.
pub async fn check_raw_replies<M: Model + 'static>(
    header: &str,
    document: &str,
    stream: &str,
    client: impl Fn(&str, &str, Listener) -> M,
) {
    let (begin, rest) = stream.split_at(stream.len() / 2);
    let refusal = format!(r#"{{"error":{{"message":"the key {KEY} is not valid"}}}}"#);
    let head = |id: &str| format!("{header}: {id}\r\n");
    let answers = [
        Answer::with_head(200, &head("req-1"), document),
        Answer::begun_with(&head("req-2"))
            .piece(begin)
            .piece(rest)
            .end(),
        Answer::begun_with(&head("req-3")).piece(begin).cut(),
        Answer::with_head(401, &head("req-4"), &refusal),
        Answer::json(200, document),
    ];
    let server = Server::plays(answers).await;
    let heard: Arc<Mutex<Vec<RawReply>>> = Arc::default();
    let kept = heard.clone();
    let listener = move |reply: &RawReply| {
        kept.lock().unwrap().push(reply.clone());
        assert_ne!(reply.status, 401, "a hook that fails");
    };
    let model = Arc::new(client(&server.url, KEY, Box::new(listener)));
    let history = History::from(vec![user("hi")]);
    let sink = |_: Delta<'_>| {};
    let logged: Arc<Mutex<Vec<String>>> = Arc::default();
    // A second, unused subscriber keeps `tracing` from caching one thread's interests for all.
    let _another = tracing::Dispatch::new(Log(Arc::default()));
    let _log = tracing::subscriber::set_default(Log(logged.clone()));
    let next = |status, id: Option<&str>, body: &str| {
        let reply = heard.lock().unwrap().pop();
        let expected = RawReply {
            status,
            request_id: id.map(str::to_owned),
            body: body.to_owned(),
        };
        assert_eq!(reply, Some(expected));
        assert!(heard.lock().unwrap().is_empty(), "each reply is told once");
    };

    let whole = model.chat(Request::new(&history)).await.unwrap();
    next(200, Some("req-1"), document);
    let asked = Request::new(&history).with_sink(&sink);
    let streamed = model.chat(asked).await.unwrap();
    assert_eq!(streamed.content, whole.content);
    next(200, Some("req-2"), stream);

    let asked = Request::new(&history).with_sink(&sink);
    let error = model.chat(asked).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Interrupted, "{error}");
    assert_eq!(error.request_id(), Some("req-3"));
    assert!(error.to_string().contains("(request req-3)"), "{error}");
    next(200, Some("req-3"), begin);

    let agent = AgentBuilder::<String, String>::new("greeter").model(model.clone());
    let reasons: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = reasons.clone();
    let error = agent
        .build()
        .run("hi")
        .on_event(move |event: &Event| {
            if let EventKind::Failed { reason, .. } = &event.kind {
                told.lock().unwrap().push(reason.clone());
            }
        })
        .await
        .unwrap_err();
    let reasons = reasons.lock().unwrap().join("\n");
    for text in [format!("{error:#}"), reasons] {
        assert!(text.contains("(request req-4)"), "{text}");
        assert!(!text.contains(KEY), "{text}");
    }
    next(401, Some("req-4"), &refusal.replace(KEY, "***"));

    // A provider that sends no id.
    model.chat(Request::new(&history)).await.unwrap();
    next(200, None, document);
    let logged = logged.lock().unwrap();
    assert_eq!(*logged, ["req-1", "req-2", "req-3", "req-4"]);
}

/// Log of this thread, of which only the ids of requests are kept.
struct Log(Arc<Mutex<Vec<String>>>);

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
    }

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut Ids(&self.0));
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

struct Ids<'a>(&'a Mutex<Vec<String>>);

impl Visit for Ids<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "request_id" {
            self.0.lock().unwrap().push(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}
