//! Table of a final answer: the facts so far, one more fact, and the next action.

use super::{AnswerFact, AnswerStage, FinalAnswer, Misread};
use crate::{
    Severity,
    reader::{Changes, ReadError},
    recovery::{FixError, Plan, PlanStep},
};
use serde_json::json;

fn fits() -> AnswerFact {
    AnswerFact::Read(Ok(Changes::default()))
}

fn unfit(path: &str) -> AnswerFact {
    AnswerFact::Read(Err(Misread {
        error: ReadError::new(path, "it does not fit"),
        reason: "the answer does not fit".into(),
    }))
}

fn planned(steps: impl Into<Vec<PlanStep>>) -> AnswerFact {
    AnswerFact::Planned(Some(Plan(steps.into())))
}

fn nothing_planned() -> AnswerFact {
    AnswerFact::Planned(None)
}

fn mended(answer: Result<&str, FixError>) -> AnswerFact {
    AnswerFact::Repaired {
        turn: 1,
        answer: answer.map(str::to_owned),
        tokens: 0,
        took: std::time::Duration::ZERO,
    }
}

fn fix(text: &str) -> PlanStep {
    PlanStep::Fix(Some(text.to_owned()))
}

fn ask(retries: u32) -> PlanStep {
    let fixer = serde_json::from_value(json!("mender")).unwrap();
    PlanStep::Ask { fixer, retries }
}

fn feedback() -> PlanStep {
    PlanStep::Feedback("one number".into())
}

fn escalate() -> PlanStep {
    PlanStep::Escalate {
        reason: "it cannot count".into(),
        severity: Severity::High,
    }
}

fn throw() -> PlanStep {
    PlanStep::Throw {
        reason: "enough".into(),
    }
}

/// Returns an answer after these facts, and whether the last fact belonged to its stage.
fn after(facts: &[AnswerFact]) -> (FinalAnswer, bool) {
    let mut answer = FinalAnswer::new("about seven".into());
    let mut belongs = true;
    for fact in facts {
        belongs = answer.on(fact.clone());
    }
    (answer, belongs)
}

/// Returns the next action of a final answer, in words.
fn next(answer: &FinalAnswer) -> String {
    let by = |source: &Option<String>| source.clone().unwrap_or_else(|| "the agent".into());
    match answer.next() {
        AnswerStage::Read => format!("read {}", answer.text()),
        AnswerStage::Arms => "ask the arms".into(),
        AnswerStage::Repair(fixer) => format!("ask {}", fixer.name()),
        AnswerStage::Climb {
            source,
            reason,
            severity,
        } => format!("hand up: {}: {reason} ({severity})", by(source)),
        AnswerStage::Throw { source, reason } => {
            format!("end the run: {}: {reason}", by(source))
        }
        AnswerStage::Refused => {
            let beside: String = answer.remarks().map(|said| format!(" [{said}]")).collect();
            let own = answer.candidates.own_failure();
            let own = own.map_or_else(String::new, |failed| failed.text.clone());
            format!("refuse {own}{beside}")
        }
        AnswerStage::Accepted => format!("take {}", answer.text()),
    }
}

/// Checks one row: after the facts so far, this fact leads to that action.
#[track_caller]
fn check(shows: &str, so_far: &[AnswerFact], fact: AnswerFact, leads_to: &str) {
    let (answer, belongs) = after(&[so_far, &[fact]].concat());
    assert!(belongs, "{shows}: the fact was ignored");
    assert_eq!(next(&answer), leads_to, "{shows}");
}

