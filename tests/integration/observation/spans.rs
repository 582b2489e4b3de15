//! Spans for `tracing`, and data that they must not contain.

use crate::world::worker;
use agents::{
    Agent,
    testing::{Script, ScriptedModel},
};
use agents_needs::watched_by;
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

/// A subscriber that records each span's name and fields.
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
    let _guard = watched_by(spans.clone());
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
            "invoke_workflow",
            "invoke_agent",
            "chat",
            "call",
            "policy",
            "execute_tool",
            "call",
            "policy",
            "execute_tool",
            "chat"
        ]
    );
    let nth = |name: &str, nth: usize| {
        let found = spans.iter().filter(|(span, _)| *span == name).nth(nth);
        move |key: &str| {
            found
                .and_then(|(_, fields)| fields.get(key))
                .map(String::as_str)
        }
    };
    let run = nth("invoke_workflow", 0);
    assert_eq!(run("gen_ai.operation.name"), Some("invoke_workflow"));
    assert_eq!(run("gen_ai.usage.input_tokens"), Some("20"));
    let agent = nth("invoke_agent", 0);
    assert_eq!(agent("otel.name"), Some("invoke_agent worker"));
    assert_eq!(agent("gen_ai.agent.name"), Some("worker"));
    assert_eq!(agent("gen_ai.provider.name"), Some("scripted"));
    let chat = nth("chat", 0);
    assert_eq!(chat("otel.kind"), Some("client"));
    assert_eq!(chat("gen_ai.request.model"), Some("scripted"));
    assert_eq!(chat("gen_ai.usage.input_tokens"), Some("10"));
    assert_eq!(chat("gen_ai.usage.output_tokens"), Some("5"));
    let (add, read_file) = (nth("execute_tool", 0), nth("execute_tool", 1));
    assert_eq!(add("gen_ai.tool.name"), Some("add"));
    assert_eq!(add("gen_ai.tool.type"), Some("function"));
    assert_eq!(add("gen_ai.tool.call.id").map(str::len), Some(32));
    assert_eq!(
        (add("error.type"), read_file("error.type")),
        (None, Some("UNKNOWN"))
    );
    assert_eq!(read_file("otel.status_code"), Some("ERROR"));
    let call = nth("call", 1);
    assert_eq!(
        call("gen_ai.tool.call.id"),
        read_file("gen_ai.tool.call.id")
    );
    assert_eq!(call("error.type"), Some("UNKNOWN"));
    assert_eq!(nth("policy", 0)("agents.verdict"), Some("allow"));
}

#[tokio::test]
async fn content_is_there_only_when_asked_for() {
    let quiet = format!("{:?}", spans(false).await);
    assert!(!quiet.contains("secret"), "{quiet}");
    let open = format!("{:?}", spans(true).await);
    for content in [
        r#"{"parts":[{"content":"the secret question","type":"text"}],"role":"user"}"#,
        r#"[{"content":"the secret answer","type":"text"}]"#,
        r#""finish_reason":"tool_call""#,
        r#""gen_ai.tool.call.arguments": "{\"left\":17,\"right\":25}""#,
        r#""gen_ai.tool.call.result": "42""#,
    ] {
        let debugged = format!("{content:?}");
        assert!(
            open.contains(content) || open.contains(debugged.trim_matches('"')),
            "{content} in {open}"
        );
    }
}

/// A subscriber that records everything at every level, as text.
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

/// A subscriber that prints each event as a line, through a separate writer.
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
