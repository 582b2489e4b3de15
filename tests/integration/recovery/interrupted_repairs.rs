//! Repairs during which the run is cancelled or interrupted, and the models of repair agents.

use crate::recovery::arms::tool_with;
use crate::world::{Plain, scripted_agent};
use agents::{
    Agent, AgentBuilder, Effects, ErrorKind, Outcome,
    agent::Skill,
    journal::MemoryJournal,
    recovery::*,
    run::{Approval, Stopped},
    testing::{Script, ScriptedModel},
    tool::{self, FnTool, ToolSpec},
};
use serde_json::json;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Creates an agent whose call cannot be read, and is repaired by this agent.
fn mended_by(mender: Plain<Repair>) -> AgentBuilder<'static, String, String> {
    let mender = Arc::new(mender);
    let listed = mender.clone();
    AgentBuilder::new("caller")
        .tool(tool_with(0).0)
        .fixer(listed)
        .on_error(move |error, _| match error {
            CallError::InvalidArgs(..) => {
                let decision = fix_with::<InvalidArgs>(mender.clone()).retries(3);
                Some(decision.or(feedback("give up")).into())
            }
            _ => None,
        })
}

fn mender() -> AgentBuilder<'static, Repair, String> {
    AgentBuilder::new("mender").prompt("Repair JSON.")
}

fn broken() -> Script {
    Script::call("flaky", "gibberish")
}

/// Returns the tools of the receipts, each with `true` if the call succeeded.
fn receipts(outcome: &Outcome<String>) -> Vec<(String, bool)> {
    let receipts = outcome.outputs.receipts();
    receipts
        .map(|receipt| (receipt.name.clone(), receipt.is_ok()))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_repair_asks_nobody_any_more_and_closes_its_receipts() {
    let hang = FnTool::new(
        "look",
        "Looks it up.",
        Effects::Reads,
        json!({"type": "object"}),
        |_, _| std::future::pending::<Result<(), String>>(),
    );
    let look = || Script::call("look", "{}");
    let (fixer, asked) = ScriptedModel::new([look(), look(), look()]);
    let (model, handle) = ScriptedModel::new([broken(), Script::text("never said")]);
    let agent: Plain = mended_by(mender().tool(hang).model(fixer).build())
        .model(model)
        .build();
    let token = CancellationToken::new();
    let trigger = token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(5)).await;
        trigger.cancel();
    });
    let outcome = agent.run("go").cancel(token).outcome().await.unwrap();
    assert_eq!(outcome.stopped, Some(Stopped::Cancelled));
    assert_eq!((handle.count(), asked.count()), (1, 1));
    // The call under repair keeps its failure; the call of the repair agent is abandoned.
    assert_eq!(
        receipts(&outcome),
        [("flaky".to_owned(), false), ("look".to_owned(), false)]
    );
    let messages: Vec<_> = outcome
        .outputs
        .receipts()
        .map(|receipt| receipt.error.as_ref().unwrap().message.clone())
        .collect();
    assert!(messages[0].contains("cannot be read"), "{messages:?}");
    assert_eq!(
        messages[1],
        "the run ended before this call did: it was cut off while it ran, which changed nothing"
    );
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

/// Creates a repair agent whose tool needs approval; also returns the count of its executions.
fn asking(model: ScriptedModel) -> (Plain<Repair>, Arc<AtomicU32>) {
    let looked = Arc::new(AtomicU32::new(0));
    let count = looked.clone();
    let spec = ToolSpec::new(
        "look",
        "Looks it up.",
        Effects::Writes,
        json!({"type": "object"}),
    )
    .approval(tool::NeedsApproval::Always);
    let look = FnTool::with_spec(spec, move |_, _| {
        count.fetch_add(1, SeqCst);
        async { Ok::<_, String>("it is 7") }
    });
    (mender().tool(look).model(model).build(), looked)
}

