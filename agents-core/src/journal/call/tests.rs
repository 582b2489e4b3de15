//! Table of a call: the facts so far, one more fact, and the next action.

use super::{Accepted, Action, Call, CallFact, Called, Interrupted, Refused};
use crate::{
    Json, Severity,
    error::{Cause, Code, ToolError},
    escalation::{Escalation, EscalationReceipt, Settlement},
    model::ToolCall,
    reader::Changes,
    recovery::{Backoff, FixError, Plan, RepairAgentRef, Step},
    run::{Approval, ApprovalDecision},
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
    };
    let tool = Some(tool);
    CallFact::TakenUp { tool }.into()
}

/// Takes the call up with a tool that reads.
fn reads() -> Then {
    called(true, false, false)
}

/// Takes the call up with a tool that writes, and may run twice.
fn idempotent() -> Then {
    called(true, true, false)
}

/// Takes the call up with a tool that writes.
fn writes() -> Then {
    called(false, true, false)
}

/// Takes the call up with a part of the run that may write.
fn delegate() -> Then {
    called(false, true, true)
}

fn accepted(args: &str) -> Accepted {
    Accepted {
        args: Json::parse(args).unwrap(),
        changes: Changes::default(),
        approval: false,
        denied: None,
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

/// Reads a text from which no object can be read.
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

/// Reads a text with a field that does not fit.
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

/// Ends an execution of a tool that writes by its timeout.
fn late(repeatable: bool) -> Then {
    ended(Err(
        Cause::timed_out(Duration::from_secs(1)).of_a_write(repeatable)
    ))
}

fn planned(steps: impl Into<Vec<Step>>) -> Then {
    CallFact::Planned(Some(Plan(steps.into()))).into()
}

fn nothing_planned() -> Then {
    CallFact::Planned(None).into()
}

fn fix(text: &str) -> Step {
    Step::Fix(Some(text.to_owned()))
}

fn mender() -> RepairAgentRef {
    serde_json::from_value(json!("mender")).unwrap()
}

fn ask(retries: u32) -> Step {
    let fixer = mender();
    Step::Ask { fixer, retries }
}

fn retry(max_attempts: u32) -> Step {
    let backoff = Backoff::None;
    Step::Retry {
        max_attempts,
        backoff,
    }
}

fn feedback() -> Step {
    Step::Feedback("mind the drawer".into())
}

fn escalate() -> Step {
    Step::Escalate {
        reason: "it is stuck".into(),
        severity: Severity::High,
    }
}

fn throw() -> Step {
    Step::Throw {
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
    let took = Duration::ZERO;
    CallFact::Decided { decided, took }.into()
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
    CallFact::Did(Json::string("handed up")).into()
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

/// Returns a call after these facts, and whether the last fact changed nothing.
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

/// Returns the next action, in words.
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

/// Returns a call in each stage, as the facts that lead there.
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
fn a_fact_that_does_not_belong_to_the_stage_changes_nothing() {
    let facts: [(&str, Then, &[&str]); 18] = [
        ("taken up", reads(), &["new"]),
        ("fits", fits(SENT), &["read", "execute"]),
        ("misread", unreadable("no"), &["read", "execute"]),
        ("asked", CallFact::Asked.into(), &["approve"]),
        ("decided", decided(Approval::Approve), &["approve"]),
        ("begun", begun(), &["execute", "interrupted"]),
        ("withdrawn", CallFact::Withdrawn.into(), &["running"]),
        ("ended", ended(Ok("1")), &["execute", "running"]),
        ("too late", CallFact::TooLate.into(), &["execute"]),
        ("interrupted", unknown(), &["interrupted"]),
        ("cached", cached(), &["execute"]),
        ("planned", planned([fix("{}")]), &["arms"]),
        ("nothing planned", nothing_planned(), &["arms"]),
        ("repaired", mended(Ok("{}")), &["repair"]),
        ("waits", waits(), &["back off"]),
        ("woke", woke(), &["sleep"]),
        ("climbed", another_model(), &["climb"]),
        (
            "ends of any kind",
            refused(),
            &[
                "new",
                "read",
                "approve",
                "execute",
                "running",
                "interrupted",
                "back off",
                "sleep",
                "arms",
                "repair",
                "climb",
                "ends",
            ],
        ),
    ];
    for (stage, so_far) in stages() {
        let (before, _) = after(&so_far);
        let before = serde_json::to_string(&before).unwrap();
        for (name, fact, belongs) in &facts {
            let (call, ignored) = after(&[&so_far[..], std::slice::from_ref(fact)].concat());
            assert_eq!(ignored, !belongs.contains(&stage), "{name} in {stage}");
            let is_same = serde_json::to_string(&call).unwrap() == before;
            // A request for approval changes the time of the run, and a text that fits already fits again.
            let may_be_same = matches!((*name, stage), ("asked", _) | ("fits", "execute"));
            assert!(is_same == ignored || may_be_same, "{name} in {stage}");
        }
    }
}

#[test]
fn what_is_settled_stays_as_it_is() {
    let done = [reads(), fits(SENT), begun(), ended(Ok("1"))];
    let (before, _) = after(&done);
    let before = serde_json::to_string(&before).unwrap();
    for fact in [refused(), panicked(), abandoned(), did()] {
        let (call, ignored) = after(&[&done[..], &[fact]].concat());
        assert!(ignored);
        assert_eq!(serde_json::to_string(&call).unwrap(), before);
    }
}

#[test]
fn a_call_is_taken_up_read_and_run() {
    let (call, _) = after(&[]);
    assert_eq!(next(&call), "take it up");
    check("it is taken up", &[], reads(), r#"read {"n":20}"#);
    check(
        "what may not be called is refused",
        &[reads()],
        refused(),
        "it failed: there is no such tool",
    );
    check(
        "arguments that fit run",
        &[reads()],
        fits(SENT),
        r#"run it with {"n":20}"#,
    );
    check(
        "a rule may deny them",
        &[reads()],
        is_denied(SENT),
        "it failed: not today",
    );
    let fitting = [reads(), fits(SENT)];
    check(
        "the tool begins to run",
        &fitting,
        begun(),
        r#"it runs with {"n":20}"#,
    );
    check(
        "the output may be known",
        &fitting,
        cached(),
        r#"it gave "seen before""#,
    );
    check(
        "before another execution they are read again, and may not fit any more",
        &fitting,
        unreadable(SENT),
        "ask the arms",
    );
    check(
        "before another execution a rule may deny them",
        &fitting,
        is_denied(SENT),
        "it failed: not today",
    );
    let running = [reads(), fits(SENT), begun()];
    let call = check("it ends", &running, ended(Ok("1")), "it gave 1");
    assert_eq!(call.executions(), 1);
    let partial = CallFact::Ended {
        result: Ok(Json::string("half")),
        partial: true,
    };
    check(
        "what is partial is said to be",
        &running,
        partial,
        r#"it gave "half" [this result is partial: the work could not be completed]"#,
    );
    let call = check("it fails", &running, fails("no"), "ask the arms");
    assert_eq!(call.executions(), 1);
    check(
        "where it cannot be dealt with, that is said",
        &[reads()],
        panicked(),
        "it failed: the call could not be dealt with [dealing with it panicked: boom]",
    );
    check(
        "what failed and cannot be dealt with has failed",
        &[reads(), unreadable("rubbish")],
        panicked(),
        "it failed: the arguments cannot be read: `rubbish` is no object [dealing with it panicked: boom]",
    );
}

#[test]
fn a_person_decides_about_the_arguments() {
    let asked = [writes(), needs_approval(SENT), CallFact::Asked.into()];
    check(
        "somebody is asked",
        &asked[..1],
        needs_approval(SENT),
        r#"ask a person about {"n":20}"#,
    );
    check(
        "that they are being asked changes nothing",
        &asked[..2],
        CallFact::Asked,
        r#"ask a person about {"n":20}"#,
    );
    let yes = decided(Approval::Approve);
    check(
        "what is approved runs",
        &asked,
        yes.clone(),
        r#"run it with {"n":20}"#,
    );
    check(
        "what is denied does not",
        &asked,
        decided(Approval::deny("too much")),
        "it failed: not approved: too much",
    );
    let failed = [
        idempotent(),
        needs_approval(SENT),
        yes.clone(),
        begun(),
        fails("no"),
    ];
    let again = [planned([retry(2)]), waits(), woke()];
    let (call, _) = after(&[&failed[..], &again].concat());
    assert!(call.is_approved(), "the same arguments are approved again");
    let revise = Approval::Revise {
        note: "take 10".into(),
    };
    let call = check(
        "what is to be revised is made again",
        &asked,
        decided(revise),
        "it failed: not approved as it is: take 10; change the call and make it again",
    );
    assert!(call.revised);
    let approved = [&asked[..], &[yes]].concat();
    check(
        "what is approved stays so for another execution",
        &approved,
        needs_approval(SENT),
        r#"run it with {"n":20}"#,
    );
    check(
        "a person is asked if a rule wants it before another execution",
        &[writes(), fits(SENT)],
        needs_approval(SENT),
        r#"ask a person about {"n":20}"#,
    );
}

#[test]
fn what_the_arms_plan_is_done_step_by_step() {
    let failed = [writes(), misfit(r#"{"n":"x"}"#, "n")];
    let row = |shows: &str, plan: &[Step], leads_to: &str| {
        check(shows, &failed, planned(plan), leads_to);
    };
    check(
        "what does not fit is for the arms",
        &failed[..1],
        misfit(r#"{"n":"x"}"#, "n"),
        "ask the arms",
    );
    row("a fix is read", &[fix(r#"{"n":1}"#)], r#"read {"n":1}"#);
    row(
        "a fix that gives nothing falls through",
        &[Step::Fix(None), feedback()],
        "it failed: field `n`: `n` does not fit [mind the drawer]",
    );
    row(
        "a fix that is what failed falls through",
        &[fix(r#"{"n":"x"}"#), fix(r#"{"n":2}"#)],
        r#"read {"n":2}"#,
    );
    row(
        "a value is put in its place",
        &[Step::Sanitize(Some(json!(7)))],
        r#"read {"n":7}"#,
    );
    row(
        "no value falls through",
        &[Step::Sanitize(None), ask(1)],
        "ask mender",
    );
    row(
        "a repair agent that may not be asked is not",
        &[ask(0), feedback()],
        "it failed: field `n`: `n` does not fit [mind the drawer]",
    );
    row(
        "a failure is handed up",
        &[escalate()],
        "hand up: pay: it is stuck (HIGH)",
    );
    row(
        "the run ends",
        &[throw()],
        "end the run: `pay` threw: enough",
    );
    row(
        "a layer that nobody has put in falls through",
        &[Step::Inherit, feedback()],
        "it failed: field `n`: `n` does not fit [mind the drawer]",
    );
    row(
        "an empty plan is none",
        &[],
        "it failed: field `n`: `n` does not fit",
    );
    check(
        "without a plan the model is told",
        &failed,
        nothing_planned(),
        "it failed: field `n`: `n` does not fit",
    );
    check(
        "a value without a place has to be an object",
        &[writes(), unreadable("rubbish")],
        planned([Step::Sanitize(Some(json!(7))), feedback()]),
        "it failed: the arguments cannot be read: `rubbish` is no object [mind the drawer]",
    );
    let executed = [reads(), fits(SENT), begun(), fails("no")];
    check(
        "a reading tool runs again",
        &executed,
        planned([retry(2)]),
        "find out how long to wait",
    );
    check(
        "no more often than it may",
        &executed,
        planned([retry(1), feedback()]),
        "it failed: no [mind the drawer]",
    );
    check(
        "a plain writing tool does not run again with the same arguments",
        &[writes(), fits(SENT), begun(), fails("no")],
        planned([retry(9)]),
        "it failed: no",
    );
    check(
        "a plain writing tool that said it failed runs with others",
        &[writes(), fits(SENT), begun(), fails("no")],
        planned([fix(r#"{"n":1}"#)]),
        r#"read {"n":1}"#,
    );
    let waiting = [&executed[..], &[planned([retry(2)])]].concat();
    check("it waits", &waiting, waits(), "wait until 2");
    let waiting = [&waiting[..], &[waits()]].concat();
    let call = check(
        "the wait is over",
        &waiting,
        woke(),
        r#"run it with {"n":20}"#,
    );
    assert_eq!((call.executions(), call.attempt()), (1, 2));
    let again = [&waiting[..], &[woke(), begun()]].concat();
    let call = check("it runs at last", &again, ended(Ok("1")), "it gave 1");
    let waited: Vec<_> = call.attempts.iter().map(|run| run.waited_s).collect();
    assert_eq!(waited, [None, Some(1.0)]);
}

#[test]
fn a_repair_agent_answers() {
    let asked = [
        writes(),
        unreadable("rubbish"),
        planned([ask(2), feedback()]),
    ];
    check(
        "its text is read",
        &asked,
        mended(Ok(r#"{"n":1}"#)),
        r#"read {"n":1}"#,
    );
    check(
        "a text that failed before is a try",
        &asked,
        mended(Ok("rubbish")),
        "ask mender",
    );
    let failed = || FixError::Failed("no idea".into());
    check(
        "one that failed may try again",
        &asked,
        mended(Err(failed())),
        "ask mender",
    );
    let tried = [&asked[..], &[mended(Err(failed()))]].concat();
    check(
        "until its tries are used up",
        &tried,
        mended(Err(failed())),
        "it failed: the arguments cannot be read: `rubbish` is no object [mind the drawer]",
    );
    check(
        "one that cannot be asked is not asked again",
        &asked,
        mended(Err(FixError::Unable("nobody knows it".into()))),
        "it failed: the arguments cannot be read: `rubbish` is no object [mind the drawer]",
    );
    let up = FixError::Escalated {
        reason: "beyond me".into(),
        severity: Severity::Low,
    };
    check(
        "it may hand the failure up",
        &asked,
        mended(Err(up)),
        "hand up: mender: beyond me (LOW)",
    );
    check(
        "it may end the run",
        &asked,
        mended(Err(FixError::Thrown("an attack".into()))),
        "end the run: `mender` threw: an attack",
    );
}

#[test]
fn a_candidate_that_fails_goes_back_to_the_plan_of_the_one_before() {
    let first = [
        writes(),
        unreadable("rubbish"),
        planned([fix("more"), fix(r#"{"n":1}"#), feedback()]),
    ];
    check(
        "text that cannot be read counts as a failed attempt",
        &first,
        unreadable("more"),
        r#"read {"n":1}"#,
    );
    let second = [&first[..], &[misfit("more", "n")]].concat();
    check(
        "one that fails in a field has its own arms",
        &first,
        misfit("more", "n"),
        "ask the arms",
    );
    check(
        "if they have nothing to say, the plan before goes on",
        &second,
        nothing_planned(),
        r#"read {"n":1}"#,
    );
    check(
        "if their plan is spent, the plan before goes on",
        &second,
        planned([Step::Fix(None)]),
        r#"read {"n":1}"#,
    );
    check(
        "what they would tell the model is for whoever gives the next one",
        &second,
        planned([feedback()]),
        r#"read {"n":1}"#,
    );
    let spent = [&first[..], &[unreadable("more"), unreadable(r#"{"n":1}"#)]].concat();
    let (call, _) = after(&spent);
    assert_eq!(
        next(&call),
        "it failed: the arguments cannot be read: `rubbish` is no object [mind the drawer]",
        "the failure that is told is that of the model"
    );
    // `a` is settled when `b` is at fault.
    let sanitized = [
        writes(),
        misfit(r#"{"a":"x","b":"x"}"#, "a"),
        planned([Step::Sanitize(Some(json!(1))), feedback()]),
        misfit(r#"{"a":1,"b":"x"}"#, "b"),
    ];
    check(
        "one field after the other",
        &sanitized,
        planned([Step::Sanitize(Some(json!(2)))]),
        r#"read {"a":1,"b":2}"#,
    );
    check(
        "a settled field is not opened again",
        &sanitized,
        nothing_planned(),
        "it failed: field `b`: `b` does not fit",
    );
}

#[test]
fn a_denied_repair_leaves_the_first_failure() {
    let fixed = [
        writes(),
        unreadable("rubbish"),
        planned([fix(r#"{"n":1}"#)]),
    ];
    check(
        "by a rule",
        &fixed,
        is_denied(r#"{"n":1}"#),
        "it failed: the arguments cannot be read: `rubbish` is no object",
    );
    let asked = [&fixed[..], &[needs_approval(r#"{"n":1}"#)]].concat();
    check(
        "by a person",
        &asked,
        decided(Approval::deny("no")),
        "it failed: the arguments cannot be read: `rubbish` is no object",
    );
    let two = [
        writes(),
        unreadable("rubbish"),
        planned([fix(r#"{"n":1}"#), fix(r#"{"n":2}"#)]),
        needs_approval(r#"{"n":1}"#),
    ];
    check(
        "and the plan before goes on",
        &two,
        decided(Approval::deny("no")),
        r#"read {"n":2}"#,
    );
    let executed = [
        idempotent(),
        needs_approval(SENT),
        decided(Approval::Approve),
        begun(),
        fails("no"),
        planned([fix(r#"{"n":1}"#), retry(2)]),
        needs_approval(r#"{"n":1}"#),
        decided(Approval::deny("not that")),
        waits(),
    ];
    let again = r#"run it with {"n":20}"#;
    let call = check("what runs again is what failed", &executed, woke(), again);
    assert!(!call.is_approved(), "and somebody is asked again");
}

#[test]
fn a_limiter_holds_a_call_back() {
    let fitting = [writes(), fits(SENT)];
    let call = check("that is a failure", &fitting, held_back(), "ask the arms");
    assert_eq!((call.executions(), call.rounds()), (0, 1));
    let held = [&fitting[..], &[held_back()]].concat();
    check(
        "a plain writing tool may come again, for it has not run",
        &held,
        planned([retry(2)]),
        "find out how long to wait",
    );
    check(
        "a round that was held back counts",
        &held,
        planned([retry(1)]),
        "it failed: called too often",
    );
    let ran = [
        idempotent(),
        fits(SENT),
        begun(),
        fails("no"),
        planned([retry(9)]),
        waits(),
        woke(),
        held_back(),
    ];
    check(
        "what it failed with when it ran is told",
        &ran,
        nothing_planned(),
        "it failed: no [it was to run again, but the rate limit refused that]",
    );
}

#[test]
fn a_writing_tool_that_was_cut_off_is_not_repaired_with_other_arguments() {
    const TOLD: &str = "it failed: it did not finish within 1s, and whether it took effect is not known: find that out before calling it again [it was not run again with other arguments, since that could have done it twice]";
    let cut_off = [writes(), fits(SENT), begun(), late(false)];
    let call = check(
        "neither by an arm nor by a repair agent, nor again with the same",
        &cut_off,
        planned([fix(r#"{"n":1}"#), ask(1), retry(9)]),
        TOLD,
    );
    assert!(call.attempts[0].effect_unknown);
    check(
        "it may be handed up",
        &cut_off,
        planned([fix(r#"{"n":1}"#), escalate()]),
        "hand up: pay: it is stuck (HIGH)",
    );
    check(
        "an idempotent one runs again",
        &[idempotent(), fits(SENT), begun(), late(true)],
        planned([retry(2)]),
        "find out how long to wait",
    );
    let late_again = [idempotent(), fits(SENT), begun(), late(true)];
    check(
        "but not with others",
        &late_again,
        planned([fix(r#"{"n":1}"#), ask(1)]),
        "it failed: it did not finish within 1s, and whether it took effect is not known [it was not run again with other arguments, since that could have done it twice]",
    );
    let retried = [&late_again[..], &[planned([retry(3)]), waits(), woke()]].concat();
    check(
        "not even when it has come to its end since",
        &[&retried[..], &[begun(), fails("no")]].concat(),
        planned([fix(r#"{"n":1}"#), feedback()]),
        "it failed: no [mind the drawer] [it was not run again with other arguments, since that could have done it twice; it has run: it did not finish within 1s, and whether it took effect is not known]",
    );
    check(
        "nor when its arguments do not fit any more",
        &[&retried[..], &[misfit(SENT, "n")]].concat(),
        planned([Step::Sanitize(Some(json!(1))), feedback()]),
        "it failed: field `n`: `n` does not fit [mind the drawer] [it was not run again with other arguments, since that could have done it twice; it has run: it did not finish within 1s, and whether it took effect is not known]",
    );
}

#[test]
fn a_process_ends_while_the_tool_runs() {
    let again = r#"run it with {"n":20}"#;
    let find_out = r#"find out about {"n":20}"#;
    let in_doubt = "leave it in doubt";
    let row = |shows: &str, tool: Then, times: u32, leads_to: &str| {
        let mut facts = vec![tool, fits(SENT)];
        for _ in 0..times {
            facts.extend([begun(), Then::ProcessEnds]);
        }
        let (call, _) = after(&facts);
        assert_eq!(next(&call), leads_to, "{shows}");
        call
    };
    let counted = |shows: &str, tool: Then, times: u32, leads_to: &str| {
        let call = row(shows, tool, times, leads_to);
        let counts = (call.executions(), call.rounds());
        assert_eq!(counts, (times, times), "{shows}");
        assert_eq!(call.round(), 1, "what ran within is found again: {shows}");
    };
    for times in [1, 2] {
        let call = row("a reading tool runs again", reads(), times, again);
        assert_eq!((call.executions(), call.round()), (0, 1), "it did nothing");
    }
    let shows = "but may be what ends the process";
    let call = row(shows, reads(), 3, in_doubt);
    assert_eq!(call.executions(), 1, "which is told");
    counted("an idempotent tool runs again", idempotent(), 2, again);
    let shows = "an idempotent tool may be what ends the process";
    counted(shows, idempotent(), 3, in_doubt);
    let shows = "a plain writing tool is in doubt at once";
    counted(shows, writes(), 1, find_out);
    for times in [1, 9] {
        let shows = "a part of the run goes on where it was";
        let call = row(shows, delegate(), times, again);
        assert_eq!(call.executions(), 0, "that is no other execution");
    }

    let retried = |most: u32| {
        let failed = [idempotent(), fits(SENT), begun(), fails("no")];
        let again = [
            planned([retry(most)]),
            waits(),
            woke(),
            begun(),
            Then::ProcessEnds,
        ];
        after(&[&failed[..], &again].concat()).0
    };
    assert_eq!(next(&retried(3)), again, "as often as a retry allows");
    assert_eq!(next(&retried(2)), find_out, "and no more often");
    let facts = [idempotent(), fits(SENT), begun(), Then::ProcessEnds];
    check(
        "what was interrupted counts when it is retried",
        &[&facts[..], &[begun(), fails("no")]].concat(),
        planned([retry(2), feedback()]),
        "it failed: no [mind the drawer] [it has run: the process ended while it ran, and whether it took effect is not known]",
    );

    let interrupted = [writes(), fits(SENT), begun(), Then::ProcessEnds];
    check(
        "it took effect",
        &interrupted,
        known(Interrupted::Done(Json::string("paid"))),
        r#"it gave "paid""#,
    );
    let call = check(
        "it had no effect, and runs again",
        &interrupted,
        known(Interrupted::NotDone),
        again,
    );
    assert_eq!(call.attempt(), 2);
    assert!(!call.attempts[0].effect_unknown);
    let call = check(
        "nobody knows, and it does not run again",
        &interrupted,
        unknown(),
        "it failed: the process ended while it ran, and whether it took effect is not known: find that out before calling it again",
    );
    assert!(call.attempts[0].effect_unknown);
    let mut once = call;
    let Then::Fact(fact) = abandoned() else {
        unreachable!("it is a fact")
    };
    assert!(
        once.on(fact, crate::run::Timestamp::default(), &"/")
            .ignored
    );

    check(
        "what is refused then is told to have run",
        &interrupted,
        refused(),
        "it failed: there is no such tool [it has run: the process ended while it ran, and whether it took effect is not known: find that out before calling it again]",
    );
    // A last answer that is known settles all of them.
    let not_done = [begun(), Then::ProcessEnds, known(Interrupted::NotDone)];
    let mut facts = [&[writes(), fits(SENT)], &not_done[..], &not_done[..2]].concat();
    assert_eq!(next(&after(&facts).0), find_out);
    facts.extend([known(Interrupted::NotDone), begun(), Then::ProcessEnds]);
    assert_eq!(
        next(&after(&facts).0),
        in_doubt,
        "it ends the process each time"
    );
    let mut facts = interrupted.to_vec();
    for leads_to in [find_out, in_doubt, in_doubt] {
        facts.push(Then::ProcessEnds);
        let (call, _) = after(&facts);
        assert_eq!(next(&call), leads_to, "the question may be what ends it");
        assert_eq!(call.executions(), 1);
    }
    for (stage, so_far) in stages() {
        if matches!(stage, "running" | "interrupted") {
            continue;
        }
        let (before, _) = after(&so_far);
        let (later, _) = after(&[&so_far[..], &[Then::ProcessEnds]].concat());
        let written = |call: &Call| serde_json::to_string(call).unwrap();
        assert_eq!(written(&later), written(&before), "{stage} stays");
    }
}

#[test]
fn what_may_have_taken_effect_is_repeated_within_its_time_alone() {
    let hour = Duration::from_secs(3600);
    let tool = Called {
        version: "1.0.0".into(),
        own_name: None,
        repeatable: true,
        window: Some(hour),
        writes: true,
        goes_on: false,
        reads: false,
        knowledge: false,
        polls: false,
    };
    let tool = Some(tool);
    let first = [CallFact::TakenUp { tool }.into(), fits(SENT), begun()];
    // All facts so far have the time 0.
    let is_too_late = |facts: &[Then], seconds: u64| {
        let (call, _) = after(facts);
        call.is_too_late(|| crate::run::Timestamp::from_millis(seconds * 1000))
    };
    let interrupted = [&first[..], &[Then::ProcessEnds]].concat();
    assert!(!is_too_late(&interrupted, 3600));
    assert!(is_too_late(&interrupted, 3601));
    let retry = [planned([retry(9)]), waits(), woke()];
    let late = [&first[..], &[late(true)], &retry].concat();
    assert!(is_too_late(&late, 3601), "the same after a deadline");
    let failed = [&first[..], &[fails("no")], &retry].concat();
    assert!(
        !is_too_late(&failed, 9999),
        "what has failed may run at any time"
    );
    let without = [idempotent(), fits(SENT), begun(), Then::ProcessEnds];
    assert!(
        !is_too_late(&without, u64::from(u32::MAX)),
        "no limit was said"
    );

    let too_late = CallFact::TooLate;
    let find_out = r#"find out about {"n":20}"#;
    check("then it is asked", &interrupted, too_late.clone(), find_out);
    let asked = [&interrupted[..], &[too_late.clone().into()]].concat();
    let call = check(
        "if that says so, it runs anew",
        &asked,
        known(Interrupted::NotDone),
        r#"run it with {"n":20}"#,
    );
    assert!(!call.is_too_late(|| crate::run::Timestamp::from_millis(9_999_000)));
    let asked = [&late[..], &[too_late.into()]].concat();
    check(
        "what is told is how the last execution failed",
        &asked,
        unknown(),
        "it failed: it did not finish within 1s, and whether it took effect is not known",
    );
}

/// Returns the tools for which the last fact leaves a doubt.
fn doubt(so_far: &[Then], fact: Then) -> Option<String> {
    let Then::Fact(fact) = fact else {
        return None;
    };
    let (mut call, _) = after(so_far);
    call.on(fact, crate::run::Timestamp::default(), &"/").doubt
}

#[test]
fn what_an_interrupted_execution_did_is_a_doubt_until_it_is_known() {
    let interrupted = [writes(), fits(SENT), begun(), Then::ProcessEnds];
    let ends = [unknown(), refused(), abandoned(), panicked()];
    for fact in ends.clone() {
        assert_eq!(doubt(&interrupted, fact).as_deref(), Some("pay"));
    }
    for known_as in [
        Interrupted::NotDone,
        Interrupted::Done(Json::string("paid")),
    ] {
        let fact = known(known_as);
        assert_eq!(doubt(&interrupted, fact.clone()), None);
        let facts = [&interrupted[..], &[fact, begun()]].concat();
        assert_eq!(doubt(&facts, fails("no")), None);
    }
    // Calls that may run again, and do not or in vain.
    let again = [idempotent(), fits(SENT), begun(), Then::ProcessEnds];
    for fact in [refused(), abandoned(), is_denied(SENT)] {
        assert_eq!(doubt(&again, fact).as_deref(), Some("pay"));
    }
    let failed = [&again[..], &[begun(), fails("no")]].concat();
    assert_eq!(doubt(&failed, nothing_planned()).as_deref(), Some("pay"));
    let running = [&again[..], &[begun()]].concat();
    assert_eq!(doubt(&running, ended(Ok("1"))), None, "it is done");
    for fact in ends {
        let reading = [reads(), fits(SENT), begun(), Then::ProcessEnds];
        assert_eq!(doubt(&reading, fact), None, "it changes nothing");
    }
}

#[test]
fn what_was_handed_up_comes_back() {
    let climbing = [writes(), unreadable("rubbish"), planned([escalate()])];
    check(
        "another model goes on",
        &climbing,
        another_model(),
        "it failed: `pay` gave up (HIGH): it is stuck [you take over from the model that failed here: make the call again, correctly, if it is still needed]",
    );
    let (call, _) = after(&climbing);
    let Action::Climb(escalation) = call.next() else {
        panic!("it climbs")
    };
    check(
        "nobody could settle it",
        &climbing,
        climbed(Settlement::ReportedToModel, *escalation),
        "it failed: `pay` gave up (HIGH): it is stuck [no agent above handled this, so decide yourself how to go on]",
    );
    let executed = [
        writes(),
        fits(SENT),
        begun(),
        fails("no"),
        planned([escalate()]),
    ];
    check(
        "another model goes on where the tool may have taken effect",
        &executed,
        another_model(),
        "it failed: `pay` gave up (HIGH): it is stuck [you take over from the model that failed here: the tool has run, and may have taken effect though it failed, so find that out before making the call again]",
    );
}

#[test]
fn a_call_is_abandoned_with_what_it_is_a_part_of() {
    let ran = "it failed: the run ended: it was cut off while it ran";
    for (stage, so_far) in stages() {
        let leads_to = match stage {
            "new" | "read" | "execute" => "it failed: the run ended".to_owned(),
            "approve" => {
                "it failed: the run ended: it waited for approval, which was still open".into()
            }
            "running" => format!("{ran}, which changed nothing"),
            "interrupted" => "it failed: the run ended: the process ended while it ran, and whether it took effect is not known: find that out before calling it again".into(),
            "back off" | "sleep" => "it failed: the run ended".into(),
            "arms" | "repair" | "ends" => {
                "it failed: the arguments cannot be read: `rubbish` is no object".into()
            }
            "climb" => "it failed: `pay` gave up (HIGH): it is stuck".into(),
            _ => continue,
        };
        check(stage, &so_far, abandoned(), &leads_to);
    }
    check(
        "what its tool did to end that is what it gave",
        &[reads(), fits(SENT), begun(), did()],
        abandoned(),
        r#"it gave "handed up""#,
    );
    check(
        "a fix that waits to run does not",
        &[
            idempotent(),
            fits(SENT),
            begun(),
            fails("no"),
            planned([fix(r#"{"n":1}"#)]),
            fits(r#"{"n":1}"#),
        ],
        abandoned(),
        "it failed: no [the run ended]",
    );
}
