//! Table of a call: the facts so far, one more fact, and the next action.

mod ends;
mod interruption;
mod recovery;
mod stages;

use super::{Accepted, Action, Call, CallFact, Called, Interrupted, Refused};
use crate::{
    Json, Severity,
    error::{Cause, Code, ToolError},
    escalation::{Escalation, EscalationReceipt, Settlement},
    model::ToolCall,
    reader::Changes,
    recovery::{Backoff, FixError, Plan, PlanStep, RepairAgentRef},
    run::{Approval, ApprovalDecision},
    tool::Risk,
};
use serde_json::{Value, json};
use std::time::Duration;

const SENT: &str = r#"{"n":20}"#;

/// Event in the course of a call: a fact, or the end of its process.
#[derive(Clone)]
enum Then {
    Fact(CallFact),
    ProcessEnds,
}

impl From<CallFact> for Then {
    fn from(fact: CallFact) -> Then {
        Then::Fact(fact)
    }
}

fn called(repeatable: bool, writes: bool, goes_on: bool) -> Then {
    let tool = Called {
        version: "1.0.0".into(),
        own_name: None,
        repeatable,
        window: None,
        writes,
        goes_on,
        reads: !writes,
        knowledge: false,
        polls: false,
        risk: Risk::Medium,
        effect: None,
        external: false,
        irreversible: false,
        has_undo: false,
        answers: None,
    };
    let tool = Some(tool);
    CallFact::TakenUp { tool }.into()
}

/// Returns the fact that the call of a tool that reads is taken up.
fn reads() -> Then {
    called(true, false, false)
}

/// Returns the fact that the call of a tool that writes, and may run twice, is taken up.
fn idempotent() -> Then {
    called(true, true, false)
}

/// Returns the fact that the call of a tool that writes is taken up.
fn writes() -> Then {
    called(false, true, false)
}

/// Returns the fact that the call of a delegate that may write is taken up.
fn delegate() -> Then {
    called(false, true, true)
}

fn accepted(args: &str) -> Accepted {
    Accepted {
        args: Json::parse(args).unwrap(),
        changes: Changes::default(),
        approval: false,
        reasons: Vec::new(),
        risk: None,
        known: Vec::new(),
        denied: None,
        because: None,
    }
}

fn fits(args: &str) -> Then {
    CallFact::Read(Ok(accepted(args))).into()
}

fn needs_approval(args: &str) -> Then {
    let approval = true;
    let accepted = accepted(args);
    CallFact::Read(Ok(Accepted {
        approval,
        ..accepted
    }))
    .into()
}

fn is_denied(args: &str) -> Then {
    let denied = Some("not today".to_owned());
    let accepted = accepted(args);
    CallFact::Read(Ok(Accepted { denied, ..accepted })).into()
}

/// Returns the fact that a text was read in which there is no object.
fn unreadable(text: &str) -> Then {
    let error = ToolError::InvalidArgs {
        raw_args: text.to_owned(),
        parse_error: format!("`{text}` is no object"),
        expected_schema: Value::Null,
    };
    let (text, changes) = (text.to_owned(), Changes::default());
    CallFact::Read(Err(Box::new(Refused {
        error,
        text,
        changes,
    })))
    .into()
}

/// Returns the fact that a text was read in which the field at `path` does not fit.
fn misfit(text: &str, path: &str) -> Then {
    let error = ToolError::Deserialization {
        raw_value: text.to_owned(),
        path: path.to_owned(),
        target_type: "pay".into(),
        cause: Cause::text(Code::ValidationError, format!("`{path}` does not fit")),
    };
    let (text, changes) = (text.to_owned(), Changes::default());
    CallFact::Read(Err(Box::new(Refused {
        error,
        text,
        changes,
    })))
    .into()
}

fn begun() -> Then {
    CallFact::Begun { intent: None }.into()
}

fn ended(result: Result<&str, Cause>) -> Then {
    let partial = false;
    let result = result.map(|text| Json::parse(text).unwrap());
    CallFact::Ended { result, partial }.into()
}

