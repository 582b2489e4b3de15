//! How failing calls behave, one sentence a test.

mod agents;
mod arguments;
mod bounds;
mod defects;
mod own;
mod repairing;
mod retrying;

use ::agents::{
    Agent, AgentBuilder, Budget, Error, Outcome,
    agent::{ModelAgent, Skill},
    error::{AnyError, ErrorReceipt},
    recovery::{
        CallError, Decision, Deserialization, ErrorContext, Execution, Failure, Fault, InvalidArgs,
        Plan, Raw, Repair,
    },
    run::{Event, EventKind, ToolEnvelope},
    testing::{Script, ScriptedModel},
    tool,
};
use serde_json::Value;
use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

pub(crate) type Plain = ModelAgent<'static, String, String>;
pub(crate) type ScribeAgent = Arc<ModelAgent<'static, Repair, String>>;

/// Counts its runs, and fails as often as it is told to.
#[tool(reads)]
pub(crate) async fn job(
    /// What.
    n: u32,
    /// For whom.
    #[serde(default)]
    name: Option<String>,
    #[inject] runs: Arc<AtomicU32>,
    #[inject] failures: u32,
) -> io::Result<String> {
    match runs.fetch_add(1, SeqCst) {
        run if run < failures => Err(io::Error::other(format!("failure {}", run + 1))),
        _ => Ok(name.map_or(format!("did {n}"), |name| format!("did {n} for {name}"))),
    }
}

/// The arms of an agent.
pub(crate) trait Arms:
    Fn(CallError<'_, AnyError>, &ErrorContext) -> Option<Plan> + Send + Sync + 'static
{
}

impl<F> Arms for F where
    F: Fn(CallError<'_, AnyError>, &ErrorContext) -> Option<Plan> + Send + Sync + 'static
{
}

/// No arms at all.
fn no_arms() -> impl Arms {
    |_: CallError<'_, AnyError>, _: &ErrorContext| None
}

/// An `invalid_args` arm alone.
fn on_args(
    arm: impl Fn(&Raw<'_>, &Fault<'_>) -> Decision<InvalidArgs> + Send + Sync + 'static,
) -> impl Arms {
    move |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
        CallError::InvalidArgs(raw, fault) => Some(arm(raw, fault).into()),
        _ => None,
    }
}

/// A `deserialization_error` arm alone.
fn on_field(
    arm: impl Fn(Option<&Value>, &Fault<'_>) -> Decision<Deserialization> + Send + Sync + 'static,
) -> impl Arms {
    move |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
        CallError::Deserialization(value, fault) => Some(arm(value, fault).into()),
        _ => None,
    }
}

/// An `execution_error` arm alone.
fn on_failure(
    arm: impl Fn(&Failure<'_, AnyError>) -> Decision<Execution> + Send + Sync + 'static,
) -> impl Arms {
    move |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
        CallError::Execution(failure) => Some(arm(&failure).into()),
        _ => None,
    }
}

/// What can be seen of a run from outside.
struct Seen {
    outcome: Outcome<String>,
    model: ScriptedModel,
    events: Vec<Event>,
    runs: u32,
}

/// One call of [`job`], which fails so often at first, and an answer.
async fn call(failures: u32, arguments: &str, arms: impl Arms) -> Seen {
    let script = vec![Script::call("job", arguments), Script::text("end")];
    see(failures, script, arms).await
}

/// An agent with [`job`] and these default arms, on this script.
async fn see(failures: u32, script: Vec<Script>, arms: impl Arms) -> Seen {
    let runs = Arc::new(AtomicU32::new(0));
    let tool = Job {
        runs: runs.clone(),
        failures,
    };
    let agent = AgentBuilder::new("worker").tool(tool).on_error(arms);
    let seen = watch(agent, script).await;
    Seen {
        runs: runs.load(SeqCst),
        ..seen
    }
}

/// Any agent, on this script.
async fn watch(agent: AgentBuilder<'static, String, String>, script: Vec<Script>) -> Seen {
    let (model, handle) = ScriptedModel::new(script);
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let sink = events.clone();
    let outcome = agent
        .model(model)
        .build()
        .run("go")
        .on_event(move |event| sink.lock().expect("nobody panicked").push(event.clone()))
        .outcome()
        .await
        .expect("the agent is well built");
    let events = std::mem::take(&mut *events.lock().expect("nobody panicked"));
    Seen {
        outcome,
        model: handle,
        events,
        runs: 0,
    }
}

impl Seen {
    /// What the model was told about its first call; nothing if it was not asked again.
    fn told(&self) -> String {
        let requests = self.model.requests();
        let first = requests
            .get(1)
            .and_then(|asked| asked.results().first().map(|told| told.1.to_owned()));
        first.unwrap_or_default()
    }

    fn receipt(&self) -> &ToolEnvelope {
        self.outcome
            .outputs
            .receipts()
            .next()
            .expect("there was a call")
    }

    fn error(&self) -> &ErrorReceipt {
        self.receipt().error.as_ref().expect("the call failed")
    }

    fn count(&self, kind: impl Fn(&EventKind) -> bool) -> usize {
        self.events.iter().filter(|event| kind(&event.kind)).count()
    }
}

/// A repair agent without a model, and what it was asked.
fn scribe(
    answer: impl Fn(&Repair) -> Result<String, Error> + Send + Sync + 'static,
) -> (ScribeAgent, Arc<Mutex<Vec<Repair>>>) {
    let asked: Arc<Mutex<Vec<Repair>>> = Arc::default();
    let seen = asked.clone();
    let fix = Skill::native("fix", "Repairs.", move |repair: Repair| {
        let result = answer(&repair);
        seen.lock().expect("nobody panicked").push(repair);
        async move { result }
    });
    (
        Arc::new(AgentBuilder::new("scribe").skill(fix).build()),
        asked,
    )
}

/// A repair agent that a model drives for one turn.
fn model_scribe(script: impl IntoIterator<Item = Script>) -> (ScribeAgent, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(script);
    let agent = AgentBuilder::new("scribe")
        .prompt("Repair JSON.")
        .budget(Budget::new().max_turns(1))
        .model(model)
        .build();
    (Arc::new(agent), handle)
}
