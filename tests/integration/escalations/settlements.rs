//! Each raised escalation is settled once, in the events, on the console and in the outcome, even if its work is
//! dropped.

use super::{own_tools::Work, team::passes_on};
use crate::world::{Named, Plain, scripted_agent, scripted_model};
use agents::{
    Agent, AgentBuilder, Budget, Effects, Error, Outcome, Severity,
    agent::Run,
    compose::first_of,
    console,
    escalation::{
        Escalation, Resolution, Settlement, reroute_to_skill, retry_with_model,
        return_partial_result, throw,
    },
    run::{EventKind, Stopped},
    team::Member,
    testing::{Script, ScriptedModel},
    tool,
    tool::FnTool,
};
use serde_json::json;
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Runs an agent, and checks that each raised escalation is settled once in events, lines and outcome.
pub(super) async fn watched<A: Agent<Out = String>>(
    run: Run<'_, A>,
) -> (Outcome<String>, Vec<String>) {
    let (raised, settled, lines) = <(
        Arc<Mutex<Vec<Escalation>>>,
        Arc<Mutex<Vec<_>>>,
        Arc<Mutex<Vec<String>>>,
    )>::default();
    let (up, down, told) = (raised.clone(), settled.clone(), lines.clone());
    let outcome = run
        .on_event(move |event| {
            match &event.kind {
                EventKind::Escalated(escalation) => up.lock().unwrap().push((**escalation).clone()),
                EventKind::EscalationSettled(receipt) => {
                    down.lock().unwrap().push((**receipt).clone());
                }
                _ => {}
            }
            let line = console::line(event, false);
            told.lock()
                .unwrap()
                .extend(line.map(|line| line.trim_start().to_owned()));
        })
        .outcome()
        .await
        .unwrap();
    let (raised, settled) = (raised.lock().unwrap(), settled.lock().unwrap());
    assert_eq!(*settled, outcome.escalations);
    let mut open: Vec<_> = raised.iter().map(|one| one.original.clone()).collect();
    for receipt in &*settled {
        let original = &receipt.escalation.original;
        let at = open.iter().position(|raised| raised == original);
        open.remove(at.expect("it was raised, and is settled once"));
    }
    assert!(open.is_empty(), "not settled: {open:?}");
    let lines = std::mem::take(&mut *lines.lock().unwrap());
    let raised = |line: &&String| line.starts_with("^ escalated:");
    let (raised, settled): (Vec<_>, Vec<_>) = lines
        .iter()
        .filter(|line| line.starts_with('^'))
        .partition(raised);
    assert_eq!(raised.len(), settled.len(), "{lines:#?}");
    (outcome, lines)
}

/// Throws, which ends the run.
#[tool(none)]
async fn quit() -> Result<String, Error> {
    Err(Error::thrown("I am off"))
}

