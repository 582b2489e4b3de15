//! Escalations raised by delegates, several escalations at once, and escalations in an interrupted run.

use super::{
    own_tools::{Work, asks},
    team::{Deputy, coder, passes_on, team},
};
use crate::world::{Plain, put_down, same, scripted_agent, scripted_model};
use agents::{
    Agent, AgentBuilder, Error, Severity,
    escalation::{
        Escalation, Settlement, inherit, reroute_to, retry_with_model, return_partial_result,
    },
    journal::MemoryJournal,
    prelude::*,
    run::Stopped,
    team::{Member, Team},
    testing::{Script, ScriptedModel},
};
use std::sync::{Arc, Mutex};

/// Escalates every task.
#[agent]
fn desperate(task: String) -> Result<String, Error> {
    match task.as_str() {
        "throw" => Err(Error::thrown("nothing works")),
        _ => Err(Error::escalated("I cannot", Severity::Low)),
    }
}

fn above_desperate(task: &str, handled: Arc<Mutex<Vec<Escalation>>>) -> Team<Plain> {
    let boss = scripted_agent("boss", passes_on("desperate", task))
        .on_escalation(move |escalation| {
            handled.lock().unwrap().push(escalation);
            retry_with_model(scripted_model([Script::text("never asked")]))
        })
        .build();
    Member::new(boss).delegate(Desperate).build()
}

#[tokio::test]
async fn what_a_deterministic_delegate_hands_up_comes_to_its_parent_once() {
    let handled = Arc::default();
    let outcome = above_desperate("try", Arc::clone(&handled))
        .run("build")
        .outcome()
        .await
        .unwrap();
    let handled = handled.lock().unwrap();
    assert_eq!(handled.len(), 1);
    assert_eq!(
        (&*handled[0].source, &*handled[0].reason),
        ("desperate", "I cannot")
    );
    assert_eq!(handled[0].path, ["boss"]);
    // The boss made the call, so the boss continues with another model.
    assert_eq!(outcome.result.unwrap(), "never asked");
    assert_eq!(settled_kind(&outcome.escalations[0].settled), "model");
}

fn settled_kind(settled: &Settlement) -> &'static str {
    match settled {
        Settlement::RetriedWithModel { .. } => "model",
        _ => "other",
    }
}

#[tokio::test]
async fn what_a_deterministic_delegate_throws_ends_the_run() {
    let outcome = above_desperate("throw", Arc::default())
        .run("build")
        .outcome()
        .await
        .unwrap();
    assert!(
        matches!(&outcome.stopped, Some(Stopped::Thrown { reason, .. }) if reason == "nothing works")
    );
    assert!(outcome.escalations.is_empty());
}

#[tokio::test]
async fn an_answer_given_up_by_a_delegate_is_settled_above_or_told_to_its_parent() {
    for handles in [true, false] {
        let counter = AgentBuilder::<String, u32>::new("counter")
            .model(scripted_model([Script::text("many")]))
            .on_error(|error, _| match error {
                agents::recovery::CallError::InvalidOutput(..) => Some(
                    agents::recovery::escalate::<agents::recovery::InvalidOutput>(
                        "it cannot count",
                    )
                    .into(),
                ),
                _ => None,
            })
            .build();
        let boss = scripted_agent("boss", passes_on("counter", "count"))
            .on_escalation(move |_| match handles {
                true => Some(retry_with_model(scripted_model([Script::text("7")]))),
                false => None,
            })
            .build();
        let outcome = Member::new(boss)
            .delegate(counter)
            .build()
            .run("go")
            .outcome()
            .await
            .unwrap();
        assert_eq!(outcome.escalations.len(), 1, "{:?}", outcome.escalations);
        assert_eq!(outcome.escalations[0].escalation.path, ["counter", "boss"]);
        let said = outcome.result.unwrap();
        match handles {
            true => assert_eq!(said, "said: 7"),
            false => {
                assert_eq!(outcome.escalations[0].settled, Settlement::Returned);
                assert!(
                    said.contains("`counter` gave up (HIGH): it cannot count"),
                    "{said}"
                );
                assert!(said.contains("no agent above handled this"), "{said}");
            }
        }
    }
}

#[tokio::test]
async fn two_at_once_are_settled_one_after_the_other() {
    let (coder, _) = coder([
        Script::calls([
            ("work", r#"{"what":"low"}"#),
            ("work", r#"{"what":"medium"}"#),
        ]),
        Script::text("coded"),
    ]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = seen.clone();
    let outcome = team(coder, move |escalation| {
        kept.lock().unwrap().push(escalation.severity);
        inherit()
    })
    .run("build")
    .outcome()
    .await
    .unwrap();
    assert_eq!(*seen.lock().unwrap(), [Severity::Low, Severity::Medium]);
    assert_eq!(outcome.escalations.len(), 2);
    assert_eq!(outcome.result.unwrap(), "said: said: coded");
}

#[tokio::test]
async fn from_every_entry_the_team_comes_to_the_same_end() {
    for what in ["low", "medium", "high"] {
        let run = |skip: usize| {
            // All agents share one model, so that a journal shows how much of the script is used up.
            let mut script = vec![
                Script::call("lead", r#"{"input":"plan it"}"#),
                Script::call("coder", r#"{"input":"code it"}"#),
                asks("first"),
                asks(what),
                Script::text("coded"),
                Script::text("led"),
                Script::text("bossed"),
            ];
            script.drain(..skip);
            let (model, _) = ScriptedModel::new(script);
            let strong = model.clone();
            let boss = AgentBuilder::<String, String>::new("boss")
                .on_escalation(move |escalation| match escalation.severity {
                    Severity::Low => retry_with_model(strong.clone()),
                    Severity::Medium => reroute_to(Deputy),
                    _ => return_partial_result("partly".to_owned()),
                })
                .build();
            let lead: Plain = AgentBuilder::new("lead").build();
            let coder: Plain = AgentBuilder::new("coder").tool(Work).build();
            (
                Member::new(boss)
                    .delegate(Member::new(lead).delegate(coder))
                    .build(),
                model,
            )
        };
        let journal = MemoryJournal::new();
        let (team, model) = run(0);
        let whole = team.run("build").model(model).journal(journal.clone());
        let whole = whole.outcome().await.unwrap();
        for at in put_down(&journal) {
            let (team, model) = run(at.replies());
            let resumed = team.run("build").model(model).journal(at.journal());
            same(&resumed.outcome().await.unwrap(), &whole, &at);
        }
    }
}
