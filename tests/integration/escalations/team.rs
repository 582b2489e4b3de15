//! A team for tests of escalations: coder ► lead ► boss. The lead has no handler unless a test sets one.

use super::own_tools::{Work, asks};
use crate::world::{Plain, scripted_agent};
use agents::{
    Agent, AgentBuilder, ErrorKind, Severity,
    agent::Skill,
    compose::Step,
    escalation::{
        Escalation, IntoResolution, Settlement, escalate, inherit, reroute_to, reroute_to_skill,
        retry_with_model, return_partial_result, throw,
    },
    prelude::*,
    run::Stopped,
    team::{Member, Team},
    testing::{Script, ScriptedModel},
};

pub(crate) fn coder(script: impl IntoIterator<Item = Script>) -> (Plain, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(script);
    (
        AgentBuilder::new("coder").tool(Work).model(model).build(),
        handle,
    )
}

/// Returns a script that asks the delegate below and repeats its answer.
pub(crate) fn passes_on(to: &str, task: &str) -> [Script; 2] {
    [
        Script::call(to, format!(r#"{{"input":"{task}"}}"#)),
        Script::With(Box::new(|asked| agents::model::Reply {
            content: format!("said: {}", asked.last()),
            ..agents::model::Reply::default()
        })),
    ]
}

/// Creates a clerk with [`Work`], which a model with this script drives and which has this handler.
pub(crate) fn clerk<R: IntoResolution<String, String>>(
    script: impl IntoIterator<Item = Script>,
    handler: impl Fn(Escalation) -> R + Send + Sync + 'static,
) -> AgentBuilder<'static, String, String> {
    scripted_agent("clerk", script)
        .tool(Work)
        .on_escalation(handler)
}

/// Creates a boss with a handler, above a lead without one.
pub(crate) fn team<R: IntoResolution<String, String>>(
    coder: Plain,
    handler: impl Fn(Escalation) -> R + Send + Sync + 'static,
) -> Team<Plain> {
    let by_hand = Skill::native("by_hand", "By hand.", |task: String| async move {
        Ok(format!("{task}, by hand"))
    });
    let boss = scripted_agent("boss", passes_on("lead", "plan it"))
        .skill(Skill::model("manage", "Manages.").when(|_: &String| true))
        .skill(by_hand)
        .on_escalation(handler)
        .build();
    let lead = scripted_agent("lead", passes_on("coder", "code it")).build();
    Member::new(boss)
        .delegate(Member::new(lead).delegate(coder))
        .build()
}

pub(crate) fn settled(outcome: &agents::Outcome<String>) -> &Settlement {
    &outcome.escalations[0].settled
}

#[tokio::test]
async fn x11_the_failed_agent_goes_on_with_the_model_from_three_levels_up() {
    let (coder, weak) = coder([asks("first"), asks("low")]);
    let (strong, handle) = ScriptedModel::new([asks("second"), Script::text("coded")]);
    let outcome = team(coder, move |_| retry_with_model(strong.clone()))
        .run("build")
        .outcome()
        .await
        .unwrap();

    assert_eq!(outcome.result.unwrap(), "said: said: coded");
    assert_eq!((weak.count(), handle.count()), (2, 2));
    let [receipt] = &outcome.escalations[..] else {
        panic!()
    };
    assert_eq!(receipt.escalation.path, ["coder", "lead", "boss"]);
    assert_eq!(receipt.escalation.source, "work");
    let settled = Settlement::RetriedWithModel {
        agent: "boss".into(),
        model: "scripted".into(),
    };
    assert_eq!(receipt.settled, settled);
    let works: Vec<_> = outcome
        .outputs
        .receipts()
        .filter(|one| one.name == "work")
        .map(|one| one.input.as_str().to_owned())
        .collect();
    assert_eq!(
        works,
        [
            r#"{"what":"first"}"#,
            r#"{"what":"low"}"#,
            r#"{"what":"second"}"#
        ]
    );
    assert!(!outcome.partial);
}

#[tokio::test]
async fn the_handlers_own_work_is_rerouted() {
    let (coder, _) = coder([asks("medium")]);
    let outcome = team(coder, |_| reroute_to_skill("by_hand"))
        .run("build")
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        outcome.result.as_ref().unwrap(),
        "build, by hand",
        "it is the boss's input"
    );
    assert_eq!(
        settled(&outcome),
        &Settlement::ReroutedToSkill {
            agent: "boss".into(),
            skill: "by_hand".into()
        }
    );
    let kinds: Vec<_> = outcome
        .outputs
        .receipts()
        .map(|one| {
            (
                one.name.as_str(),
                one.error.as_ref().map(|error| error.kind.as_str()),
            )
        })
        .collect();
    assert_eq!(kinds.len(), 3, "{kinds:?}");
    assert!(
        kinds.contains(&("work", Some("EscalationError"))),
        "{kinds:?}"
    );
    assert!(
        kinds.iter().all(|(_, error)| error.is_some()),
        "what was given up is not a success: {kinds:?}"
    );
}

/// Does the boss's work.
#[agent]
pub(crate) fn deputy(task: String) -> String {
    format!("{task}, by the deputy")
}

