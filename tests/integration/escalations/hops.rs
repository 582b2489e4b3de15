//! Escalations passed on by agents above: each hop records the agent and its words.

use super::{
    own_tools::Work,
    settlements::{clerk, reply, watched},
    team::passes_on,
};
use crate::world::scripted_agent;
use agents::{
    Agent, AgentBuilder, Severity,
    escalation::{EscalationHop, escalate, inherit},
    run::Stopped,
    team::Member,
    testing::{Script, ScriptedModel},
};

#[tokio::test]
async fn whoever_passes_it_on_with_other_words_is_named() {
    let foreman = scripted_agent("foreman", passes_on("clerk", "go"))
        .on_escalation(|_| escalate("the night shift gives up").severity(Severity::Critical));
    let driver = scripted_agent("driver", passes_on("foreman", "go"))
        .on_escalation(|_| inherit())
        .build();
    let below = Member::new(foreman.build()).delegate(clerk([reply(&["medium"])]).build());
    let team = Member::new(driver).delegate(below).build();
    let (outcome, lines) = watched(team.run("go".to_owned())).await;

    let escalation = &outcome.escalations[0].escalation;
    assert_eq!(escalation.source, "work");
    let said = |by: &str, reason: &str, severity| EscalationHop {
        by: by.to_owned(),
        reason: reason.to_owned(),
        severity,
    };
    let raised = [
        said("work", "another way is needed", Severity::Medium),
        said("foreman", "the night shift gives up", Severity::Critical),
    ];
    assert_eq!(escalation.raised, raised);
    assert_eq!(escalation.reason, raised[1].reason);
    let all = "`work` gave up (MEDIUM): another way is needed; `foreman` passed it on (CRITICAL): the night shift gives up";
    let stopped = outcome.stopped.as_ref().unwrap();
    assert!(matches!(stopped, Stopped::Escalated { raised: all, .. } if *all == raised));
    assert_eq!(stopped.to_string(), all);
    assert!(lines.contains(&format!("✗ stopped: {all}")), "{lines:#?}");
    assert_eq!(outcome.result.unwrap_err().to_string(), all);
}

#[tokio::test]
async fn the_model_is_told_what_the_tool_said_and_what_those_above_made_of_it() {
    let (model, handle) = ScriptedModel::new([reply(&["medium"]), Script::text("told")]);
    let agent = AgentBuilder::<String, String>::new("clerk")
        .tool(Work)
        .model(model)
        .on_escalation(|_| escalate("it is worse than that"))
        .build();
    let (outcome, lines) = watched(agent.run("go".to_owned())).await;
    let told = handle.requests().pop().unwrap();
    let said = "`work` gave up (MEDIUM): another way is needed; `clerk` passed it on (HIGH): it is worse than that; no agent above";
    assert!(told.last().contains(said), "{}", told.last());
    let error = outcome.outputs.receipts().next().unwrap().error.as_ref();
    assert_eq!(
        error.unwrap().reason.as_deref(),
        Some("another way is needed")
    );
    let line = "^ nobody handled what `work` gave up; the model that called is told; `clerk` had passed it on (HIGH): it is worse than that";
    assert!(lines.contains(&line.to_owned()), "{lines:#?}");
    let drawn = agents::timeline::of(&outcome).to_string();
    let row = "escalated (MEDIUM, passed on as HIGH by clerk";
    assert!(drawn.contains(row), "{drawn}");
}
