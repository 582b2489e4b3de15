//! Generated runs.

mod models;

use super::world::{REMEMBERED, Slow, World};
use agents::{
    Agent, AgentBuilder, Budget, Effects, Error, Outcome, Severity,
    agent::{ModelAgent, Progress, Skill},
    async_trait,
    blob::MemoryBlobs,
    compose::Step,
    escalation::{self, Escalation, Resolution},
    journal::{CallStep, Entry, Follower, MemoryJournal},
    model::Model,
    rate::RateLimiter,
    recovery::{CallError, Decision, Kind, Plan, Repair, *},
    run::{Approval, ApprovalRequest, Event, Finding, Findings, RunContext},
    team::{Member, delegate_named},
    tool::{
        Cache, FnTool, IntoTool, NeedsApproval as Asks, Pattern, RemoteTool, SharedTool,
        ToolContext, ToolSet, ToolSource, ToolSpec, done, not_done,
    },
};
use models::{Down, Drafting, Flaky, Helping, Planned, Relieving, Scribe};
use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Message of panics that are part of a case.
pub(super) const MEANT: &str = "meant to panic";

const TEXTS: [&str; 10] = [
    r#"{"n":1}"#,
    r#"{"n": 2}"#,
    r#"{"n":"13"}"#,
    r#"{"n":"three"}"#,
    r#"{"m":1}"#,
    "```json\n{\"n\": 1,}\n```",
    "rubbish",
    "more rubbish",
    "panic",
    "null",
];

/// Step that an arm may take.
#[derive(Clone, Debug)]
pub(super) enum Try {
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

/// Response of the lead to an escalation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Handler {
    None,
    Inherit,
    Model,
    Partial,
    Reroute,
    Skill,
}

/// Wrapper around a model whose requests may fail.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Around {
    Nothing,
    /// Every other request fails, and is retried.
    Retry,
    /// A model that fails every request comes first.
    Other,
}

