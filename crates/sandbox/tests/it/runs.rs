use crate::has_boxes;
use agents::{
    Agent, AgentBuilder, Code,
    testing::{Script, ScriptedModel},
};
use agents_core::Effects;
use agents_sandbox::{PythonTool, Sandbox};
use std::{
    fmt,
    sync::{Arc, Mutex},
};
use tracing::{
    Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
};

/// Layer that keeps the spans of boxes: the names of the spans around, and the fields.
#[derive(Clone, Default)]
struct Boxes(Arc<Mutex<Vec<String>>>);

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        *self.0 += &format!(" {}={value:?}", field.name());
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Boxes {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, cx: Context<'_, S>) {
        if attributes.metadata().name() == "sandbox" {
            let around = cx.span_scope(id).into_iter().flatten();
            let mut line: String = around.map(|span| span.name()).collect::<Vec<_>>().join("<");
            attributes.record(&mut Line(&mut line));
            self.0.lock().unwrap().push(line);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, cx: Context<'_, S>) {
        if cx.span(id).is_some_and(|span| span.name() == "sandbox") {
            values.record(&mut Line(self.0.lock().unwrap().last_mut().unwrap()));
        }
    }
}

#[tokio::test]
async fn k4_a_breach_is_in_the_receipt_and_in_the_trace() {
    if !has_boxes() {
        return;
    }
    let sandbox = Sandbox::new().memory(64_000_000);
    let python = PythonTool::new(Effects::None, sandbox).unwrap();
    let (model, handle) = ScriptedModel::new([
        Script::call("run_python", r#"{"code": "print(6 * 7)"}"#),
        Script::call("run_python", r#"{"code": "bytearray(10 ** 9)"}"#),
        Script::text("It does not fit."),
    ]);
    let boxes = Boxes::default();
    let subscriber = tracing_subscriber::registry().with(boxes.clone());
    let _in_test = agents_needs::watched_by(subscriber);
    let agent = AgentBuilder::<String, String>::new("analyst")
        .tool(python)
        .build();
    let outcome = agent.run("How much?").model(model).outcome().await.unwrap();

    let told = |nth: usize| handle.requests()[nth].results()[0].1.to_owned();
    assert_eq!(told(1), r#"{"status":0,"stdout":"42\n"}"#);
    assert!(
        handle.requests()[2]
            .last()
            .contains("more than 64 MB of memory")
    );
    let outputs = &outcome.outputs;
    let receipt = &outputs.tools_by_id[&outputs.tool_order[1]];
    assert_eq!(receipt.error.as_ref().unwrap().code, Code::SandboxError);

    let lines = boxes.0.lock().unwrap();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines[0].starts_with("sandbox<"),
        "within the execution: {lines:?}"
    );
    assert!(
        lines[0].contains("memory=64000000") && lines[0].contains("cpu_s=5"),
        "{lines:?}"
    );
    assert!(lines[0].ends_with(" status=0"), "{lines:?}");
    assert!(lines[1].ends_with(" limit=Some(Memory)"), "{lines:?}");
}