#[test]
fn an_answer_is_read_and_repaired_step_by_step() {
    let (new, _) = after(&[]);
    assert_eq!(next(&new), "read about seven");
    check(
        "an answer that fits is taken",
        &[],
        fits(),
        "take about seven",
    );
    check(
        "one that does not is for the arms",
        &[],
        unfit(""),
        "ask the arms",
    );
    let failed = [unfit("")];
    let row = |shows: &str, plan: &[PlanStep], leads_to: &str| {
        check(shows, &failed, planned(plan), leads_to);
    };
    row("a fix is read", &[fix("7")], "read 7");
    row(
        "no fix falls through",
        &[PlanStep::Fix(None), fix("8")],
        "read 8",
    );
    row(
        "a fix that is what failed falls through",
        &[fix("about seven"), fix("8")],
        "read 8",
    );
    row("a repair agent is asked", &[ask(1)], "ask mender");
    row(
        "the model is told",
        &[feedback()],
        "refuse about seven [one number]",
    );
    row(
        "the failure is handed up",
        &[escalate()],
        "hand up: the agent: it cannot count (HIGH)",
    );
    row("the run ends", &[throw()], "end the run: the agent: enough");
    row("an empty plan is none", &[], "refuse about seven");
    check(
        "without a plan it goes back",
        &failed,
        nothing_planned(),
        "refuse about seven",
    );
}

#[test]
fn what_is_given_for_an_answer_may_fail_as_well() {
    let fixed = [unfit(""), planned([fix("more"), fix("7"), feedback()])];
    check("a fix may fit", &fixed, fits(), "take more");
    check("as a whole it was a try", &fixed, unfit(""), "read 7");
    check(
        "in a field it has its own arms",
        &fixed,
        unfit("n"),
        "ask the arms",
    );
    let in_field = [&fixed[..], &[unfit("n")]].concat();
    check(
        "if they have nothing to say, the plan before goes on",
        &in_field,
        nothing_planned(),
        "read 7",
    );
    let spent = [&fixed[..], &[unfit("")]].concat();
    check(
        "in the end the model is told of its own",
        &spent,
        unfit(""),
        "refuse about seven [one number]",
    );
}

#[test]
fn a_repair_agent_answers_for_the_model() {
    let asked = [unfit(""), planned([ask(2), feedback()])];
    check("its text is read", &asked, mended(Ok("7")), "read 7");
    check(
        "a text that failed before is a try",
        &asked,
        mended(Ok("about seven")),
        "ask mender",
    );
    let failed = || mended(Err(FixError::Failed("no idea".into())));
    check(
        "one that failed may try again",
        &asked,
        failed(),
        "ask mender",
    );
    let tried = [&asked[..], &[failed()]].concat();
    check(
        "until its tries are used up",
        &tried,
        failed(),
        "refuse about seven [one number]",
    );
    check(
        "one that cannot be asked is not asked again",
        &asked,
        mended(Err(FixError::Unable("nobody knows it".into()))),
        "refuse about seven [one number]",
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
        "end the run: mender: an attack",
    );
}

#[test]
fn an_accepted_answer_that_does_not_fit_any_more_is_for_the_arms() {
    check("it is read again", &[fits()], unfit(""), "ask the arms");
    check(
        "and goes back",
        &[fits(), unfit("")],
        nothing_planned(),
        "refuse about seven",
    );
}

#[test]
fn a_fact_that_does_not_belong_to_the_stage_changes_nothing() {
    let stages = [
        ("read", vec![]),
        ("arms", vec![unfit("")]),
        ("repair", vec![unfit(""), planned([ask(1)])]),
        ("climb", vec![unfit(""), planned([escalate()])]),
        ("throw", vec![unfit(""), planned([throw()])]),
        ("refused", vec![unfit(""), nothing_planned()]),
        ("accepted", vec![fits()]),
    ];
    let facts: [(AnswerFact, &[&str]); 5] = [
        (fits(), &["read"]),
        (unfit(""), &["read", "accepted"]),
        (planned([fix("7")]), &["arms"]),
        (nothing_planned(), &["arms"]),
        (mended(Ok("7")), &["repair"]),
    ];
    for (stage, so_far) in stages {
        let (before, _) = after(&so_far);
        let before = serde_json::to_string(&before).unwrap();
        for (fact, stages) in &facts {
            let (answer, belongs) = after(&[&so_far[..], std::slice::from_ref(fact)].concat());
            assert_eq!(belongs, stages.contains(&stage), "{fact:?} in {stage}");
            let is_same = serde_json::to_string(&answer).unwrap() == before;
            assert_eq!(is_same, !belongs, "{fact:?} in {stage}");
        }
    }
}
