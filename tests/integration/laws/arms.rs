//! Property tests that hold for all scripts of calls and all arms.

use crate::world::{Plain, put_down, spec_with_n};
use agents::{
    Agent, AgentBuilder, Budget, Effects, ErrorKind, Outcome, Severity,
    agent::Run,
    async_trait,
    journal::MemoryJournal,
    model::{Message, Model, ModelError, ModelErrorKind, Reply, Request, ToolCall, Usage},
    recovery::{CallError, Decision, Kind, Plan, Repair, *},
    run::{EventKind, RepairKind, RepairStep},
    tool::FnTool,
};
use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};
use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

/// Texts of arguments, from the model, from arms and from repair agents.
const TEXTS: [&str; 10] = [
    r#"{"n":0}"#,
    r#"{"n": 2}"#,
    r#"{"n":"13"}"#,
    r#"{"n":6}"#,
    r#"{"n":"three"}"#,
    r#"{"m":1}"#,
    "```json\n{\"n\": 1,}\n```",
    "rubbish",
    "more rubbish",
    "null",
];

/// Step that an arm may take.
#[derive(Clone, Debug)]
enum Try {
    Fix(Option<&'static str>),
    Ask(u32),
    Sanitize(Option<u32>),
    Retry(u32),
    Feedback,
    Inherit,
    Escalate(Severity),
    Throw,
}

/// Reply of a repair agent's model to one attempt.
#[derive(Clone, Debug)]
enum Say {
    Text(&'static str),
    Call(&'static str),
    Fail,
}

/// Description of a run, as data.
#[derive(Clone, Debug)]
struct Case {
    rounds: Vec<Vec<(&'static str, &'static str)>>,
    answers: Vec<&'static str>,
    for_tool: [Vec<Try>; 3],
    default: [Vec<Try>; 4],
    scribe: Vec<Say>,
}

fn tries(deadly: bool) -> impl Strategy<Value = Vec<Try>> {
    let end = if deadly {
        prop_oneof![Just(Try::Throw), Just(Try::Escalate(Severity::Critical))].boxed()
    } else {
        Just(Try::Feedback).boxed()
    };
    let one = prop_oneof![
        3 => proptest::option::of(select(&TEXTS[..])).prop_map(Try::Fix),
        3 => (0..4_u32).prop_map(Try::Ask),
        2 => proptest::option::of(0..7_u32).prop_map(Try::Sanitize),
        3 => (1..5_u32).prop_map(Try::Retry),
        1 => Just(Try::Feedback),
        1 => Just(Try::Inherit),
        1 => select(vec![Severity::Low, Severity::High]).prop_map(Try::Escalate),
        1 => end,
    ];
    prop::collection::vec(one, 0..4)
}

fn case(calls: usize, deadly: bool) -> impl Strategy<Value = Case> {
    let call = (
        select(vec!["job", "job", "job", "nope"]),
        select(&TEXTS[..]),
    );
    let tool = if deadly {
        "throw_exception"
    } else {
        "nonsense"
    };
    let say = prop_oneof![
        4 => select(&TEXTS[..]).prop_map(Say::Text),
        1 => select(vec!["escalate", "nonsense", tool]).prop_map(Say::Call),
        1 => Just(Say::Fail),
    ];
    (
        prop::collection::vec(prop::collection::vec(call, 1..=calls), 1..4),
        prop::collection::vec(select(vec!["about seven", "I do not know", "7"]), 1..3),
        [(); 3].map(|()| tries(deadly)),
        [(); 4].map(|()| tries(deadly)),
        prop::collection::vec(say, 1..4),
    )
        .prop_map(|(rounds, answers, for_tool, default, scribe)| Case {
            rounds,
            answers,
            for_tool,
            default,
            scribe,
        })
}

/// Generates several calls per reply, or single calls that may end the run. The order of two simultaneous ends would
/// be random.
fn any_case() -> impl Strategy<Value = Case> {
    prop_oneof![case(3, false), case(1, true)]
}

/// A model whose replies depend only on the conversation, so that a run can be resumed anywhere.
struct Planned(Case);

#[async_trait]
impl Model for Planned {
    fn id(&self) -> &str {
        "planned"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        tokio::task::yield_now().await;
        let said = |message: &&Message| matches!(message, Message::Assistant { .. });
        let turn = request.messages().iter().filter(said).count();
        let Planned(case) = self;
        let answer = || case.answers.get(turn - case.rounds.len()).unwrap_or(&"7");
        Ok(match case.rounds.get(turn) {
            Some(calls) => reply("", calls),
            None => reply(answer(), &[]),
        })
    }
}

struct Scribe(Vec<Say>);

#[async_trait]
impl Model for Scribe {
    fn id(&self) -> &str {
        "scribe"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        tokio::task::yield_now().await;
        let asked = request.messages().iter().find_map(|message| match message {
            Message::User { content } => serde_json::from_str::<Repair>(content).ok(),
            _ => None,
        });
        let attempt = asked.map_or(1, |repair| repair.attempt) as usize;
        match &self.0[(attempt - 1) % self.0.len()] {
            Say::Text(text) => Ok(reply(text, &[])),
            Say::Call(tool) => Ok(reply("", &[(tool, r#"{"reason":"so"}"#)])),
            Say::Fail => Err(ModelError::new(ModelErrorKind::Refused, "no")),
        }
    }
}

fn reply(content: &str, calls: &[(&str, &str)]) -> Reply {
    let calls = calls.iter().map(|(name, arguments)| ToolCall {
        id: String::new(),
        name: (*name).into(),
        arguments: (*arguments).into(),
    });
    let usage = Usage {
        input_tokens: 10,
        output_tokens: 5,
        requests: 1,
        ..Usage::default()
    };
    Reply {
        content: content.into(),
        calls: calls.collect(),
        usage,
        ..Reply::default()
    }
}

/// Creates a tool that fails as often as its argument says, and hangs at 6. It keeps no state between runs.
fn job() -> FnTool {
    let spec = spec_with_n("job", Effects::Reads).timeout(Duration::from_secs(1));
    FnTool::with_spec(spec, |args, cx| async move {
        match args["n"].as_u64().unwrap_or_default() {
            6 => std::future::pending().await,
            n if u64::from(cx.attempt()) <= n % 5 => Err(format!("failure {}", cx.attempt())),
            n => Ok(format!("{n} after {}", cx.attempt())),
        }
    })
}

type Fixing = Arc<Plain<Repair>>;

fn common<K: Kind>(one: &Try, scribe: &Fixing) -> Option<Decision<K>> {
    Some(match one {
        Try::Fix(text) => fix(text.map(str::to_owned)),
        Try::Ask(retries) => fix_with(scribe.clone()).retries(*retries),
        Try::Feedback => feedback("try again"),
        Try::Inherit => inherit(),
        Try::Escalate(severity) => escalate("given up").severity(*severity),
        Try::Throw => throw("enough"),
        Try::Sanitize(_) | Try::Retry(_) => return None,
    })
}

fn chain<K: Kind>(tries: &[Try], one: impl Fn(&Try) -> Option<Decision<K>>) -> Option<Plan> {
    tries
        .iter()
        .filter_map(one)
        .reduce(Decision::or)
        .map(Plan::from)
}

fn arm<E>(plans: &[Vec<Try>], scribe: &Fixing, error: &CallError<'_, E>) -> Option<Plan> {
    match error {
        CallError::InvalidArgs(..) => chain::<InvalidArgs>(&plans[0], |one| common(one, scribe)),
        CallError::Deserialization(..) => chain::<Deserialization>(&plans[1], |one| match one {
            Try::Sanitize(n) => Some(sanitize(*n)),
            other => common(other, scribe),
        }),
        CallError::Execution(_) => chain::<Execution>(&plans[2], |one| match one {
            Try::Retry(n) => Some(
                retry()
                    .max_attempts(*n)
                    .backoff(constant(Duration::from_secs(1))),
            ),
            other => common(other, scribe),
        }),
        CallError::InvalidOutput(..) => {
            chain::<InvalidOutput>(plans.get(3)?, |one| common(one, scribe))
        }
    }
}

fn agent(case: &Case) -> Plain<String, u32> {
    let scribe: Fixing = Arc::new(
        AgentBuilder::new("scribe")
            .model(Scribe(case.scribe.clone()))
            .budget(Budget::new().max_turns(2))
            .build(),
    );
    let (for_tool, default) = (case.for_tool.clone(), case.default.clone());
    let (first, second) = (scribe.clone(), scribe.clone());
    AgentBuilder::new("worker")
        .tool(job())
        .fixer(scribe)
        .on_error_of::<String>("job", move |error, _| arm(&for_tool, &first, &error))
        .on_error(move |error, _| arm(&default, &second, &error))
        .budget(Budget::new().max_recursion(1000))
        .build()
}

/// Runs a future with a paused clock, which advances only while all tasks wait.
fn run<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime")
        .block_on(async { tokio::time::timeout(Duration::from_secs(1_000_000), work).await })
        .expect("a run comes to its end")
}

/// Returns the outcome of a run without its times.
fn left(outcome: &Outcome<u32>) -> Value {
    let mut outputs = serde_json::to_value(&outcome.outputs).expect("outputs are data");
    fn timeless(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|key, _| key != "t_start" && key != "t_end");
                members.values_mut().for_each(timeless);
            }
            Value::Array(items) => items.iter_mut().for_each(timeless),
            _ => {}
        }
    }
    timeless(&mut outputs);
    let result = outcome.result.as_ref().map_err(ToString::to_string);
    json!({ "result": result, "stopped": outcome.stopped, "outputs": outputs })
}

fn most_attempts(case: &Case) -> u32 {
    let steps = case.for_tool.iter().chain(&case.default).flatten();
    let attempts = steps.map(|one| if let Try::Retry(n) = one { *n } else { 1 });
    attempts.max().unwrap_or(1).max(1)
}

/// Prepares a run of this case, without further settings.
fn begun<'a>(worker: &'a Plain<String, u32>, case: &Case) -> Run<'a, Plain<String, u32>> {
    worker.run("go").model(Planned(case.clone()))
}

fn cases() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(agents_needs::cases(512))
    }
}

