//! Escalations of an agent's own tools, which the agent settles itself.

use crate::world::{Plain, put_down, same, scripted_agent, scripted_model};
use agents::{
    Agent, AgentBuilder, Error, ErrorKind, Severity,
    escalation::{Escalation, Resolution, Settlement, return_partial_result, throw},
    journal::MemoryJournal,
    prelude::*,
    run::Stopped,
    testing::{Script, ScriptedModel},
};
use std::sync::{Arc, Mutex};

tool! {
    /// Does the named work, or escalates with the named severity.
    #[tool(reads)]
    pub(crate) async fn work(
        /// Name of the work.
        what: String,
    ) -> Result<String, String> {
        match what.as_str() {
            "low" | "medium" | "high" | "critical" => Err(what),
            _ => Ok(format!("{what} is done")),
        }
    }

    on_error {
        execution_error(Returned(how)) => match how.as_str() {
            "low" => escalate("a better model may manage", severity = Low),
            "medium" => escalate("another way is needed", severity = Medium),
            "high" => escalate("it cannot be done"),
            _ => escalate("the house burns", severity = Critical),
        },
    }
}

/// An agent that settles escalations by severity, as in the book.
pub(crate) struct Lead {
    better: ScriptedModel,
}

#[agent(prompt = "You lead.", tools = [Work])]
impl Lead {
    /// Does the work.
    #[skill(when = |task: &String| !task.is_empty())]
    async fn lead(&self, task: String) -> String;

    /// Does the work without a model.
    #[skill]
    fn by_hand(&self, task: String) -> String {
        format!("{task}, by hand")
    }

    on_escalation!(match escalation.severity {
        Low => retry_with_model(self.better.clone()),
        Medium => reroute_to_skill(Self::by_hand),
        High => return_partial_result(format!("partial: {}", escalation.reason)),
        Critical => escalate(escalation.reason, severity = Critical),
    });
}

pub(crate) fn lead(better: impl IntoIterator<Item = Script>) -> (Lead, ScriptedModel) {
    let (better, handle) = ScriptedModel::new(better);
    (Lead { better }, handle)
}

pub(crate) fn asks(what: &str) -> Script {
    Script::call("work", format!(r#"{{"what":"{what}"}}"#))
}

#[tokio::test]
async fn x12_another_model_goes_on_from_the_call_that_failed() {
    let (model, weak) = ScriptedModel::new([asks("first"), asks("low")]);
    let (lead, strong) = lead([asks("second"), Script::text("all done")]);
    let outcome = lead.run("build it").model(model).outcome().await.unwrap();

    assert_eq!(outcome.result.unwrap(), "all done");
    assert!(!outcome.partial);
    assert_eq!(weak.requests().len(), 2);
    let seen = &strong.requests()[0];
    assert_eq!(seen.messages.len(), 6, "it knows all that was said");
    assert!(
        seen.last()
            .contains("`work` gave up (LOW): a better model may manage"),
        "{}",
        seen.last()
    );
    assert!(
        seen.last().contains("make the call again"),
        "{}",
        seen.last()
    );
    let names: Vec<_> = outcome
        .outputs
        .receipts()
        .map(|one| one.input.as_str().to_owned())
        .collect();
    assert_eq!(
        names,
        [
            r#"{"what":"first"}"#,
            r#"{"what":"low"}"#,
            r#"{"what":"second"}"#
        ],
        "nothing is done twice"
    );
    let [receipt] = &outcome.escalations[..] else {
        panic!("{:?}", outcome.escalations)
    };
    assert_eq!(receipt.escalation.path, ["lead"]);
    assert_eq!(receipt.escalation.attempts, 1);
    assert_eq!(
        receipt.settled,
        Settlement::RetriedWithModel {
            agent: "lead".into(),
            model: "scripted".into()
        }
    );
}

#[tokio::test]
async fn x12_a_skill_gets_the_original_input() {
    let (model, handle) = ScriptedModel::new([asks("first"), asks("medium")]);
    let (lead, _) = lead([]);
    let outcome = lead.run("build it").model(model).outcome().await.unwrap();

    assert_eq!(outcome.result.unwrap(), "build it, by hand");
    assert_eq!(handle.requests().len(), 2, "the model is not told");
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    assert_eq!(receipts.len(), 2);
    assert_eq!(receipts[1].error.as_ref().unwrap().kind, "EscalationError");
    let settled = Settlement::ReroutedToSkill {
        agent: "lead".into(),
        skill: "by_hand".into(),
    };
    assert_eq!(outcome.escalations[0].settled, settled);
}

#[tokio::test]
async fn x12_a_partial_result_is_marked() {
    let (model, _) = ScriptedModel::new([asks("high")]);
    let (lead, _) = lead([]);
    let outcome = lead.run("build it").model(model).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "partial: it cannot be done");
    assert!(outcome.partial);
}

#[tokio::test]
async fn critical_and_unhandled_ends_the_run() {
    let (model, _) = ScriptedModel::new([asks("critical"), Script::text("never asked")]);
    let (lead, _) = lead([]);
    let outcome = lead.run("build it").model(model).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Escalated);
    assert!(matches!(outcome.stopped, Some(Stopped::Escalated { .. })));
    assert_eq!(outcome.escalations[0].settled, Settlement::Ended);
}

