//! Traces: a run is one trace, with a span and fields for each call.

use crate::world::worker;
use agents::{
    Agent, AgentBuilder, Effects, Error, ErrorKind, Outcome, agent, otel,
    recovery::*,
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use opentelemetry::{
    Value,
    trace::{SpanId, SpanKind, Status, TracerProvider},
};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};
use tracing_subscriber::{Registry, layer::SubscriberExt};

pub(crate) async fn traced<T>(run: impl Future<Output = T>) -> (T, Vec<SpanData>) {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let subscriber = Registry::default().with(otel::layer(provider.tracer("tests")));
    let guard = agents_needs::watched_by(subscriber);
    let done = run.await;
    drop(guard);
    (done, exporter.get_finished_spans().unwrap())
}

/// A repair agent that always fails.
#[agent]
fn hopeless(_broken: String) -> Result<String, Error> {
    Err(Error::new(ErrorKind::Failed, "no idea"))
}

/// Checks that the spans form one tree, and draws the tree.
pub(crate) fn tree(spans: &[SpanData]) -> String {
    let traces: BTreeSet<_> = spans
        .iter()
        .map(|span| span.span_context.trace_id().to_string())
        .collect();
    assert_eq!(traces.len(), 1, "one trace");
    let mut children: BTreeMap<String, Vec<&SpanData>> = BTreeMap::new();
    for span in spans {
        children
            .entry(span.parent_span_id.to_string())
            .or_default()
            .push(span);
    }
    let mut drawn = String::new();
    fn draw(at: SpanId, depth: usize, of: &BTreeMap<String, Vec<&SpanData>>, drawn: &mut String) {
        let mut below = of.get(&at.to_string()).cloned().unwrap_or_default();
        below.sort_by_key(|span| span.start_time);
        for span in below {
            *drawn += &format!("{}{}\n", "  ".repeat(depth), span.name);
            for event in span.events.iter() {
                *drawn += &format!("{}* {}\n", "  ".repeat(depth + 1), event.name);
            }
            draw(span.span_context.span_id(), depth + 1, of, drawn);
        }
    }
    draw(SpanId::INVALID, 0, &children, &mut drawn);
    let names = drawn.lines().filter(|line| !line.trim().starts_with('*'));
    assert_eq!(
        names.count(),
        spans.len(),
        "every span hangs in it:\n{drawn}"
    );
    drawn
}

pub(crate) fn attribute<'a>(span: &'a SpanData, key: &str) -> Option<&'a Value> {
    let mut attributes = span.attributes.iter();
    attributes
        .find(|attribute| attribute.key.as_str() == key)
        .map(|attribute| &attribute.value)
}

/// Creates a tool that fails twice and then runs three agents: in the same task, in another task, and in a separate
/// run.
fn busy() -> FnTool {
    let failures = Mutex::new(2);
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    FnTool::new("busy", "Works.", Effects::Reads, schema, move |_, cx| {
        let fails = {
            let mut left = failures.lock().unwrap();
            *left -= 1;
            *left >= 0
        };
        async move {
            if fails {
                return Err(std::io::Error::other("not yet"));
            }
            let helper = || AgentBuilder::<String, String>::new("helper").build();
            let here = helper().run("here").await.map_err(std::io::Error::other)?;
            let run = cx.run().clone();
            let there = tokio::spawn(async move { helper().run_in(&run, "there".into()).await });
            let there = there.await.unwrap().map_err(std::io::Error::other)?;
            let own = helper().run("own").strict().await;
            Ok(format!(
                "{here} {there} {}",
                own.map_err(std::io::Error::other)?
            ))
        }
    })
    .on_error(|error, _| match error {
        CallError::Execution(_) => {
            let again: Decision<Execution> = retry().max_attempts(3).backoff(none());
            Some(again.into())
        }
        _ => None,
    })
}

