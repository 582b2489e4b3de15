//! Recovery of a failed call: arms, repair agents, limiters.

use super::*;

#[test]
fn what_the_arms_plan_is_done_step_by_step() {
    let failed = [writes(), misfit(r#"{"n":"x"}"#, "n")];
    let row = |shows: &str, plan: &[PlanStep], leads_to: &str| {
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
        &[PlanStep::Fix(None), feedback()],
        "it failed: field `n`: `n` does not fit [mind the drawer]",
    );
    row(
        "a fix that is what failed falls through",
        &[fix(r#"{"n":"x"}"#), fix(r#"{"n":2}"#)],
        r#"read {"n":2}"#,
    );
    row(
        "a value is put in its place",
        &[PlanStep::Sanitize(Some(json!(7)))],
        r#"read {"n":7}"#,
    );
    row(
        "no value falls through",
        &[PlanStep::Sanitize(None), ask(1)],
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
        &[PlanStep::Inherit, feedback()],
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
        planned([PlanStep::Sanitize(Some(json!(7))), feedback()]),
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
        planned([PlanStep::Fix(None)]),
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
        planned([PlanStep::Sanitize(Some(json!(1))), feedback()]),
        misfit(r#"{"a":1,"b":"x"}"#, "b"),
    ];
    check(
        "one field after the other",
        &sanitized,
        planned([PlanStep::Sanitize(Some(json!(2)))]),
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