fn with_handler<R: agents::escalation::IntoResolution<String, String>>(
    handler: impl Fn(Escalation) -> R + Send + Sync + 'static,
) -> Plain {
    AgentBuilder::new("lead")
        .tool(Work)
        .on_escalation(handler)
        .build()
}

#[tokio::test]
async fn x13_below_critical_and_unhandled_the_model_is_told() {
    let (model, handle) = ScriptedModel::new([asks("high"), Script::text("then not")]);
    let agent = with_handler(|_| None::<Resolution<String, String>>);
    let outcome = agent.run("go").model(model).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "then not");
    assert_eq!(outcome.escalations[0].settled, Settlement::ReportedToModel);
    assert!(
        handle.requests()[1]
            .last()
            .contains("no agent above handled this")
    );
}

#[tokio::test]
async fn a_handler_may_end_everything() {
    let (model, _) = ScriptedModel::new([asks("low")]);
    let agent = with_handler(|escalation| throw(format!("no: {}", escalation.reason)));
    let outcome = agent.run("go").model(model).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Thrown);
    assert!(matches!(&outcome.stopped, Some(Stopped::Thrown { source, .. }) if source == "lead"));
}

#[tokio::test]
async fn a_handler_that_panics_handles_nothing() {
    let (model, _) = ScriptedModel::new([asks("high"), Script::text("still here")]);
    let agent = with_handler(|_| -> Resolution<String, String> { panic!("oops") });
    assert_eq!(agent.run("go").model(model).await.unwrap(), "still here");
}

#[tokio::test]
async fn models_run_out() {
    let script = || std::iter::repeat_with(|| asks("low")).take(3);
    let (model, _) = ScriptedModel::new(script());
    let given = Arc::new(Mutex::new(0));
    let counted = given.clone();
    let agent = with_handler(move |_| {
        *counted.lock().unwrap() += 1;
        let (model, _) = ScriptedModel::new([asks("low"), Script::text("told at last")]);
        agents::escalation::retry_with_model(model)
    });
    let outcome = agent.run("go").model(model).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "told at last");
    assert_eq!(outcome.escalations.len(), 4);
    assert_eq!(outcome.escalations[3].settled, Settlement::ReportedToModel);
}