/// Several calls of one reply.
pub(super) fn reply(calls: &[&str]) -> Script {
    let call = |what: &&str| match *what {
        "throw" => ("quit", "{}".to_owned()),
        what => ("work", format!(r#"{{"what":"{what}"}}"#)),
    };
    Script::calls(calls.iter().map(call))
}

pub(super) fn clerk(
    script: impl IntoIterator<Item = Script>,
) -> AgentBuilder<'static, String, String> {
    scripted_agent("clerk", script).tool(Work).tool(Quit)
}

pub(super) fn how(outcome: &Outcome<String>) -> Vec<String> {
    let all = outcome.escalations.iter();
    all.map(|one| format!("{}: {}", one.escalation.severity, one.settled))
        .collect()
}

#[tokio::test]
async fn one_that_is_dropped_with_what_another_has_ended_says_so() {
    let agent = clerk([reply(&["high", "high"])])
        .on_escalation(|escalation| return_partial_result(escalation.reason))
        .build();
    let (outcome, lines) = watched(agent.run("go".to_owned())).await;
    assert!(outcome.partial);
    assert_eq!(
        how(&outcome),
        [
            "HIGH: `clerk` ends with a partial result",
            "HIGH: it is dropped: `clerk` returned a partial result after an escalation",
        ]
    );
    let said =
        "^ what `work` gave up is dropped: `clerk` returned a partial result after an escalation";
    assert!(lines.iter().any(|line| line == said), "{lines:#?}");
}

#[tokio::test]
async fn a_model_that_is_never_asked_has_not_gone_on() {
    for calls in [["low", "high"], ["high", "low"]] {
        let (strong, handle) = ScriptedModel::always(Script::text("never"));
        let agent = clerk([reply(&calls)])
            .on_escalation(move |escalation| match escalation.severity {
                Severity::Low => retry_with_model(strong.clone()),
                _ => return_partial_result(escalation.reason),
            })
            .build();
        let (outcome, _) = watched(agent.run("go".to_owned())).await;
        let mut all = outcome.escalations.iter();
        let low = all.find(|one| one.escalation.severity == Severity::Low);
        let settled = &low.unwrap().settled;
        assert!(matches!(settled, Settlement::Dropped { .. }), "{settled:?}");
        assert_eq!(handle.count(), 0);
    }
}

#[tokio::test]
async fn calls_of_one_reply_are_given_one_model() {
    let named = |name, script: Vec<Script>| Named(name, scripted_model(script));
    let given = Mutex::new(vec![
        named("first", vec![]),
        named("second", vec![reply(&["low"])]),
        named("third", vec![Script::text("done")]),
    ]);
    let agent = clerk([reply(&["low", "low"])])
        .on_escalation(move |_| retry_with_model(given.lock().unwrap().remove(0)))
        .build();
    let (outcome, _) = watched(agent.run("go".to_owned())).await;
    assert_eq!(
        how(&outcome),
        [
            "LOW: `clerk`: the failed agent goes on with `second`",
            "LOW: `clerk`: the failed agent goes on with `second`",
            "LOW: `clerk`: the failed agent goes on with `third`",
        ]
    );
    assert_eq!(outcome.result.unwrap(), "done");
}

#[tokio::test]
async fn a_model_that_is_not_asked_again_has_not_been_told() {
    for calls in [["medium", "throw"], ["throw", "medium"]] {
        let (outcome, _) = watched(clerk([reply(&calls)]).build().run("go".to_owned())).await;
        assert!(matches!(outcome.stopped, Some(Stopped::Thrown { .. })));
        let dropped = "MEDIUM: it is dropped: the run ended";
        assert_eq!(how(&outcome), [dropped], "{calls:?}");
    }
    // The turns are used up.
    let one = clerk([reply(&["medium"])]).budget(Budget::new().max_turns(1));
    let (outcome, _) = watched(one.build().run("go".to_owned())).await;
    assert_eq!(how(&outcome), ["MEDIUM: it is dropped: the run ended"]);
    // One ends the run, and that is one of them.
    let two = clerk([reply(&["critical", "critical"])]);
    let (outcome, _) = watched(two.build().run("go".to_owned())).await;
    assert_eq!(
        how(&outcome),
        [
            "CRITICAL: nobody handled it, and it is critical: the run ends",
            "CRITICAL: it is dropped: the run ended",
        ]
    );
}

fn by_severity(escalation: Escalation) -> Resolution<String, String> {
    match escalation.severity {
        Severity::Low => retry_with_model(ScriptedModel::always(Script::text("better")).0),
        Severity::Medium => reroute_to_skill("by_hand"),
        Severity::High => return_partial_result(escalation.reason),
        Severity::Critical => throw(escalation.reason),
    }
}

/// All combinations of ends of parallel calls, alone and below an agent that handles escalations.
#[tokio::test]
async fn whatever_happens_beside_it() {
    let ends = ["low", "medium", "high", "critical", "throw", "fine"];
    let mut replies = Vec::new();
    for one in ends {
        for two in ends {
            replies.push(vec![one, two]);
            replies.extend(ends.map(|three| vec![one, two, three]));
        }
    }
    // A throw may come before there is anything to escalate.
    let has_some = |calls: &[&str], outcome: &Outcome<String>| {
        let is_none = calls.iter().all(|call| *call == "fine");
        let known = calls.contains(&"throw") || is_none == outcome.escalations.is_empty();
        assert!(known, "{calls:?}: {:?}", outcome.escalations);
    };
    for calls in replies {
        for turns in [1, 3] {
            let said = Script::text("told");
            let coder = clerk([reply(&calls), said]).budget(Budget::new().max_turns(turns));
            let (outcome, _) = watched(coder.build().run("go".to_owned())).await;
            has_some(&calls, &outcome);

            for decides_itself in [true, false] {
                let by_hand = |task: String| async move { Ok(task) };
                let skill = agents::agent::Skill::native("by_hand", "By hand.", by_hand);
                let coder = clerk([reply(&calls), Script::text("told")])
                    .budget(Budget::new().max_turns(turns));
                let coder = match decides_itself {
                    true => coder
                        .skill(agents::agent::Skill::model("work", "Works.").when(|_| true))
                        .skill(skill)
                        .on_escalation(by_severity)
                        .build(),
                    false => coder.build(),
                };
                let by_hand = |task: String| async move { Ok(task) };
                let skill = agents::agent::Skill::native("by_hand", "By hand.", by_hand);
                let boss = scripted_agent("boss", passes_on("clerk", "code it"))
                    .skill(agents::agent::Skill::model("manage", "Manages.").when(|_| true))
                    .skill(skill)
                    .on_escalation(by_severity)
                    .build();
                let team = Member::new(boss).delegate(coder).build();
                let (outcome, _) = watched(team.run("go".to_owned())).await;
                assert!(outcome.result.is_ok() || outcome.stopped.is_some());
                has_some(&calls, &outcome);
            }
        }
    }
}

/// A tool that takes this long.
fn slow(seconds: u64) -> FnTool {
    let schema = json!({ "type": "object", "properties": {} });
    FnTool::new(
        "slow",
        "Waits.",
        Effects::None,
        schema,
        move |_, _| async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            Ok::<_, Error>("at last")
        },
    )
}