fn fails(why: &str) -> Then {
    ended(Err(Cause::text(Code::Unknown, why)))
}

fn held_back() -> Then {
    ended(Err(Cause::rate_limited("called too often", None)))
}

/// Returns the fact that an execution of a tool that writes has timed out.
fn late(repeatable: bool) -> Then {
    ended(Err(
        Cause::timed_out(Duration::from_secs(1)).of_a_write(repeatable)
    ))
}

fn planned(steps: impl Into<Vec<PlanStep>>) -> Then {
    CallFact::Planned(Some(Plan(steps.into()))).into()
}

fn nothing_planned() -> Then {
    CallFact::Planned(None).into()
}

fn fix(text: &str) -> PlanStep {
    PlanStep::Fix(Some(text.to_owned()))
}

fn mender() -> RepairAgentRef {
    serde_json::from_value(json!("mender")).unwrap()
}

fn ask(retries: u32) -> PlanStep {
    let fixer = mender();
    PlanStep::Ask { fixer, retries }
}

fn retry(max_attempts: u32) -> PlanStep {
    let backoff = Backoff::None;
    PlanStep::Retry {
        max_attempts,
        backoff,
    }
}

fn feedback() -> PlanStep {
    PlanStep::Feedback("mind the drawer".into())
}

fn escalate() -> PlanStep {
    PlanStep::Escalate {
        reason: "it is stuck".into(),
        severity: Severity::High,
    }
}

fn throw() -> PlanStep {
    PlanStep::Throw {
        reason: "enough".into(),
    }
}

fn mended(answer: Result<&str, FixError>) -> Then {
    let answer = answer.map(str::to_owned);
    CallFact::Repaired {
        answer,
        tokens: 0,
        took: Duration::ZERO,
    }
    .into()
}

fn decided(approval: Approval) -> Then {
    let decided = ApprovalDecision::from(approval);
    let reason = decided.approval.denial_reason();
    let took = Duration::ZERO;
    CallFact::Decided {
        decided,
        took,
        reason,
    }
    .into()
}

fn waits() -> Then {
    let wait = Duration::from_secs(1);
    CallFact::Waits { until: 2, wait }.into()
}

fn woke() -> Then {
    CallFact::Woke.into()
}

fn known(known: Interrupted) -> Then {
    CallFact::Interrupted(known).into()
}

fn unknown() -> Then {
    let cause = Cause::interrupted("the process ended while it ran").of_a_write(false);
    known(Interrupted::Unknown(cause))
}

fn abandoned() -> Then {
    let (why, calls) = ("the run ended".to_owned(), 0);
    CallFact::Abandoned { why, calls }.into()
}

fn climbed(settled: Settlement, escalation: Escalation) -> Then {
    CallFact::Climbed(Box::new(EscalationReceipt {
        escalation,
        settled,
    }))
    .into()
}

fn another_model() -> Then {
    let settled = Settlement::RetriedWithModel {
        agent: "lead".into(),
        model: "larger".into(),
    };
    climbed(settled, Escalation::of_agent("", "", Severity::High))
}

fn did() -> Then {
    CallFact::FinalOutput(Json::string("handed up")).into()
}

fn refused() -> Then {
    let args = Json::parse(SENT).unwrap();
    let cause = Cause::denied("there is no such tool");
    CallFact::Refused(Box::new(ToolError::Execution { args, cause })).into()
}

fn panicked() -> Then {
    CallFact::Panicked("boom".into()).into()
}

fn cached() -> Then {
    CallFact::Cached(Json::string("seen before")).into()
}

/// Returns a call after these facts, and `true` if the last fact changed nothing.
fn after(facts: &[Then]) -> (Call, bool) {
    let mut call = Call::new(
        0,
        ToolCall {
            id: "call_1".into(),
            name: "pay".into(),
            arguments: SENT.into(),
        },
    );
    let mut ignored = false;
    for then in facts {
        match then {
            Then::Fact(fact) => {
                ignored = call
                    .on(fact.clone(), crate::run::Timestamp::default(), &"/")
                    .ignored
            }
            Then::ProcessEnds => call.interrupt(),
        }
    }
    (call, ignored)
}

