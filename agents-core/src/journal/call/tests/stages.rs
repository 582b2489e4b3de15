//! Stages of a call without a failure.

use super::*;

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