/// Creates an agent whose model has no result yet while the other call of the reply is running.
fn half_told() -> Plain {
    let both = Script::calls([("work", r#"{"what":"medium"}"#), ("slow", "{}")]);
    clerk([both, Script::text("told")]).tool(slow(60)).build()
}

#[tokio::test(start_paused = true)]
async fn whatever_ends_the_work_from_without() {
    let ended = ["MEDIUM: it is dropped: the run ended"];
    let alone = ["MEDIUM: it is dropped: the work that it was a part of ended"];
    let agent = half_told();
    let token = CancellationToken::new();
    let cancel = token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(5)).await;
        cancel.cancel();
    });
    let (outcome, _) = watched(agent.run("go".to_owned()).cancel(token)).await;
    assert_eq!(how(&outcome), ended);

    let in_time = Budget::new().time(Duration::from_secs(5));
    let (outcome, _) = watched(half_told().run("go".to_owned()).budget(in_time)).await;
    assert_eq!(how(&outcome), ended);

    let quick = scripted_agent("quick", [Script::call("slow", "{}"), Script::text("first")])
        .tool(slow(5))
        .build();
    let race = first_of((half_told(), quick));
    let (outcome, _) = watched(race.run("go".to_owned())).await;
    assert_eq!(
        (outcome.result.is_ok(), how(&outcome)),
        (true, alone.map(str::to_owned).to_vec())
    );

    // Code that does not wait for the agent that it started.
    let schema = json!({ "type": "object", "properties": {} });
    let impatient = FnTool::new("ask", "Asks.", Effects::None, schema, |_, _| async {
        let agent = half_told();
        let asked = tokio::time::timeout(Duration::from_secs(5), agent.run("go".to_owned()));
        Ok::<_, Error>(format!("{}", asked.await.is_err()))
    });
    let script = [Script::call("ask", "{}"), Script::text("too late")];
    let asks = scripted_agent("asks", script).tool(impatient).build();
    let (outcome, _) = watched(asks.run("go".to_owned())).await;
    assert_eq!(
        (outcome.result.is_ok(), how(&outcome)),
        (true, alone.map(str::to_owned).to_vec())
    );
}

#[tokio::test]
async fn what_was_told_has_been_told() {
    let agent = clerk([reply(&["medium", "fine", "low"]), Script::text("told")]).build();
    let (outcome, lines) = watched(agent.run("go".to_owned())).await;
    let told = "nobody handled it; the model that called is told";
    assert_eq!(
        how(&outcome),
        [format!("MEDIUM: {told}"), format!("LOW: {told}")]
    );
    let last_call = lines.iter().rposition(|line| line.contains("✓ work"));
    let told = |line: &String| line.contains("nobody handled what `work` gave up");
    assert_eq!(lines.iter().filter(|line| told(line)).count(), 2);
    assert!(last_call < lines.iter().position(told), "{lines:#?}");
}