/// Returns the next action of a call, in words.
fn next(call: &Call) -> String {
    match call.next() {
        Action::TakeUp => "take it up".into(),
        Action::Read => format!("read {}", call.candidates.text()),
        Action::Approve(args) => format!("ask a person about {}", args.as_str()),
        Action::Execute(args) if call.is_running() => format!("it runs with {}", args.as_str()),
        Action::Execute(args) => format!("run it with {}", args.as_str()),
        Action::FindOut(args) => format!("find out about {}", args.as_str()),
        Action::LeaveInDoubt => "leave it in doubt".into(),
        Action::BackOff(_) => "find out how long to wait".into(),
        Action::Sleep { until, .. } => format!("wait until {until}"),
        Action::AskArms => "ask the arms".into(),
        Action::AskFixer(fixer) => format!("ask {}", fixer.name()),
        Action::Climb(escalation) => {
            let Escalation {
                source,
                reason,
                severity,
                ..
            } = *escalation;
            format!("hand up: {source}: {reason} ({severity})")
        }
        Action::End(stop) => format!("end the run: {:#}", stop.error()),
        Action::Wait => "wait for the end".into(),
        Action::Done => {
            let beside = call.hint.iter().chain(&call.remark);
            let beside: String = beside.map(|said| format!(" [{said}]")).collect();
            match call.result().unwrap() {
                Ok(output) => format!("it gave {}{beside}", output.as_str()),
                Err(error) => format!("it failed: {error}{beside}"),
            }
        }
    }
}

/// Checks one row: after the facts so far, this fact leads to that action.
#[track_caller]
fn check(shows: &str, so_far: &[Then], fact: impl Into<Then>, leads_to: &str) -> Call {
    let facts = [so_far, &[fact.into()]].concat();
    let (call, ignored) = after(&facts);
    assert!(!ignored, "{shows}: the fact was ignored");
    assert_eq!(next(&call), leads_to, "{shows}");
    call
}

/// Returns the facts that lead to a call in each stage, with the name of the stage.
fn stages() -> Vec<(&'static str, Vec<Then>)> {
    let at_arms = [reads(), unreadable("rubbish")];
    vec![
        ("new", vec![]),
        ("read", vec![reads()]),
        ("approve", vec![reads(), needs_approval(SENT)]),
        ("execute", vec![reads(), fits(SENT)]),
        ("running", vec![reads(), fits(SENT), begun()]),
        (
            "interrupted",
            vec![writes(), fits(SENT), begun(), Then::ProcessEnds],
        ),
        (
            "back off",
            vec![
                reads(),
                fits(SENT),
                begun(),
                fails("no"),
                planned([retry(3)]),
            ],
        ),
        (
            "sleep",
            vec![
                reads(),
                fits(SENT),
                begun(),
                fails("no"),
                planned([retry(3)]),
                waits(),
            ],
        ),
        ("arms", at_arms.to_vec()),
        ("repair", [&at_arms[..], &[planned([ask(1)])]].concat()),
        ("climb", [&at_arms[..], &[planned([escalate()])]].concat()),
        ("ends", [&at_arms[..], &[planned([throw()])]].concat()),
        ("done", vec![reads(), fits(SENT), begun(), ended(Ok("1"))]),
    ]
}

#[test]
fn an_effect_is_told_with_the_values_of_arguments_and_of_their_fields() {
    let args = serde_json::json!({"to": {"city": "Ulm"}, "cents": 5, "a.b": "dotted"});
    for (text, told) in [
        ("pay {cents} to {to.city}", "pay 5 to Ulm"),
        ("{{cents}} {{{cents}}} }}{{", "{cents} {5} }{"),
        (
            "{a.b} {to.street} {nobody} {cents",
            "dotted {to.street} {nobody} {cents",
        ),
        ("{to}", r#"{"city":"Ulm"}"#),
    ] {
        assert_eq!(super::tool::filled(text, &args), told, "{text}");
    }
}