#[tokio::test(start_paused = true)]
async fn a_repair_that_waits_for_a_person_is_put_down_and_goes_on_where_it_was() {
    let journal = MemoryJournal::new();
    let questions = Arc::new(AtomicU32::new(0));
    let (fixer, first_fixer) = ScriptedModel::new([Script::call("look", "{}")]);
    let (model, first_model) = ScriptedModel::new([broken()]);
    let (mender, looked) = asking(fixer);
    let agent: Plain = mended_by(mender).model(model).build();
    let asked = questions.clone();
    let nobody_answers = move |_| {
        asked.fetch_add(1, SeqCst);
        std::future::pending::<Approval>()
    };
    let run = agent
        .run("go")
        .approver(nobody_answers)
        .journal(journal.clone());
    let hour = Duration::from_secs(3600);
    let put_down = tokio::time::timeout(hour, async { run.await }).await;
    assert!(put_down.is_err(), "somebody has to answer first");
    assert_eq!(
        (questions.load(SeqCst), looked.load(SeqCst)),
        (1, 0),
        "one question, and nothing done before the answer"
    );
    assert_eq!((first_model.count(), first_fixer.count()), (1, 1));
    let stored = crate::world::PutDown(journal.entries());

    for (approval, told) in [
        (Approval::Approve, "it is 7"),
        (Approval::deny("no"), "not approved: no"),
    ] {
        let (fixer, second_fixer) = ScriptedModel::new([Script::text(r#"{"n": 7}"#)]);
        let (model, second_model) = ScriptedModel::new([Script::text("end")]);
        let (mender, looked) = asking(fixer);
        let agent: Plain = mended_by(mender).model(model).build();
        let approved = approval == Approval::Approve;
        let questions = Arc::new(AtomicU32::new(0));
        let asked = questions.clone();
        let answers = move |_| {
            asked.fetch_add(1, SeqCst);
            let approval = approval.clone();
            async move { approval }
        };
        let run = agent.run("go").journal(stored.journal()).approver(answers);
        let outcome = run.outcome().await.unwrap();
        // The models get only the next requests, and none that they have answered.
        assert_eq!((second_model.count(), second_fixer.count()), (1, 1));
        assert_eq!(questions.load(SeqCst), 1);
        assert_eq!(looked.load(SeqCst), u32::from(approved));
        let request = &second_fixer.requests()[0];
        assert!(request.last().contains(told), "{}", request.last());
        assert_eq!(second_model.requests()[0].last(), "7");
        assert_eq!(
            receipts(&outcome),
            [("flaky".to_owned(), true), ("look".to_owned(), approved)]
        );
        assert_eq!(outcome.usage.requests, 4, "what was spent before counts");
        assert_eq!(outcome.result.unwrap(), "end");
    }
}

#[tokio::test]
async fn a_repair_agent_without_a_model_is_driven_by_its_caller_s() {
    let script = || [broken(), Script::text(r#"{"n": 3}"#), Script::text("end")];
    // The caller's model, although the run has another.
    let (model, handle) = ScriptedModel::new(script());
    let (other, not_asked) = ScriptedModel::new([]);
    let agent: Plain = mended_by(mender().build()).model(model).build();
    assert_eq!(agent.run("go").model(other).await.unwrap(), "end");
    assert_eq!((handle.count(), not_asked.count()), (3, 0));
    // The run's model, if the caller has none.
    let (model, handle) = ScriptedModel::new(script());
    let agent: Plain = mended_by(mender().build()).build();
    assert_eq!(agent.run("go").model(model).await.unwrap(), "end");
    let requests = handle.requests();
    let repair: Repair = serde_json::from_str(requests[1].last()).unwrap();
    assert_eq!(
        (repair.tool.as_str(), repair.raw.as_str()),
        ("flaky", "gibberish")
    );
    assert_eq!(requests[1].tools, ["escalate", "throw_exception"]);
    assert_eq!(requests[2].last(), "3");
}

#[tokio::test]
async fn without_any_model_the_agent_and_its_repair_agents_are_named_before_anything_runs() {
    let error = mended_by(mender().build()).build().run("go").await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert_eq!(
        error.message(),
        "agent `caller` has no model; name one with `#[agent(model = ..)]` or `AgentBuilder::model`, \
         or give one to the whole run with `.run(..).model(..)`; the repair agents of its arms (`mender`) use the same model, \
         unless they bring their own"
    );
    // A repair agent that chooses among its skills also uses the caller's model.
    let script = [
        broken(),
        Script::text("by_hand"),
        Script::text(r#"{"n": 3}"#),
        Script::text("end"),
    ];
    let (model, handle) = ScriptedModel::new(script);
    let skills = mender()
        .skill(Skill::model("by_hand", "Slowly."))
        .skill(Skill::model("at_a_glance", "Quickly."));
    let agent: Plain = mended_by(skills.build()).model(model).build();
    assert_eq!(agent.run("go").await.unwrap(), "end");
    assert_eq!(handle.count(), 4);
    assert_eq!(handle.requests()[3].last(), "3");
}

#[tokio::test]
async fn a_run_that_is_stored_refuses_a_repair_agent_that_it_would_not_find_again() {
    let (fixer, asked) = ScriptedModel::always(Script::text(r#"{"n": 3}"#));
    let unlisted = || {
        let mender = Arc::new(mender().model(fixer.clone()).build());
        scripted_agent("caller", [broken(), Script::text("end")])
            .tool(tool_with(0).0)
            .on_error(move |error, _| match error {
                CallError::InvalidArgs(..) => Some(fix_with::<InvalidArgs>(mender.clone()).into()),
                _ => None,
            })
            .build()
    };
    let agent = unlisted();
    let outcome = agent
        .run("go")
        .journal(MemoryJournal::new())
        .outcome()
        .await
        .unwrap();
    assert_eq!(asked.count(), 0);
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert!(
        error
            .to_string()
            .starts_with("agent `caller`: an arm names the repair agent `mender` through a helper")
            && error.to_string().contains("`fixers = [..]`"),
        "{error}"
    );
    // A run without a journal never looks for the repair agent.
    assert_eq!(unlisted().run("go").await.unwrap(), "end");
    assert_eq!(asked.count(), 1);
}

/// A replacement that is still waiting when the run ends has not run. The receipt has the model's text, and the
/// replacement as an attempt.
#[tokio::test(start_paused = true)]
async fn a_text_that_waited_when_the_run_ended_was_a_try() {
    for with_approval in [true, false] {
        let mut spec = ToolSpec::new("load", "Loads.", Effects::Writes, json!({"type": "object"}));
        if with_approval {
            spec = spec.approval(tool::NeedsApproval::Always);
        }
        let load = FnTool::with_spec(spec, |_, _| async { Ok::<_, String>("loaded") });
        let agent = scripted_agent("mate", [Script::call("load", "three crates")])
            .tool(load)
            .on_error(|error, _| match error {
                CallError::InvalidArgs(..) => Some(fix::<InvalidArgs>(r#"{"n":3}"#).into()),
                _ => None,
            })
            .build();
        let token = CancellationToken::new();
        let trigger = token.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            trigger.cancel();
        });
        let run = agent
            .run("go")
            .cancel(token)
            .rate_limits(Never)
            .approver(|_: agents::run::ApprovalRequest| std::future::pending::<Approval>());
        let outcome = run.outcome().await.unwrap();
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert!(receipt.attempts.is_empty());
        assert_eq!(receipt.input.as_str(), r#""three crates""#);
        let error = receipt.error.as_ref().unwrap();
        assert!(error.message.contains("cannot be read"), "{error:?}");
        let why = match with_approval {
            true => {
                "the run ended before this call did: it waited for approval, which was still open"
            }
            false => "the run ended before this call did",
        };
        assert_eq!(error.remark(), Some(why));
        let told: Vec<_> = receipt.repairs.iter().map(ToString::to_string).collect();
        assert_eq!(told, [format!(r#"`fix` tried `{{"n":3}}` in vain: {why}"#)]);
    }
}

/// A limiter that answers slowly.
struct Never;

#[agents::async_trait]
impl agents::rate::RateLimiter for Never {
    async fn try_acquire(&self, _: &str, _: &ToolSpec) -> Result<(), Duration> {
        tokio::time::sleep(Duration::from_secs(3)).await;
        Ok(())
    }
}

/// The line of a failed attempt ends with its reason, even if the texts are long.
#[tokio::test]
async fn the_reason_of_a_failed_try_stands_on_its_line() {
    let long = format!("The JSON for `flaky` cannot be used: {}", "hm ".repeat(200));
    let (fixer, asked) = ScriptedModel::always(Script::text(long.clone()));
    let mender = mender().model(fixer).build();
    let (model, _) = ScriptedModel::new([Script::call("flaky", long), Script::text("end")]);
    let agent = mended_by(mender).model(model).build();
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let log = lines.clone();
    let run = agent.run("go").on_event(move |event| {
        log.lock()
            .unwrap()
            .extend(agents::console::line(event, false));
    });
    run.await.unwrap();
    assert_eq!(asked.count(), 3, "each try is asked for, and paid");
    let lines = lines.lock().unwrap();
    let failed = lines.iter().filter(|line| line.contains("in vain"));
    let failed: Vec<_> = failed.collect();
    assert_eq!(failed.len(), 3, "{lines:#?}");
    for line in failed {
        assert!(line.ends_with("this text failed before"), "{line}");
        assert!(line.chars().count() < 300, "{line}");
    }
}
