//! The `tracing` spans, and what stays out of them.

use crate::world::worker;
use agents::{
    Agent,
    testing::{Script, ScriptedModel},
};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};
use tracing::{
    Event, Id, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Record},
};

type Fields = BTreeMap<String, String>;

/// Keeps every span's name and fields.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<(&'static str, Fields)>>>);

struct Into<'a>(&'a mut Fields);

impl Visit for Into<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl Subscriber for Spans {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::new();
        span.record(&mut Into(&mut fields));
        let mut all = self.0.lock().unwrap();
        all.push((span.metadata().name(), fields));
        Id::from_u64(all.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut all = self.0.lock().unwrap();
        values.record(&mut Into(&mut all[span.into_u64() as usize - 1].1));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

async fn spans(record_content: bool) -> Vec<(&'static str, Fields)> {
    let (model, _) = ScriptedModel::new([
        Script::calls([
            ("add", r#"{"left":17,"right":25}"#),
            ("read_file", r#"{"path":"missing"}"#),
        ]),
        Script::text("the secret answer"),
    ]);
    let spans = Spans::default();
    let _guard = tracing::subscriber::set_default(spans.clone());
    let agent = worker::<String>();
    let run = agent.run("the secret question").model(model);
    let run = if record_content {
        run.record_content()
    } else {
        run
    };
    run.await.unwrap();
    let all = spans.0.lock().unwrap();
    all.clone()
}

#[tokio::test]
async fn spans_have_the_fields_of_the_genai_conventions() {
    let spans = spans(false).await;
    let names: Vec<_> = spans.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        [
            "invoke_agent",
            "chat",
            "execute_tool",
            "execute_tool",
            "chat"
        ]
    );
    let get = |at: usize, key: &str| spans[at].1.get(key).map(String::as_str).unwrap_or_default();
    assert_eq!(get(0, "gen_ai.operation.name"), "invoke_agent");
    assert_eq!(get(0, "gen_ai.agent.name"), "worker");
    assert_eq!(get(1, "gen_ai.request.model"), "scripted");
    assert_eq!(
        (
            get(1, "gen_ai.usage.input_tokens"),
            get(1, "gen_ai.usage.output_tokens")
        ),
        ("10", "5")
    );
    assert_eq!(get(2, "gen_ai.tool.name"), "add");
    assert_eq!(get(2, "gen_ai.tool.call.id").len(), 32);
    assert_eq!(
        (get(2, "error.type"), get(3, "error.type")),
        ("", "UNKNOWN")
    );
}

#[tokio::test]
async fn content_is_there_only_when_asked_for() {
    let quiet = format!("{:?}", spans(false).await);
    assert!(!quiet.contains("secret"), "{quiet}");
    let open = format!("{:?}", spans(true).await);
    assert!(
        open.contains("the secret question") && open.contains("the secret answer"),
        "{open}"
    );
}

/// Keeps everything that is traced, at every level, as text.
#[derive(Clone, Default)]
pub(crate) struct All(Arc<Mutex<String>>);

impl All {
    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

impl Subscriber for All {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::new();
        span.record(&mut Into(&mut fields));
        *self.0.lock().unwrap() += &format!("{} {fields:?}\n", span.metadata().name());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut fields = Fields::new();
        values.record(&mut Into(&mut fields));
        *self.0.lock().unwrap() += &format!("{fields:?}\n");
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::new();
        event.record(&mut Into(&mut fields));
        *self.0.lock().unwrap() += &format!("{fields:?}\n");
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Prints every event in a line, through a writer of its own.
pub(crate) struct Printing<W>(W);

impl<W> Printing<W> {
    pub(crate) fn new(writer: W) -> Self {
        Printing(writer)
    }
}

impl<W: Fn() -> O + Send + Sync + 'static, O: std::io::Write> Subscriber for Printing<W> {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::new();
        event.record(&mut Into(&mut fields));
        (self.0)()
            .write_all(format!("{fields:?}\n").as_bytes())
            .unwrap();
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