proptest! {
    #![proptest_config(cases())]

    /// Every call has one receipt, and stays within its limits.
    #[test]
    fn every_call_ends_within_its_allowances(case in prop_oneof![any_case(), case(3, true)]) {
        let replied = Arc::new(Mutex::new(0));
        let count = replied.clone();
        let worker = agent(&case);
        let listened = begun(&worker, &case).on_event(move |event| {
            if let (EventKind::ModelReplied { calls, .. }, 0) = (&event.kind, event.depth) {
                *count.lock().unwrap() += calls;
            }
        });
        let outcome = run(listened.outcome()).unwrap();
        let mut seen = 0;
        for receipt in outcome.outputs.receipts() {
            if !matches!(&*receipt.name, "job" | "nope") {
                continue; // the repair agent's own
            }
            seen += 1;
            prop_assert!(receipt.output.is_some() != receipt.error.is_some());
            let fixed = |change: &&RepairStep| change.kind == RepairKind::Fixed;
            let fixed = receipt.repairs.iter().filter(fixed).count();
            prop_assert!(fixed <= 8);
            // A change marked as fixed was used.
            let never_fitted = receipt.attempts.is_empty()
                && receipt.error.as_ref().is_some_and(|error| {
                    matches!(&*error.kind, "InvalidArgs" | "DeserializationError")
                });
            prop_assert!(!never_fitted || fixed == 0, "{:?}", receipt);
            // A fix permits one more execution than retries alone.
            prop_assert!(receipt.attempts.len() <= most_attempts(&case) as usize + fixed);
            let numbers = receipt.attempts.iter().map(|attempt| attempt.number as usize);
            prop_assert!(numbers.eq(1..=receipt.attempts.len()));
        }
        prop_assert_eq!(seen, *replied.lock().unwrap());
        if let Err(error) = outcome.result {
            let meant = error.kind() == ErrorKind::Thrown || error.kind() == ErrorKind::Escalated || error.kind() == ErrorKind::InvalidOutput;
            prop_assert!(meant, "{}", error);
        }
    }

    /// Listening changes nothing.
    #[test]
    fn listening_changes_nothing(case in prop_oneof![any_case(), case(3, true)]) {
        let worker = agent(&case);
        let quiet = run(begun(&worker, &case).outcome()).unwrap();
        let listened = run(begun(&worker, &case).on_event(|_| {}).outcome()).unwrap();
        prop_assert_eq!(left(&quiet), left(&listened));
        prop_assert_eq!(quiet.usage, listened.usage);
    }
}

proptest! {
    // Each case performs many runs.
    #![proptest_config(ProptestConfig { cases: agents_needs::cases(150), ..cases() })]

    /// A run that is interrupted after any entry of its journal and resumed has the same result.
    #[test]
    fn every_entry_leads_to_the_same_end(case in any_case()) {
        let journal = MemoryJournal::new();
        let worker = agent(&case);
        let whole = begun(&worker, &case).journal(journal.clone());
        let whole = run(whole.outcome()).unwrap();
        for at in put_down(&journal) {
            let resumed = begun(&worker, &case).journal(at.journal());
            let resumed = run(resumed.outcome()).unwrap();
            prop_assert_eq!(left(&resumed), left(&whole), "{} of {}", at, at.text());
        }
    }
}
