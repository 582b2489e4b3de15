//! Executions with an unknown effect: they are reported, and nothing repeats their work.

use crate::world::{PutDown, put_down};
use agents::{
    Agent, AgentBuilder, Effects, Outcome, Severity, ToolContext,
    journal::MemoryJournal,
    policy::{Action, Verdict},
    rate::RateLimiter,
    recovery::*,
    run::{Approval, ApprovalRequest, RepairKind, ToolEnvelope},
    testing::{Script, ScriptedModel},
    tool::{FnTool, ToolSpec},
};
use proptest::{prelude::*, sample::select};
use serde_json::json;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

const UNKNOWN: &str = "whether it took effect is not known";
const FIND_OUT: &str = "find that out before calling it again";
const NOT_AGAIN: &str =
    "it was not run again with other arguments, since that could have done it twice";

/// Behaviour of an execution.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Late,
    Panics,
    Errs,
    Pays,
}

/// Decision of an arm.
#[derive(Clone, Debug)]
enum Try {
    Fix(u32),
    Ask,
    Retry,
    Feedback,
    Escalate,
}

/// A tool that pays, with its behaviour in each execution, the arm's decisions, and obstacles in single rounds.
#[derive(Clone, Debug)]
struct Case {
    does: Vec<Does>,
    effects: Effects,
    is_idempotent: bool,
    tries: Vec<Try>,
    /// Number of the round that a limiter holds back; the next two fields are for a rule and a person.
    held_back: u32,
    denied: u32,
    disapproved: u32,
}

impl Case {
    fn new(does: impl Into<Vec<Does>>, tries: impl Into<Vec<Try>>) -> Case {
        Case {
            does: does.into(),
            effects: Effects::Writes,
            is_idempotent: false,
            tries: tries.into(),
            held_back: 0,
            denied: 0,
            disapproved: 0,
        }
    }

    fn idempotent(self) -> Case {
        Case {
            is_idempotent: true,
            ..self
        }
    }
}

/// The idempotency key of each execution.
type Keys = Arc<Mutex<Vec<String>>>;

fn payer(does: Vec<Does>, spec: ToolSpec) -> (FnTool, Keys) {
    let keys = Keys::default();
    let ran = keys.clone();
    let tool = FnTool::with_spec(spec, move |_, cx: ToolContext| {
        let mut ran = ran.lock().unwrap();
        let does = does.get(ran.len()).copied().unwrap_or(Does::Pays);
        ran.push(cx.idempotency_key());
        async move {
            match does {
                Does::Late => std::future::pending().await,
                Does::Panics => panic!("the drawer jams"),
                Does::Errs => Err("the bank is shut"),
                Does::Pays => Ok("paid"),
            }
        }
    });
    (tool, keys)
}