#[tokio::test]
async fn another_agent_takes_over() {
    let (coder, _) = coder([asks("medium")]);
    let outcome = team(coder, |_| reroute_to(Deputy))
        .run("build")
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.as_ref().unwrap(), "build, by the deputy");
    assert_eq!(
        settled(&outcome),
        &Settlement::ReroutedTo {
            agent: "boss".into(),
            delegate: "deputy".into()
        }
    );
}

#[tokio::test]
async fn the_handlers_run_ends_with_a_partial_result() {
    let (coder, _) = coder([asks("high")]);
    let outcome = team(coder, |escalation| {
        return_partial_result(format!("3 of 5: {}", escalation.reason))
    })
    .run("build")
    .outcome()
    .await
    .unwrap();
    assert_eq!(
        outcome.result.as_ref().unwrap(),
        "3 of 5: it cannot be done"
    );
    assert!(outcome.partial);
}

#[tokio::test]
async fn x12_it_climbs_on_with_another_reason_and_the_model_that_called_is_told() {
    let (coder, handle) = coder([asks("low"), Script::text("not coded")]);
    let outcome = team(coder, |escalation| {
        escalate(format!("boss: {}", escalation.reason)).severity(Severity::Medium)
    })
    .run("build")
    .outcome()
    .await
    .unwrap();
    assert_eq!(outcome.result.as_ref().unwrap(), "said: said: not coded");
    assert_eq!(settled(&outcome), &Settlement::ReportedToModel);
    assert_eq!(outcome.escalations[0].escalation.severity, Severity::Medium);
    let told = handle.requests().pop().unwrap();
    assert!(
        told.last()
            .contains("(MEDIUM): boss: a better model may manage"),
        "{}",
        told.last()
    );
}

#[tokio::test]
async fn raised_to_critical_by_the_handler_it_ends_the_run() {
    let (coder, _) = coder([asks("low")]);
    let outcome = team(coder, |escalation| {
        escalate(escalation.reason).severity(Severity::Critical)
    })
    .run("build")
    .outcome()
    .await
    .unwrap();
    assert!(matches!(
        outcome.stopped,
        Some(Stopped::Escalated {
            severity: Severity::Critical,
            ..
        })
    ));
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Escalated);
    assert_eq!(
        outcome.outputs.receipts().count(),
        3,
        "every call has its receipt"
    );
}

#[tokio::test]
async fn a_throw_from_above_ends_the_run() {
    let (coder, _) = coder([asks("low")]);
    let outcome = team(coder, |_| throw("enough"))
        .run("build")
        .outcome()
        .await
        .unwrap();
    assert!(
        matches!(&outcome.stopped, Some(Stopped::Thrown { source, reason }) if source == "boss" && reason == "enough")
    );
}

#[tokio::test]
async fn the_nearest_handler_decides_by_severity_and_the_next_gets_the_rest() {
    for (what, by) in [("medium", "lead"), ("high", "boss")] {
        let lead = scripted_agent("lead", passes_on("coder", "code it"))
            .on_escalation(|escalation| match escalation.severity {
                Severity::Medium => return_partial_result("from the lead".to_owned()),
                _ => inherit(),
            })
            .build();
        let boss = scripted_agent("boss", passes_on("lead", "plan it"))
            .on_escalation(|_| return_partial_result("from the boss".to_owned()))
            .build();
        let team = Member::new(boss)
            .delegate(Member::new(lead).delegate(coder([asks(what)]).0))
            .build();
        let outcome = team.run("build").outcome().await.unwrap();
        assert_eq!(outcome.escalations.len(), 1);
        assert_eq!(
            settled(&outcome),
            &Settlement::PartialResult { agent: by.into() }
        );
        match by {
            "lead" => {
                let said = outcome.result.unwrap();
                assert!(
                    said.starts_with("said: from the lead\n[this result is partial"),
                    "{said}"
                );
                assert!(
                    !outcome.partial,
                    "the boss was told, and has finished its own work"
                );
            }
            _ => {
                assert_eq!(outcome.result.unwrap(), "from the boss");
                assert!(outcome.partial);
            }
        }
    }
}

#[tokio::test]
async fn it_climbs_out_of_a_tuple_and_out_of_a_loop() {
    let escalating = || coder([asks("high")]).0;
    let reviewer = || scripted_agent("reviewer", [Script::text("fine")]).build();
    let both = (escalating(), reviewer())
        .map(|(code, review): (String, String)| format!("{code} {review}"));
    let again = escalating()
        .until(|said: String| Step::<String, String>::Done(said))
        .at_most(3);
    for (member, name) in [(both.boxed(), "tuple"), (again.boxed(), "until")] {
        let tool = member
            .name()
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join("_");
        let boss = scripted_agent("boss", passes_on(&tool, "do it"))
            .on_escalation(|escalation| return_partial_result(format!("{:?}", escalation.path)))
            .build();
        let team = Member::new(boss).delegate(member).build();
        let outcome = team.run("build").outcome().await.unwrap();
        assert_eq!(outcome.result.unwrap(), r#"["coder", "boss"]"#, "{name}");
    }
}
