//! Executions that were cut off, and processes that ended.

use super::*;

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
        planned([PlanStep::Sanitize(Some(json!(1))), feedback()]),
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
        risk: Risk::Medium,
        effect: None,
        external: false,
        irreversible: false,
        has_undo: false,
        answers: None,
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

/// Returns the tool for whose calls the last fact leaves a doubt; `None` if it leaves none.
fn doubt(so_far: &[Then], fact: Then) -> Option<String> {
    let Then::Fact(fact) = fact else {
        return None;
    };
    let (mut call, _) = after(so_far);
    let after = call.on(fact, crate::run::Timestamp::default(), &"/");
    after.doubt.map(|doubt| doubt.tool)
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