#[tokio::test]
async fn rerouting_for_ever_ends() {
    let (model, _) = ScriptedModel::new((0..10).map(|n| {
        if n < 4 {
            asks("medium")
        } else {
            Script::text("enough")
        }
    }));
    let agent = AgentBuilder::<String, String>::new("lead")
        .tool(Work)
        .skill(agents::agent::Skill::model("again", "Again."))
        .on_escalation(|_| agents::escalation::reroute_to_skill("again"))
        .build();
    let outcome = agent.run("go").model(model).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "enough");
    let how: Vec<_> = outcome
        .escalations
        .iter()
        .map(|one| matches!(one.settled, Settlement::ReroutedToSkill { .. }))
        .collect();
    assert_eq!(how, [true, true, true, false]);
}

#[tokio::test]
async fn an_answer_that_is_given_up_climbs_too() {
    let (model, _) = ScriptedModel::new([Script::text("not a number")]);
    let agent = AgentBuilder::<String, u32>::new("counter")
        .on_error(|error, _| match error {
            agents::recovery::CallError::InvalidOutput(..) => Some(
                agents::recovery::escalate::<agents::recovery::InvalidOutput>("it cannot count")
                    .into(),
            ),
            _ => None,
        })
        .on_escalation(|escalation| {
            assert_eq!(escalation.source, "counter");
            return_partial_result(7)
        })
        .build();
    let outcome = agent.run("count").model(model).outcome().await.unwrap();
    assert!(outcome.partial);
    assert_eq!(outcome.result.unwrap(), 7);
}

#[tokio::test]
async fn plain_code_gets_what_its_agent_hands_up() {
    let inner = Arc::new(
        scripted_agent("inner", [asks("critical")])
            .tool(Work)
            .build(),
    );
    let body = agents::agent::Skill::native("body", "Runs another.", move |input: String| {
        let inner = inner.clone();
        async move {
            let error: Error = inner.run(input).await.unwrap_err();
            let escalation = error.escalation().unwrap();
            assert_eq!(
                (escalation.severity, &*escalation.reason),
                (Severity::Critical, "the house burns")
            );
            Ok("the code decided".to_owned())
        }
    });
    let outer = AgentBuilder::<String, String>::new("outer")
        .skill(body)
        .on_escalation(|_| return_partial_result("never asked".to_owned()))
        .build();
    let outcome = outer.run("go").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "the code decided");
    assert_eq!(outcome.escalations[0].settled, Settlement::Returned);
    assert_eq!(outcome.escalations[0].escalation.path, ["inner"]);
}

#[tokio::test]
async fn plain_code_hears_of_nothing_that_is_not_critical() {
    for what in ["low", "medium", "high"] {
        let (model, handle) = ScriptedModel::new([asks(what), Script::text("without it")]);
        let inner = AgentBuilder::<String, String>::new("inner")
            .tool(Work)
            .model(model);
        let inner = Arc::new(inner.build());
        let body = agents::agent::Skill::native("body", "Runs another.", move |input: String| {
            let inner = inner.clone();
            async move { inner.run(input).await }
        });
        let outer = AgentBuilder::<String, String>::new("outer")
            .skill(body)
            .build();
        let outcome = outer.run("go").outcome().await.unwrap();
        assert_eq!(outcome.result.unwrap(), "without it");
        assert_eq!(outcome.escalations[0].settled, Settlement::ReportedToModel);
        assert!(
            handle.requests()[1]
                .last()
                .contains("no agent above handled this")
        );
    }
}

#[tokio::test]
async fn from_every_entry_it_comes_to_the_same_end() {
    for what in ["low", "medium", "high"] {
        let script =
            |after: usize| scripted_model([asks("first"), asks(what)].into_iter().skip(after));
        let better = || [asks("second"), Script::text("all done")];
        let journal = MemoryJournal::new();
        let (first, _) = lead(better());
        let run = first.run("build it").model(script(0));
        let whole = run.journal(journal.clone()).outcome().await.unwrap();
        for at in put_down(&journal) {
            let replies = at.replies();
            let rest = lead(better().into_iter().skip(replies.saturating_sub(2))).0;
            let run = rest.run("build it").model(script(replies));
            let resumed = run.journal(at.journal()).outcome().await.unwrap();
            same(&resumed, &whole, &at);
        }
    }
}
