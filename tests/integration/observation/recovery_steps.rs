//! Steps of recovery appear on the receipt, in events and in `tracing`.

use crate::world::{Buffer, scripted_agent};
use agents::{
    Agent, AgentBuilder, Error, ErrorKind, console,
    model::{ModelError, ModelErrorKind},
    prelude::*,
    reader::ChangeKind,
    recovery::{CallError, *},
    run,
    run::RepairKind,
    testing::{Script, ScriptedModel},
    timeline,
};
use agents_needs::watched_by;
use std::{
    fmt::{self, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tracing::{
    Event, Id, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Record},
};

/// A subscriber that records each logged line outside of spans.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => write!(self.0, "{value:?};").unwrap(),
            name => write!(self.0, " {name}={value:?}").unwrap(),
        }
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

impl Lines {
    /// Returns the lines that begin with this text.
    pub(crate) fn of(&self, beginning: &str) -> Vec<String> {
        let all = self.0.lock().unwrap();
        all.iter()
            .filter(|line| line.starts_with(beginning))
            .cloned()
            .collect()
    }
}

static RUNS: AtomicU32 = AtomicU32::new(0);

tool! {
    /// Fails once.
    #[tool(reads)]
    async fn shaky(
        /// Number that is returned.
        count: u32,
    ) -> Result<u32, String> {
        match RUNS.fetch_add(1, SeqCst) {
            0 => Err("not yet".into()),
            _ => Ok(count),
        }
    }

    on_error {
        invalid_args(_, _) => fix(agent = Mender, retries = 3),
        execution_error(_) => retry(max_attempts = 2, backoff = constant(Duration::from_millis(20))),
    }
}

static ASKED: AtomicU32 = AtomicU32::new(0);

/// Repairs at the third attempt.
#[agent]
fn mender(_broken: String) -> Result<String, Error> {
    match ASKED.fetch_add(1, SeqCst) {
        0 => Err(Error::new(agents::ErrorKind::Failed, "no idea")),
        1 => Ok("still not JSON".into()),
        _ => Ok(r#"{"count": 3}"#.into()),
    }
}

#[tokio::test]
async fn every_step_of_a_recovery_is_in_the_receipt_and_in_the_log() {
    let lines = Lines::default();
    let _guard = watched_by(lines.clone());
    let script = [
        Script::call("shaky", "count to three"),
        Script::text("three"),
    ];
    let agent = scripted_agent("counter", script).tool(Shaky).build();
    let outcome = agent.run("go").outcome().await.unwrap();

    let receipt = outcome.outputs.last_tool.unwrap();
    let repairs: Vec<_> = receipt.repairs.iter().map(ToString::to_string).collect();
    assert_eq!(
        repairs,
        [
            "`mender` gave nothing of use: no idea",
            "`mender` tried `still not JSON` in vain: the arguments cannot be read: no JSON found; write a JSON object",
            "`mender` gave the arguments anew",
        ]
    );
    assert_eq!(receipt.repairs.0[0].kind, RepairKind::Tried);
    let [first, second] = &receipt.attempts[..] else {
        panic!("{:?}", receipt.attempts)
    };
    assert_eq!(first.error.as_ref().unwrap().message, "not yet");
    assert_eq!((first.waited_s, second.waited_s.is_some()), (None, true));
    assert!(second.error.is_none());

    let asked = lines.of("asking a repair agent;");
    assert_eq!(asked.len(), 3);
    assert!(
        asked[2].contains("tool=shaky fixer=mender attempt=3"),
        "{}",
        asked[2]
    );
    assert_eq!(lines.of("the repair agent answered;").len(), 3);
    assert_eq!(
        lines.of("arguments repaired;"),
        ["arguments repaired; tool=shaky repairs=`mender` gave the arguments anew"],
        "a try in vain repairs nothing, and neither does text that fails again"
    );
    assert_eq!(lines.of("backing off;").len(), 1);
    let failed = lines.of("call failed;");
    assert_eq!(failed.len(), 3, "{failed:?}");
    assert!(
        failed[2].contains("code=UNKNOWN error=not yet"),
        "{}",
        failed[2]
    );
}

#[tokio::test]
async fn repairs_of_the_answer_are_in_the_outcome_and_in_the_log() {
    let lines = Lines::default();
    let _guard = watched_by(lines.clone());
    let (model, _) =
        ScriptedModel::new([Script::text("no list at all"), Script::text("[1, '2',]")]);
    let agent = AgentBuilder::<String, Vec<u32>>::new("lister")
        .on_error(|error, _| match error {
            CallError::InvalidOutput(..) => Some(
                fix_with::<InvalidOutput>(Hopeless)
                    .or(feedback("a list, please"))
                    .into(),
            ),
            _ => None,
        })
        .model(model)
        .build();
    let outcome = agent.run("go").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), [1, 2]);
    assert!(
        outcome.repairs.any(ChangeKind::Coerced) && outcome.repairs.any(ChangeKind::TrailingComma)
    );
    let refused = lines.of("answer refused;");
    assert_eq!(refused.len(), 1);
    assert!(refused[0].contains("a list, please"), "{}", refused[0]);
    assert_eq!(lines.of("answer repaired;").len(), 1);
}