/// Description of a run, as data.
#[derive(Clone, Debug)]
pub(super) struct Case {
    rounds: Vec<Vec<(&'static str, String)>>,
    answers: Vec<&'static str>,
    /// Arms for unreadable arguments, unfit arguments, executions and answers.
    tries: [Vec<Try>; 4],
    scribe: Vec<Say>,
    handler: Handler,
    /// Number of replies without a skill's name before the model chooses a skill; `None` if it does not choose.
    choosing: Option<usize>,
    /// Number of the execution that a limiter holds back.
    held_back: Option<u32>,
    /// Wrapper around the lead's model.
    around: Around,
    /// `true` if several calls run at once, and one of them may end the run.
    is_race: bool,
    /// Severity of the helper's escalations.
    stuck: Severity,
    /// `None` if the lead waits for the helper; `Some(true)` if the helper works in the background until the lead answers,
    /// and `Some(false)` if the lead's answer waits for it.
    background: Option<bool>,
    /// Seed for the changes of the journal.
    pub(super) seed: u64,
}

impl Case {
    /// Returns `true` if the case ends alike wherever it is interrupted. A limiter's counts and a cancellation do not
    /// survive the process. A repair agent that gives up is asked again if the process ends before its reply is
    /// stored, and may have no turn left. An agent that failed inside a function is run again, and may succeed then.
    /// The order of two simultaneous ends is random. A result from the background may be told before another turn.
    pub(super) fn comes_to_the_same_end(&self) -> bool {
        let mut calls = self.rounds.iter().flatten();
        let mut said = self.scribe.iter();
        let may_fail =
            |tool: &str| matches!(tool, "ask" | "fetch") && self.stuck == Severity::Critical;
        self.held_back.is_none()
            && !self.is_race
            && self.background.is_none()
            && calls.all(|(tool, _)| *tool != "halt" && !may_fail(tool))
            && !said.any(|said| matches!(said, Say::Call("escalate" | "throw_exception")))
    }
}

fn tries(deadly: bool, is_race: bool) -> impl Strategy<Value = Vec<Try>> {
    let end = match deadly {
        true => select(vec![Try::Throw, Try::Escalate(Severity::Critical)]).boxed(),
        false => Just(Try::Feedback).boxed(),
    };
    let one = prop_oneof![
        3 => proptest::option::of(select(&TEXTS[..])).prop_map(Try::Fix),
        3 => (0..4_u32).prop_map(Try::Ask),
        2 => proptest::option::of(0..7_u32).prop_map(Try::Sanitize),
        3 => (1..5_u32).prop_map(Try::Retry),
        1 => Just(Try::Feedback),
        1 => Just(Try::Inherit),
        if is_race { 6 } else { 1 } => select(vec![Severity::Low, Severity::High]).prop_map(Try::Escalate),
        1 => end,
    ];
    prop::collection::vec(one, 0..4)
}

const TOOLS: [&str; 22] = [
    "look",
    "read",
    "note",
    "pay",
    "wire",
    "sign",
    "ask",
    "helper",
    "no_such",
    "read",
    "note",
    "pay",
    "wire",
    "sign",
    "look",
    "fetch",
    "polish",
    "clerk",
    "mail",
    "mail",
    "far_read",
    "hand_off_to_relief",
];

fn cases(calls: usize, deadly: bool) -> impl Strategy<Value = Case> {
    let is_race = deadly && calls > 1;
    let tools = match (deadly, is_race) {
        (_, true) => [&TOOLS[..], &["halt"], &["jam"; 8]].concat(),
        (true, false) => [&TOOLS[..], &["halt"]].concat(),
        (false, false) => TOOLS.to_vec(),
    };
    let number = (0..30_u32).prop_map(|n| format!(r#"{{"n":{n}}}"#));
    let broken = select(&TEXTS[..]).prop_map(str::to_owned);
    let call = (select(tools), prop_oneof![4 => number, 2 => broken]);
    let call = call.prop_map(|(tool, arguments)| {
        let n = digits(&arguments);
        match tool {
            "helper" | "clerk" => (tool, format!(r#"{{"input":"{n}"}}"#)),
            "hand_off_to_relief" => (tool, "{}".to_owned()),
            // The same arguments occur repeatedly, so that the cache is used.
            "look" => (tool, format!(r#"{{"n":{}}}"#, 4 + n % 2)),
            _ => (tool, arguments),
        }
    });
    let ending = match deadly {
        true => "throw_exception",
        false => "nonsense",
    };
    let say = prop_oneof![
        4 => select(&TEXTS[..]).prop_map(Say::Text),
        1 => select(vec!["escalate", "nonsense", ending]).prop_map(Say::Call),
        1 => Just(Say::Fail),
    ];
    let handlers = match deadly {
        // A decision for one call has no effect if another call ends the run.
        true if is_race => vec![
            Handler::Model,
            Handler::Model,
            Handler::Model,
            Handler::Partial,
            Handler::Reroute,
        ],
        true => vec![
            Handler::None,
            Handler::Model,
            Handler::Partial,
            Handler::Reroute,
            Handler::Skill,
        ],
        false => vec![Handler::None, Handler::Inherit, Handler::Model],
    };
    let stuck = match deadly {
        true => vec![Severity::Low, Severity::High, Severity::Critical],
        false => vec![Severity::Low, Severity::High],
    };
    let answers = vec!["about seven", "I do not know", "7", "7", "!"];
    let answers = match deadly {
        true => answers,
        false => answers[..4].to_vec(),
    };
    let around = vec![Around::Nothing, Around::Retry, Around::Other];
    (
        prop::collection::vec(prop::collection::vec(call, 1..=calls), 1..4),
        prop::collection::vec(select(answers), 1..3),
        [(); 4].map(|()| tries(deadly, is_race)),
        prop::collection::vec(say, 1..4),
        select(handlers),
        proptest::option::weighted(0.3, 0..2_usize),
        proptest::option::weighted(0.1, 0..5_u32),
        select(around),
        (
            select(stuck),
            proptest::option::weighted(0.3, any::<bool>()),
            any::<u64>(),
        ),
    )
        .prop_map(move |case| {
            let (rounds, answers, tries, scribe, handler, choosing, held_back, around, rest) = case;
            let (stuck, background, seed) = rest;
            Case {
                rounds,
                answers,
                tries,
                scribe,
                handler,
                choosing,
                held_back,
                around,
                is_race,
                stuck,
                background,
                seed,
            }
        })
}

/// Generates several calls per reply, single calls that may end the run, or several that may.
pub(super) fn case() -> impl Strategy<Value = Case> {
    prop_oneof![2 => cases(3, false), 2 => cases(1, true), 1 => cases(3, true)]
}

/// Returns the number that the digits of a text form.
fn digits(text: &str) -> u32 {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_default()
}

fn spec(name: &'static str, effects: Effects) -> ToolSpec {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    ToolSpec::new(name, "Does it.", effects, schema)
}

fn number(args: &Value) -> u64 {
    args["n"].as_u64().unwrap_or_default()
}

/// Creates a tool that writes. By its argument, it fails before its effect, or panics after it.
fn writer(world: &World, name: &'static str, spec: ToolSpec) -> FnTool {
    let world = world.clone();
    FnTool::with_spec(spec, move |args, cx: ToolContext| {
        world.ask();
        let (n, world) = (number(&args), world.clone());
        async move {
            tokio::task::yield_now().await;
            if n % 5 == 4 {
                return Err(format!("{n} cannot be done"));
            }
            world.takes_effect(name, &cx);
            // A tool with an inquiry never fails after its effect.
            assert!(n % 7 != 6 || name == "wire", "{MEANT}: {n}");
            tokio::task::yield_now().await;
            Ok(format!("did {n}"))
        }
    })
}

/// Creates a tool that reads. By its argument, it fails the first time, or always panics.
fn reader(world: &World) -> FnTool {
    let world = world.clone();
    FnTool::with_spec(
        spec("read", Effects::Reads),
        move |args, cx: ToolContext| {
            world.ask();
            let n = number(&args);
            async move {
                tokio::task::yield_now().await;
                assert!(n % 7 != 6, "{MEANT}: {n}");
                if n % 5 == 1 {
                    assert!(cx.secret("sesame").await.is_err());
                }
                match n % 5 == 4 && cx.attempt() == 1 {
                    true => Err(format!("{n} is not there yet")),
                    false => Ok(n),
                }
            }
        },
    )
}

/// Creates a tool that reads and always fails; several of its calls fail in parallel.
fn jams(world: &World) -> FnTool {
    let world = world.clone();
    FnTool::with_spec(spec("jam", Effects::Reads), move |_, _| {
        world.ask();
        async { Err::<u32, _>("it is jammed") }
    })
}

/// Creates a tool whose result is cached, and may be long.
fn looker(world: &World) -> FnTool {
    let world = world.clone();
    let spec = spec("look", Effects::Reads).cache(Cache::Forever);
    FnTool::with_spec(spec, move |args, _| {
        world.ask();
        let n = number(&args);
        async move { Ok::<_, String>("x".repeat(if n % 6 == 5 { 300 } else { 3 })) }
    })
}

/// Source that lists a tool which reads.
#[derive(Clone)]
struct Elsewhere(World);

#[async_trait]
impl ToolSource for Elsewhere {
    fn names(&self) -> Pattern {
        "far_*".into()
    }

    async fn list(&self, _: &RunContext) -> Result<Vec<RemoteTool>, Error> {
        self.0.ask();
        tokio::task::yield_now().await;
        let schema = spec("far_read", Effects::Reads).input_schema;
        let listed = json!([{"name": "far_read", "inputSchema": schema, "annotations": {"readOnlyHint": true}}]);
        Ok(serde_json::from_value(listed).unwrap())
    }

    fn tool(&self, listed: RemoteTool) -> SharedTool {
        let world = self.0.clone();
        let tool = listed.into_tool(move |args, _| {
            world.ask();
            async move { Ok::<_, String>(number(&args)) }
        });
        tool.into_tool()
    }
}

type Worker<O> = ModelAgent<'static, String, O>;

fn helper(case: &Case, world: &World, name: &'static str) -> Worker<String> {
    let (stuck, asked, arms) = (case.stuck, world.clone(), world.clone());
    let gives_up = FnTool::with_spec(spec("stuck", Effects::Reads), move |_, _| {
        asked.ask();
        async { Err::<u32, _>("it does not move") }
    });
    AgentBuilder::new(name)
        .tool(writer(
            world,
            "note",
            spec("note", Effects::Writes).idempotent(),
        ))
        .tool(gives_up)
        .on_error(move |error, _| {
            arms.ask();
            match error {
                CallError::Execution(_) => {
                    Some(escalate::<Execution>("stuck").severity(stuck).into())
                }
                _ => None,
            }
        })
        .model(Helping(world.clone()))
        .build()
}

/// Creates a tool that runs the helper, as a part of the run or as a separate run.
fn asks(case: &Case, world: &World) -> FnTool {
    let (helper, world) = (Arc::new(helper(case, world, "helper")), world.clone());
    FnTool::with_spec(spec("ask", Effects::None), move |args, _| {
        world.ask();
        let (n, helper) = (number(&args), helper.clone());
        async move {
            let said = match n % 2 {
                0 => helper.run(n.to_string()).await,
                _ => match helper.run(n.to_string()).outcome().await {
                    Ok(outcome) => outcome.result,
                    Err(error) => Err(error),
                },
            };
            said.map_err(|error| error.to_string())
        }
    })
}

/// Creates a tool that runs the clerk, which needs approval.
fn fetches(world: &World) -> FnTool {
    let world = world.clone();
    FnTool::with_spec(spec("fetch", Effects::None), move |args, _| {
        world.ask();
        let n = number(&args);
        async move {
            let clerk = delegate_named::<String, String>("clerk");
            let clerk = clerk.map_err(|error| error.to_string())?;
            let said = clerk.run(n.to_string()).await;
            said.map_err(|error| error.to_string())
        }
    })
}

/// Creates a tool that runs the drafter until its draft has an odd number.
fn polishes(world: &World) -> FnTool {
    let drafter: Worker<String> = AgentBuilder::new("drafter")
        .model(Drafting(world.clone()))
        .build();
    let is_good = |draft: String| match digits(&draft) {
        n if n.is_multiple_of(2) => Step::Again((n + 1).to_string()),
        _ => Step::Done(draft),
    };
    let (polisher, world) = (Arc::new(drafter.until(is_good).at_most(2)), world.clone());
    FnTool::with_spec(spec("polish", Effects::None), move |args, _| {
        world.ask();
        let (n, polisher) = (number(&args), polisher.clone());
        async move {
            let said = polisher.run(n.to_string()).await;
            said.map_err(|error| error.to_string())
        }
    })
}

fn halts(world: &World, token: &CancellationToken) -> FnTool {
    let (world, token) = (world.clone(), token.clone());
    FnTool::with_spec(spec("halt", Effects::None), move |_, _| {
        world.ask();
        let token = token.clone();
        async move {
            token.cancel();
            tokio::task::yield_now().await;
            Ok::<_, String>("halted")
        }
    })
}

type Fixing = Arc<ModelAgent<'static, Repair, String>>;

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

fn arm<E>(plans: &[Vec<Try>; 4], scribe: &Fixing, error: &CallError<'_, E>) -> Option<Plan> {
    match error {
        CallError::InvalidArgs(raw, _) => {
            assert!(!raw.contains("panic"), "{MEANT}: the arm");
            chain::<InvalidArgs>(&plans[0], |one| common(one, scribe))
        }
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
            chain::<InvalidOutput>(&plans[3], |one| common(one, scribe))
        }
    }
}

fn handled(case: &Case, world: &World) -> Resolution<String, u32> {
    world.ask();
    match case.handler {
        Handler::Model => {
            let spare = Planned(case.clone(), world.clone(), "spare");
            escalation::retry_with_model(spare)
        }
        Handler::Partial => escalation::return_partial_result(3),
        Handler::Reroute => {
            let only = Case {
                rounds: Vec::new(),
                answers: vec!["9"],
                choosing: None,
                ..case.clone()
            };
            let deputy: Worker<u32> = AgentBuilder::new("deputy")
                .model(Planned(only, world.clone(), "deputy"))
                .build();
            escalation::reroute_to(deputy)
        }
        // Without skills that is not possible, and the escalation climbs on.
        Handler::Skill => escalation::reroute_to_skill("guess"),
        Handler::None | Handler::Inherit => escalation::inherit(),
    }
}

/// Creates the agent to which the lead may hand the conversation.
fn relief(world: &World) -> Worker<u32> {
    let note = spec("note", Effects::Writes).idempotent();
    AgentBuilder::new("relief")
        .tool(writer(world, "note", note))
        .model(Relieving(world.clone()))
        .build()
}

/// Returns the model of the lead with its wrapper.
fn driving(case: &Case, world: &World) -> Arc<dyn Model> {
    let planned = Planned(case.clone(), world.clone(), "planned");
    match case.around {
        Around::Nothing => Arc::new(planned),
        Around::Retry => {
            let flaky = Flaky(planned, AtomicU32::new(0));
            Arc::new(flaky.retry(2).backoff(constant(Duration::from_secs(1))))
        }
        Around::Other => Arc::new(Down(world.clone()).or(planned)),
    }
}

fn lead(case: &Case, world: &World, token: &CancellationToken) -> Worker<u32> {
    let scribe: Fixing = Arc::new(
        AgentBuilder::new("scribe")
            .model(Scribe(case.scribe.clone(), world.clone()))
            .budget(Budget::new().max_turns(2))
            .build(),
    );
    let (tries, fixing, asked) = (case.tries.clone(), scribe.clone(), world.clone());
    let found = world.clone();
    let wire = writer(world, "wire", spec("wire", Effects::Writes));
    let wire = wire.in_doubt(move |_, cx: ToolContext| {
        found.ask();
        let known = found.knows(&cx.idempotency_key());
        async move {
            Ok::<_, String>(match known {
                true => done("did it before"),
                false => not_done(),
            })
        }
    });
    let signed = spec("sign", Effects::Writes)
        .idempotent()
        .approval(Asks::Always);
    let mailed = spec("mail", Effects::Writes).idempotent_for(REMEMBERED);
    let lead = AgentBuilder::new("lead")
        .tools(ToolSet::new().with_all(&Elsewhere(world.clone())))
        .tool(looker(world))
        .tool(reader(world))
        .tool(writer(
            world,
            "note",
            spec("note", Effects::Writes).idempotent(),
        ))
        .tool(writer(world, "pay", spec("pay", Effects::Writes)))
        .tool(wire)
        .tool(writer(world, "sign", signed))
        .tool(writer(world, "mail", mailed))
        .tool(asks(case, world))
        .tool(fetches(world))
        .tool(polishes(world))
        .tool(jams(world))
        .tool(halts(world, token))
        .hand_off(relief(world))
        .fixer(scribe)
        .on_error(move |error, _| {
            asked.ask();
            arm(&tries, &fixing, &error)
        })
        .budget(Budget::new().max_recursion(1000))
        .model(driving(case, world));
    let lead = match case.choosing {
        Some(_) => lead
            .skill(Skill::model("sums", "Does sums."))
            .skill(Skill::native("guess", "Guesses.", |_: String| async {
                Ok(5)
            })),
        None => lead,
    };
    let (case, world) = (case.clone(), world.clone());
    match case.handler {
        Handler::None => lead.build(),
        _ => lead
            .on_escalation(move |_: Escalation| handled(&case, &world))
            .build(),
    }
}

struct HoldsBack(AtomicU32, u32);

#[async_trait]
impl RateLimiter for HoldsBack {
    async fn try_acquire(&self, _: &str, _: &ToolSpec) -> Result<(), Duration> {
        match self.0.fetch_add(1, SeqCst) == self.1 {
            true => Err(Duration::from_secs(60)),
            false => Ok(()),
        }
    }
}

fn judge(request: &ApprovalRequest) -> Approval {
    match digits(request.args.as_str()) % 4 {
        3 => Approval::deny("not this one"),
        2 => Approval::Revise {
            note: "take another".into(),
        },
        1 if digits(request.args.as_str()) % 8 == 5 => {
            let mut args = request.args.to_value().unwrap_or_default();
            if let Some(fields) = args.as_object_mut() {
                fields
                    .values_mut()
                    .filter(|value| value.is_u64())
                    .for_each(|value| *value = 44.into());
            }
            Approval::approve_with(args)
        }
        _ => Approval::Approve,
    }
}

/// Says that each call which has begun took effect, if anybody doubts it.
fn found_out(entries: &[Entry]) -> Findings {
    let (findings, mut follower) = (Findings::new(), Follower::new());
    for entry in entries {
        let step = follower.on(entry).ok().and_then(|followed| followed.step);
        if let Some(CallStep::Began(began)) = step {
            findings.add(began.call_id, Finding::took_effect().by("grace"));
        }
    }
    findings
}

/// Runs a case, or resumes it. Some resumed runs are first put down, if they wait for a person.
pub(super) async fn run(
    case: &Case,
    world: &World,
    journal: MemoryJournal,
) -> Result<Outcome<u32>, Error> {
    let token = CancellationToken::new();
    let team = Member::new(lead(case, world, &token))
        .confirm_named("clerk")
        .delegate(match case.background {
            None => Member::new(helper(case, world, "helper")),
            Some(false) => Member::new(helper(case, world, "helper")).background(),
            Some(true) => Member::new(helper(case, world, "helper")).background_until_answer(),
        })
        .delegate(helper(case, world, "clerk"))
        .build();
    let is_resumed = !journal.entries().is_empty();
    let findings = match is_resumed && case.seed.is_multiple_of(5) {
        true => found_out(&journal.entries()),
        false => Findings::new(),
    };
    let start = || {
        let subscriber = world.clone();
        let run = team
            .run("go")
            .journal(Slow(journal.clone()))
            .findings(findings.clone())
            .clock(world.starts(&journal.entries(), case.seed))
            .cancel(token.clone())
            .blobs(MemoryBlobs::new())
            .max_output_bytes(200)
            .traces_url("https://traces.example/{trace_id}/{run_id}")
            .on_event(move |event: &Event| subscriber.hears(event));
        match case.held_back {
            Some(at) => run.rate_limits(HoldsBack(AtomicU32::new(0), at)),
            None => run,
        }
    };
    if is_resumed && case.seed.is_multiple_of(3) {
        let nobody = |_: ApprovalRequest| std::future::pending::<Approval>();
        let put_down = start().approver(nobody).until_waiting().await?;
        if let Progress::Done(outcome) = put_down {
            return Ok(outcome);
        }
    }
    let approver = world.clone();
    let run = start().approver(move |request: ApprovalRequest| {
        approver.ask();
        async move { judge(&request) }
    });
    run.outcome().await
}