fn plan(tries: &[Try]) -> Option<Plan> {
    let mender = || {
        let skill = |_: Repair| async { Ok::<_, agents::Error>(r#"{"n":77}"#.to_owned()) };
        let skill = agents::agent::Skill::native("mend", "Mends.", skill);
        AgentBuilder::<Repair, String>::new("mender")
            .skill(skill)
            .build()
    };
    let step = |one: &Try| match one {
        Try::Fix(n) => fix::<Execution>(format!(r#"{{"n":{n}}}"#)),
        Try::Ask => fix_with(mender()),
        Try::Retry => retry().max_attempts(3).backoff(none()),
        Try::Feedback => feedback("mind the drawer"),
        Try::Escalate => escalate("it is stuck").severity(Severity::High),
    };
    tries.iter().map(step).reduce(Decision::or).map(Plan::from)
}

struct HoldsBack(AtomicU32, u32);

#[agents::async_trait]
impl RateLimiter for HoldsBack {
    async fn try_acquire(&self, _: &str, _: &ToolSpec) -> Result<(), Duration> {
        match self.0.fetch_add(1, SeqCst) + 1 == self.1 {
            true => Err(Duration::from_secs(60)),
            false => Ok(()),
        }
    }
}

/// Returns the outcome, the keys with which the tool ran, and the result as the model got it.
async fn paid(case: &Case) -> (Outcome<String>, Vec<String>, String) {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let mut spec =
        ToolSpec::new("pay", "Pays.", case.effects, schema).timeout(Duration::from_secs(1));
    if case.is_idempotent {
        spec = spec.idempotent();
    }
    if case.disapproved > 0 {
        spec = spec.approval(agents::tool::NeedsApproval::Always);
    }
    let (tool, keys) = payer(case.does.clone(), spec);
    let (model, handle) = ScriptedModel::new([
        Script::call("pay", r#"{"n":20}"#),
        Script::text("I have done what I could"),
    ]);
    let tries = case.tries.clone();
    let agent = AgentBuilder::<String, String>::new("clerk")
        .tool(tool)
        .on_error(move |error, _| match error {
            CallError::Execution(_) => plan(&tries),
            _ => None,
        })
        .model(model)
        .build();
    let (asked, judged) = (AtomicU32::new(0), AtomicU32::new(0));
    let (disapproved, denied) = (case.disapproved, case.denied);
    let outcome = agent
        .run("Pay.")
        .rate_limits(HoldsBack(AtomicU32::new(0), case.held_back))
        .approver(move |_: ApprovalRequest| {
            let no = asked.fetch_add(1, SeqCst) + 1 == disapproved;
            async move {
                match no {
                    true => Approval::deny("not like this"),
                    false => Approval::Approve,
                }
            }
        })
        .policy(move |action: &Action<'_>| match action {
            Action::Tool(_) if judged.fetch_add(1, SeqCst) + 1 == denied => {
                Verdict::deny("the rules are against it")
            }
            _ => Verdict::Allow,
        })
        .outcome()
        .await
        .unwrap();
    let requests = handle.requests();
    let told = requests.get(1).map(|request| request.last().to_owned());
    let keys = keys.lock().unwrap().clone();
    (outcome, keys, told.unwrap_or_default())
}

fn receipt(outcome: &Outcome<String>) -> &ToolEnvelope {
    outcome.outputs.receipts().next().unwrap()
}

/// Returns the message and the remark of the receipt's error.
fn said(receipt: &ToolEnvelope) -> String {
    let error = receipt.error.as_ref().expect("it failed");
    format!("{}; {}", error.message, error.remark().unwrap_or_default())
}

/// Runs a future with a paused clock, which advances only while all tasks wait.
fn run<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(work)
}

fn case() -> impl Strategy<Value = Case> {
    let does = select(vec![Does::Late, Does::Panics, Does::Errs, Does::Pays]);
    let one = prop_oneof![
        (0..9_u32).prop_map(Try::Fix),
        Just(Try::Ask),
        Just(Try::Retry),
        Just(Try::Feedback),
        Just(Try::Escalate),
    ];
    (
        prop::collection::vec(does, 1..4),
        select(vec![Effects::Writes, Effects::Writes, Effects::Reads]),
        any::<bool>(),
        prop::collection::vec(one, 0..4),
        [0..5_u32, 0..9, 0..4],
    )
        .prop_map(|(does, effects, is_idempotent, tries, stops)| {
            let [held_back, denied, disapproved] = stops;
            Case {
                does,
                effects,
                is_idempotent,
                tries,
                held_back,
                denied,
                disapproved,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(agents_needs::cases(1024)) })]

    /// The model and the receipt's error tell of an execution of which the effect is not known, unless a later one
    /// succeeded or the tool does not write; and nothing runs after it but the same arguments with the same key.
    #[test]
    fn what_may_have_taken_effect_is_told_and_not_done_twice(case in case()) {
        let (outcome, keys, told) = run(paid(&case));
        let receipt = receipt(&outcome);
        let cut_off = |run: usize| matches!(case.does.get(run), Some(Does::Late | Does::Panics));
        let writes = case.effects == Effects::Writes;
        prop_assert_eq!(receipt.attempts.len(), keys.len());
        for (run, attempt) in receipt.attempts.iter().enumerate() {
            prop_assert_eq!(attempt.effect_unknown, writes && cut_off(run), "{:?}", attempt);
            let message = attempt.error.as_ref().map_or("", |error| &error.message);
            prop_assert_eq!(message.contains(UNKNOWN), attempt.effect_unknown, "{}", message);
        }
        let unknown = receipt.attempts.iter().position(|attempt| attempt.effect_unknown);
        if let Some(at) = unknown {
            prop_assert!(keys[at..].iter().all(|key| *key == keys[at]), "{:?}", keys);
            prop_assert!(case.is_idempotent || at + 1 == keys.len(), "it ran again");
        }
        if receipt.is_ok() {
            return Ok(());
        }
        prop_assert_eq!(told.contains(UNKNOWN), unknown.is_some(), "{}", told);
        prop_assert_eq!(said(receipt).contains(UNKNOWN), unknown.is_some(), "{}", said(receipt));
        if unknown.is_some() && !case.is_idempotent {
            prop_assert!(told.contains(FIND_OUT), "{}", told);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_fix_does_not_run_what_may_have_taken_effect() {
    for (does, how) in [
        (Does::Late, "it did not finish within 1s"),
        (Does::Panics, "it panicked: the drawer jams"),
    ] {
        let (outcome, keys, told) = paid(&Case::new([does], [Try::Fix(5), Try::Ask])).await;
        assert_eq!(keys.len(), 1);
        assert!(
            told.ends_with(&format!(
                "in `pay`: {how}, and {UNKNOWN}: {FIND_OUT}; {NOT_AGAIN}"
            )),
            "{told}"
        );
        let receipt = receipt(&outcome);
        assert_eq!(receipt.input.as_str(), r#"{"n":20}"#);
        assert!(receipt.attempts[0].effect_unknown);
        let tried: Vec<_> = receipt.repairs.iter().collect();
        assert!(tried.iter().all(|change| change.kind == RepairKind::Tried));
        let why = "the tool writes and may have taken effect, so it is not run again with other arguments";
        assert_eq!(
            tried.iter().map(|change| &*change.note).collect::<Vec<_>>(),
            [
                format!(r#"`fix` tried `{{"n":5}}` in vain: {why}"#),
                format!("`mender` was not asked: {why}")
            ]
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_plan_goes_on_behind_a_fix_that_is_not_used() {
    let (outcome, keys, told) = paid(&Case::new(
        [Does::Errs, Does::Late],
        [Try::Fix(5), Try::Fix(4), Try::Escalate],
    ))
    .await;
    assert_eq!(keys.len(), 2, "what returned an error may be mended");
    assert_eq!(outcome.escalations.len(), 1);
    assert!(told.contains("`pay` gave up (HIGH): it is stuck"), "{told}");
    assert!(
        told.ends_with(&format!(
            "it has run: it did not finish within 1s, and {UNKNOWN}: {FIND_OUT}"
        )),
        "{told}"
    );
    assert_eq!(receipt(&outcome).input.as_str(), r#"{"n":5}"#);
}

#[tokio::test(start_paused = true)]
async fn an_idempotent_tool_runs_again_with_the_same_arguments_alone() {
    let late = format!("it did not finish within 1s, and {UNKNOWN}");
    let case = Case::new([Does::Late], [Try::Fix(5), Try::Ask]).idempotent();
    let (outcome, keys, told) = paid(&case).await;
    assert_eq!(keys.len(), 1);
    assert!(told.ends_with(&format!("{late}; {NOT_AGAIN}")), "{told}");
    assert_eq!(receipt(&outcome).input.as_str(), r#"{"n":20}"#);

    // That a later execution came to its end says nothing of the first.
    let tries = [Try::Retry, Try::Fix(5)];
    let case = Case::new([Does::Late, Does::Errs, Does::Errs], tries).idempotent();
    let (outcome, keys, told) = paid(&case).await;
    assert_eq!(keys.len(), 3);
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    assert!(
        told.ends_with(&format!(
            "the bank is shut; {NOT_AGAIN}; it has run: {late}"
        )),
        "{told}"
    );
    let error = receipt(&outcome).error.as_ref().unwrap();
    assert_eq!(&*error.message, "the bank is shut");

    // The second round is denied; the message also has to mention the first.
    let case = Case::new([Does::Late], [Try::Retry]).idempotent();
    let denied = Case { denied: 3, ..case };
    let (_, keys, told) = paid(&denied).await;
    assert_eq!(keys.len(), 1);
    assert!(told.contains("the rules are against it"), "{told}");
    assert!(told.ends_with(&format!("it has run: {late}")), "{told}");

    // A final success resolves the doubt.
    let case = Case::new([Does::Late], [Try::Retry]).idempotent();
    let (outcome, _, told) = paid(&case).await;
    assert!(receipt(&outcome).is_ok());
    assert_eq!(told, "paid");
}

/// Resuming from each entry gives the same result.
#[tokio::test(start_paused = true)]
async fn a_stored_run_knows_what_may_have_taken_effect() {
    let schema = json!({"type": "object"});
    let spec = || {
        let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, schema.clone());
        spec.timeout(Duration::from_secs(1))
    };
    let slow = FnTool::new(
        "wait",
        "Waits.",
        Effects::Reads,
        schema.clone(),
        |_, _| async {
            tokio::time::sleep(Duration::from_secs(9)).await;
            Ok::<_, String>("waited")
        },
    );
    let (pay, keys) = payer(vec![Does::Late], spec());
    let agent = AgentBuilder::<String, String>::new("clerk")
        .tool(pay)
        .tool(slow)
        .on_error(|error, _| match error {
            CallError::Execution(_) => plan(&[Try::Fix(1)]),
            _ => None,
        })
        .build();
    let journal = MemoryJournal::new();
    let calls = Script::calls([("pay", "{}"), ("wait", "{}")]);
    let (model, _) = ScriptedModel::new([calls, Script::text("done")]);
    let run = agent.run("Pay.").model(model).journal(journal.clone());
    run.await.unwrap();
    assert_eq!(keys.lock().unwrap().len(), 1);
    let paying = |at: &PutDown, kind: &str| {
        let mut of_pay =
            at.0.iter()
                .filter(|entry| entry.fact().contains("\"seq\":0"));
        of_pay.any(|entry| entry.kind() == kind)
    };
    let mut after = put_down(&journal);
    after.retain(|at| paying(at, "begun"));
    assert!(after.len() > 5, "{}", after.len());
    for at in after {
        let rest = [Script::text("done"), Script::text("done")];
        let (model, handle) = ScriptedModel::new(rest.into_iter().skip(at.replies() - 1));
        let run = agent.run("Pay.").model(model).journal(at.journal());
        let outcome = run.outcome().await.unwrap();
        assert_eq!(keys.lock().unwrap().len(), 1, "it is not run again {at}");
        let receipt = receipt(&outcome);
        assert!(receipt.attempts[0].effect_unknown, "{at}");
        assert!(said(receipt).contains(UNKNOWN), "{at}: {}", said(receipt));
        let is_known = paying(&at, "ended");
        assert_eq!(said(receipt).ends_with(NOT_AGAIN), is_known, "{at}");
        if at.replies() > 1 {
            continue;
        }
        let requests = handle.requests();
        let told = requests[0].messages.iter().any(|message| {
            let text = serde_json::to_string(message).unwrap();
            text.contains(UNKNOWN)
        });
        assert!(told, "{at}: {requests:?}");
    }
}