/// Never repairs anything.
#[agent]
fn hopeless(_broken: String) -> Result<String, Error> {
    Err(Error::new(agents::ErrorKind::Failed, "beyond me"))
}

tool! {
    /// Escalates.
    #[tool(none)]
    async fn giver() -> Result<u32, String> { Err("no".into()) }

    on_error { execution_error(_) => escalate("it is too much", severity = Low) }
}

#[tokio::test]
async fn escalations_are_in_the_log() {
    let lines = Lines::default();
    let _guard = watched_by(lines.clone());
    let script = [Script::call("giver", "{}"), Script::text("then not")];
    let agent = scripted_agent("asker", script).tool(Giver).build();
    agent.run("go").await.unwrap();
    let raised = lines.of("escalated;");
    assert_eq!(
        raised,
        ["escalated; source=giver severity=LOW attempts=1 reason=it is too much"]
    );
    assert_eq!(lines.of("escalation settled;").len(), 1);
}

/// Returns `true` if a line has no control characters, invisible characters or changes of direction.
fn is_safe(line: &str) -> bool {
    let deceives = |c| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !line.chars().any(|c| c.is_control() || deceives(c))
}

#[tokio::test]
async fn what_a_model_writes_cannot_deceive_whoever_reads_the_terminal() {
    let (rtl, zero) = ("\u{202e}", "\u{200b}");
    let (model, _) = ScriptedModel::new([
        Script::call(format!("{rtl}shaky{zero}\u{1b}[2J"), "{}"),
        Script::call("shaky", format!(r#"{{"count": "{rtl}{zero}many"}}"#)),
        Script::text(format!("{rtl}three{zero}\u{9b}")),
        Script::fail(format!("{rtl}no more{zero}\u{1b}[2J")),
    ]);
    let agent = AgentBuilder::<String, u32>::new(format!("counter{rtl}"))
        .tool(Shaky)
        .model(model)
        .build();
    let (lines, screen) = (Arc::new(Mutex::new(Vec::new())), Buffer::default());
    let (sink, live) = (lines.clone(), timeline::live_to(screen.clone(), false));
    let watch = move |event: &run::Event| {
        sink.lock().unwrap().extend(console::line(event, false));
        live(event);
    };
    let outcome = agent.run("go").on_event(watch).outcome().await.unwrap();
    let mut lines = lines.lock().unwrap().clone();
    assert!(lines.len() >= 3, "{lines:?}");
    let drawn = timeline::of(&outcome).to_string();
    lines.extend(drawn.lines().map(str::to_owned));
    let live = screen.text();
    lines.extend(live.lines().map(str::to_owned));
    for line in &lines {
        assert!(is_safe(line), "{line:?}");
    }
    let all = lines.concat();
    assert!(all.contains("\\u{202e}shaky\\u{200b}\\u{1b}[2J"), "{all}");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_asked_again_is_a_line_in_the_log() {
    let lines = Lines::default();
    let _guard = watched_by(lines.clone());
    let busy = || Script::Fail(ModelError::new(ModelErrorKind::Overloaded, "busy"));
    let (first, _) = ScriptedModel::new([busy(), busy()]);
    let (second, _) = ScriptedModel::new([Script::text("here")]);
    let wait = constant(Duration::from_secs(2));
    let model = first.retry(2).backoff(wait).or(second);
    let agent = AgentBuilder::<String, String>::new("clerk").model(model);
    agent.build().run("go").await.unwrap();
    assert_eq!(
        lines.of("the model did not answer"),
        [
            "the model did not answer, and is asked again; model=\"scripted\" attempt=1 wait=2s error=\"busy\"",
            "the model did not answer, and another one is asked; model=\"scripted\" instead=\"scripted\" error=\"busy; the model was asked 2 times\"",
        ]
    );
}

/// An error that ends a run is shown, even if nobody stopped the run.
#[tokio::test]
async fn a_model_that_fails_is_a_line_on_the_console() {
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let sink = lines.clone();
    let agent = scripted_agent("clerk", [Script::fail("the cable is cut")]);
    let agent = agent.build();
    let run = agent.run("go").on_event(move |event: &run::Event| {
        sink.lock().unwrap().extend(console::line(event, false));
    });
    let error = run.await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model, "{error}");
    let lines = lines.lock().unwrap();
    assert_eq!(lines[0], format!("✗ failed: {error}"));
}