async fn pipeline() -> Outcome<String> {
    let (model, _) = ScriptedModel::new([
        Script::call("busy", r#"{"n": "1"}"#),
        Script::text("a"),
        Script::text("b"),
        Script::text("c"),
        Script::text("first"),
        Script::text("second"),
    ]);
    let first = AgentBuilder::<String, String>::new("first")
        .tool(busy())
        .build();
    let second = AgentBuilder::<String, String>::new("second").build();
    let run = first.then(second);
    let run = run.run("go").model(model).scope("acme");
    let run = run.traces_url("https://traces.example.com/{trace_id}?run={run_id}");
    run.outcome().await.unwrap()
}

#[tokio::test]
async fn k7_a_run_is_one_tree() {
    let (outcome, spans) = traced(pipeline()).await;
    assert_eq!(outcome.result.as_ref().unwrap(), "second");
    expect_test::expect![[r#"
        invoke_workflow first > second
          invoke_agent first
            chat scripted
            call busy
              * arguments repaired
              * call failed
              * backing off
              * call failed
              * backing off
              * a call is settled
              policy busy
              execute_tool busy
              execute_tool busy
              execute_tool busy
                invoke_agent helper
                  chat scripted
                invoke_agent helper
                  chat scripted
                invoke_workflow helper
                  invoke_agent helper
                    chat scripted
            chat scripted
          invoke_agent second
            chat scripted
    "#]]
    .assert_eq(&tree(&spans));
    let trace_id = spans[0].span_context.trace_id().to_string();
    assert_eq!(outcome.trace.id, trace_id);
    assert_eq!(
        outcome.outputs.traces_url.unwrap(),
        format!(
            "https://traces.example.com/{trace_id}?run={}",
            outcome.run_id
        )
    );
    let chat = spans
        .iter()
        .find(|span| span.name == "chat scripted")
        .unwrap();
    assert_eq!(chat.span_kind, SpanKind::Client);
    assert_eq!(
        attribute(chat, "gen_ai.usage.input_tokens"),
        Some(&Value::I64(10))
    );
    let attempt = spans
        .iter()
        .find(|span| span.name == "execute_tool busy")
        .unwrap();
    assert!(matches!(attempt.status, Status::Error { .. }));
    assert_eq!(
        attribute(attempt, "error.type"),
        Some(&Value::from("UNKNOWN"))
    );
}

#[tokio::test]
async fn escalations_and_repair_agents_are_events_of_the_call() {
    let run = async {
        let (model, _) =
            ScriptedModel::new([Script::call("read_file", "no json"), Script::text("end")]);
        let agent = AgentBuilder::<String, String>::new("reader")
            .tool(crate::world::ReadFile)
            .on_error(|error, _| match error {
                CallError::InvalidArgs(..) => {
                    let plan: Decision<InvalidArgs> = fix_with(Hopeless).retries(1);
                    Some(plan.or(escalate("nobody can read it")).into())
                }
                _ => None,
            })
            .build();
        agent.run("go").model(model).outcome().await.unwrap()
    };
    let (_, spans) = traced(run).await;
    let drawn = tree(&spans);
    for event in [
        "* asking a repair agent",
        "* escalated",
        "* escalation settled",
    ] {
        assert!(drawn.contains(event), "{event} in {drawn}");
    }
    let call = spans
        .iter()
        .find(|span| span.name == "call read_file")
        .unwrap();
    let escalated = call
        .events
        .iter()
        .find(|event| event.name == "escalated")
        .unwrap();
    let severity = escalated
        .attributes
        .iter()
        .find(|a| a.key.as_str() == "severity");
    assert_eq!(severity.unwrap().value, Value::from("HIGH"));
}

#[tokio::test]
async fn without_a_tracer_the_run_s_own_id_is_the_trace_s() {
    let (model, _) = ScriptedModel::new([Script::text("hi")]);
    let agent = worker::<String>();
    let run = agent
        .run("go")
        .model(model)
        .traces_url("https://t/{trace_id}");
    let outcome = run.outcome().await.unwrap();
    assert_eq!(outcome.trace.id, outcome.run_id.replace('-', ""));
    assert_eq!(outcome.trace.id.len(), 32);
    assert_eq!(
        outcome.outputs.traces_url.unwrap(),
        format!("https://t/{}", outcome.trace.id)
    );
}

#[tokio::test]
async fn o8_every_call_is_one_line_and_its_fields_agree_with_the_receipt() {
    let lines = crate::observation::spans::All::default();
    let guard = agents_needs::watched_by(lines.clone());
    let script = [Script::calls([
        ("add", r#"{"left":1,"right":2}"#),
        ("read_file", r#"{"path":"missing"}"#),
        ("no_such_tool", "{}"),
    ])];
    let (model, _) = ScriptedModel::new(script.into_iter().chain([Script::text("end")]));
    let outcome = worker::<String>()
        .run("go")
        .model(model)
        .outcome()
        .await
        .unwrap();
    drop(guard);
    let text = lines.text();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("a call is settled"))
        .collect();
    assert_eq!(lines.len(), 3);
    for receipt in outcome.outputs.receipts() {
        let line = lines
            .iter()
            .find(|line| line.contains(&*receipt.call_id))
            .unwrap();
        let class = receipt
            .error
            .as_ref()
            .map(|error| format!(r#""error_class": "{}""#, error.class));
        for field in [
            format!(r#""tool_name": "{}""#, receipt.name),
            r#""agent_name": "worker""#.to_owned(),
            format!(r#""latency_ms": "{}""#, receipt.duration().as_millis()),
            format!(r#""ok": "{}""#, receipt.is_ok()),
            format!(r#""trace_id": "{}""#, outcome.trace.id),
            format!(r#""started_at": "{}""#, receipt.t_start),
            format!(r#""ended_at": "{}""#, receipt.t_end),
            format!(r#""attempts": "{}""#, receipt.attempts.len()),
            class.unwrap_or_else(|| r#""tokens": "0""#.to_owned()),
            // No model was asked within the call.
            r#""cost": "0""#.to_owned(),
        ] {
            assert!(line.contains(&field), "{field} in {line}");
        }
    }
}

#[tokio::test]
async fn a_timeline_of_what_is_left() {
    let outcome = pipeline().await;
    let drawn = agents::timeline::of(&outcome).to_string();
    let names: Vec<_> = drawn
        .lines()
        .map(|line| {
            line.split("  ")
                .find(|part| !part.is_empty())
                .unwrap_or_default()
                .trim()
                .to_owned()
        })
        .collect();
    let depths: Vec<_> = drawn
        .lines()
        .map(|line| (line.len() - line.trim_start().len()) / 2)
        .collect();
    let rows: Vec<_> = depths
        .iter()
        .copied()
        .zip(names.iter().map(String::as_str))
        .collect();
    assert_eq!(
        rows,
        [
            (0, "▸ first > second"),
            (1, "▸ first"),
            (2, "· scripted"),
            (2, "✓ busy"),
            (3, "▸ helper"),
            (4, "· scripted"),
            (3, "▸ helper"),
            (4, "· scripted"),
            (2, "· scripted"),
            (1, "▸ second"),
            (2, "· scripted"),
        ],
        "{drawn}"
    );
    let busy = drawn.lines().find(|line| line.contains("busy")).unwrap();
    assert!(
        busy.contains("(3 attempts, repaired)") && busy.ends_with("\"a b c\""),
        "{busy}"
    );
    assert!(
        drawn.lines().all(|line| line.chars().count() <= 100),
        "{drawn}"
    );
    let json = serde_json::to_string(&outcome.trace).unwrap();
    assert_eq!(
        serde_json::from_str::<agents::observe::Trace>(&json).unwrap(),
        outcome.trace
    );
}
