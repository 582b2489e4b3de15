//! The log of usage and the traces: each row has its span.

use super::{activate, ask, prices, reply, scoring};
use agents::otel;
use agents_control::{
    ControlPlane, ModelProfile,
    PurposeKey::{Reasoning, Scoring},
    SqliteStore, UsageFilter, UsageRow, usd,
};
use agents_core::{
    Agent, AgentBuilder, Effects,
    model::{ModelError, ModelErrorKind as Kind},
    testing::{Script, ScriptedModel},
    tool::{FnTool, Scope},
};
use opentelemetry::{Value, trace::TracerProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use std::{collections::BTreeMap, time::Duration};
use tracing_subscriber::{Registry, layer::SubscriberExt};

/// Fields of a request, as texts. Numbers are marked as such; a field without a value is missing.
type Fields = BTreeMap<&'static str, String>;

fn number(count: impl Into<u64>) -> Option<String> {
    Some(format!("number {}", count.into()))
}

fn of_row(row: &UsageRow) -> Fields {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let fields = [
        ("agents.usage_id", text(&row.id)),
        ("agents.purpose", text(&row.key.purpose)),
        ("agents.org_id", text(&row.key.org_id)),
        ("agents.domain_id", text(&row.key.domain_id)),
        ("agents.bc", text(&row.bc)),
        ("agents.run_id", text(&row.run_id)),
        ("agents.turn_id", text(&row.turn_id)),
        ("agents.profile_version", number(row.profile_version)),
        ("agents.outcome", text(&row.outcome)),
        ("agents.cost_nanos", row.cost_nanos.and_then(number)),
        ("gen_ai.provider.name", text(&row.provider)),
        ("gen_ai.request.model", text(&row.model)),
        ("gen_ai.usage.input_tokens", number(row.input_tokens)),
        ("gen_ai.usage.output_tokens", number(row.output_tokens)),
    ];
    let fields = fields.into_iter();
    fields
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

/// Returns the fields that a row has as well. Others, such as the level, are those of every span.
fn of_span(span: &SpanData) -> Fields {
    let fields = span.attributes.iter().filter_map(|attribute| {
        let name = attribute.key.as_str();
        let is_ours = name.starts_with("agents.") || name.starts_with("gen_ai.");
        let value = match &attribute.value {
            Value::I64(number) => format!("number {number}"),
            other => other.as_str().into_owned(),
        };
        is_ours.then(|| (&*name.to_owned().leak(), value))
    });
    fields.collect()
}

/// Creates a plane with a provider that answers with these scripts, one without a price, and one that never answers.
async fn of_scripts(scripts: impl IntoIterator<Item = Script>) -> ControlPlane {
    let store = SqliteStore::in_memory().await.unwrap();
    let (model, _) = ScriptedModel::new(scripts);
    ControlPlane::open(&store)
        .provider("p", move |_| model.clone())
        .provider("unpriced", move |_| {
            ScriptedModel::always(Script::Reply(reply(3, 4))).0
        })
        .provider("silent", move |_| {
            ScriptedModel::from_async_fn(|_| std::future::pending()).0
        })
        .prices(prices().model("silent/*", 0.0, 1_000.0))
}

#[tokio::test]
async fn l12_the_rows_of_usage_and_the_spans_of_an_exporter_agree() {
    let busy = ModelError::new(Kind::Overloaded, "busy").with_status(503);
    let control = of_scripts([
        Script::Fail(busy.with_retry_after(Duration::from_millis(1))),
        Script::call("look_up", "{}"),
        Script::Reply(reply(40, 50)),
        Script::Reply(reply(5, 6)),
        Script::Reply(reply(u64::MAX, u64::MAX)),
    ])
    .await;
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let subscriber = Registry::default().with(otel::layer(provider.tracer("tests")));
    let guard = agents_needs::watched_by(subscriber);

    let of_reply = scoring().max_output_tokens(100).daily_cap(usd(1_000));
    let version = activate(&control, of_reply.clone()).await;
    let schema = serde_json::json!({"type": "object"});
    let look_up = FnTool::new(
        "look_up",
        "Looks it up.",
        Effects::Reads,
        schema,
        |_, _| async { Ok::<_, std::io::Error>("cold") },
    );
    let agent = AgentBuilder::<String, String>::new("scorer")
        .purpose(Scoring)
        .tool(look_up)
        .build();
    let scope = Scope {
        bc: Some("billing".to_owned()),
        ..Scope::from("acme").domain("shop")
    };
    // A run of two turns, the first of which needs two requests; a request outside of a run; usage that nobody can have had.
    let run = agent.run("Norway").scope(scope).purposes(control.clone());
    let outcome = run.outcome().await.unwrap();
    ask(&control.model(Scoring, "globex")).await.unwrap();
    ask(&control.model(Scoring, "globex")).await.unwrap();
    // No price; no end.
    let unpriced = ModelProfile::global(Reasoning).model("unpriced", "m");
    activate(&control, unpriced).await;
    ask(&control.model(Reasoning, "acme")).await.unwrap();
    activate(&control, of_reply.model("silent", "m")).await;
    let model = control.model(Scoring, "acme");
    let asked = tokio::time::timeout(Duration::from_millis(100), ask(&model)).await;
    assert!(asked.is_err());
    drop(guard);

    let mut rows = Vec::new();
    for _ in 0..100 {
        rows = control.usage(&UsageFilter::default()).await.unwrap();
        // The end of the last one is stored in its own time.
        if rows.len() == 7 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let spans = exporter.get_finished_spans().unwrap();
    let sent = spans.iter().filter(|span| span.name == "llm.send");
    let mut sent: Vec<_> = sent.map(of_span).collect();
    let mut logged: Vec<_> = rows.iter().map(of_row).collect();
    let id = |fields: &Fields| fields["agents.usage_id"].clone();
    sent.sort_by_key(id);
    logged.sort_by_key(id);
    assert_eq!(sent, logged);
    // What they agree about is what happened.
    let outcomes: Vec<_> = logged.iter().map(|row| &*row["agents.outcome"]).collect();
    let answered = "answered";
    assert_eq!(
        outcomes,
        [
            "overloaded",
            answered,
            answered,
            answered,
            answered,
            answered,
            "cut_off"
        ]
    );
    for row in &logged[..3] {
        let of = |name: &str| &*row[name];
        let tenant = (of("agents.org_id"), of("agents.domain_id"), of("agents.bc"));
        assert_eq!(tenant, ("acme", "shop", "billing"));
        assert_eq!(of("agents.run_id"), outcome.run_id);
        assert_eq!(of("agents.profile_version"), format!("number {version}"));
    }
    assert_eq!(logged[0]["agents.turn_id"], logged[1]["agents.turn_id"]);
    assert_ne!(logged[1]["agents.turn_id"], logged[2]["agents.turn_id"]);
    assert!(!logged[3].contains_key("agents.run_id"));
    assert_eq!(logged[2]["agents.cost_nanos"], "number 50000000");
    assert!(!logged[5].contains_key("agents.cost_nanos"), "no price");
    assert_eq!(logged[6]["agents.cost_nanos"], "number 100000000");
}
