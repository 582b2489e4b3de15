//! Several escalations, in parallel and in sequence, and the remains of dropped work.

use super::own_tools::{Work, asks};
use crate::world::{Plain, scripted_agent, scripted_model};
use agents::{
    Agent, AgentBuilder,
    agent::Skill,
    compose::Step,
    escalation::{
        EscalationReceipt, Settlement, reroute_to_skill, retry_with_model, return_partial_result,
    },
    journal::MemoryJournal,
    model::Message,
    run::{Approval, ApprovalRequest},
    testing::{Script, ScriptedModel},
    tool,
};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::SeqCst},
};

fn twice(what: &str) -> Script {
    let arguments = format!(r#"{{"what":"{what}"}}"#);
    Script::calls([("work", arguments.clone()), ("work", arguments)])
}

#[tokio::test]
async fn an_escalation_of_work_that_was_given_up_is_not_asked_about() {
    let asked = Arc::new(AtomicU32::new(0));
    let counted = asked.clone();
    let (model, handle) = ScriptedModel::new([twice("medium"), Script::text("another way")]);
    let agent: Plain = AgentBuilder::new("lead")
        .tool(Work)
        .model(model)
        .skill(Skill::model("first", "First.").when(|_: &String| true))
        .skill(Skill::model("second", "Second."))
        .on_escalation(move |_| {
            counted.fetch_add(1, SeqCst);
            reroute_to_skill("second")
        })
        .build();
    let outcome = agent.run("go").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "another way");
    let [settled, dropped] = &outcome.escalations[..] else {
        panic!("{:?}", outcome.escalations)
    };
    let (agent, skill) = ("lead".to_owned(), "second".to_owned());
    assert_eq!(
        settled.settled,
        Settlement::ReroutedToSkill { agent, skill }
    );
    let why = "`lead` turned to its skill `second` after an escalation".to_owned();
    assert_eq!(dropped.settled, Settlement::Dropped { why });
    assert_eq!((asked.load(SeqCst), handle.count()), (1, 2));
}

#[tokio::test]
async fn each_new_beginning_is_one() {
    let script = [
        asks("medium"),
        asks("medium"),
        asks("medium"),
        Script::text("done"),
    ];
    let (model, handle) = ScriptedModel::new(script);
    let agent: Plain = AgentBuilder::new("lead")
        .tool(Work)
        .model(model)
        .skill(Skill::model("again", "Again."))
        .on_escalation(|_| reroute_to_skill("again"))
        .build();
    assert_eq!(agent.run("go").await.unwrap(), "done");
    let requests = handle.requests();
    assert_eq!(requests.len(), 4);
    for asked in requests {
        assert!(
            matches!(asked.messages.last(), Some(Message::User { .. })),
            "{:?}",
            asked.messages
        );
    }
}

#[tokio::test]
async fn the_agent_goes_on_with_three_models_at_most_however_many_calls_ask() {
    let (model, _) = ScriptedModel::new([
        twice("low"),
        twice("low"),
        twice("low"),
        twice("low"),
        Script::text("end"),
    ]);
    let better = model.clone();
    let agent: Plain = AgentBuilder::new("lead")
        .tool(Work)
        .model(model)
        .on_escalation(move |_| retry_with_model(better.clone()))
        .build();
    let outcome = agent.run("go").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "end");
    let is_given =
        |one: &EscalationReceipt| matches!(one.settled, Settlement::RetriedWithModel { .. });
    let given: Vec<_> = outcome.escalations.iter().map(is_given).collect();
    assert_eq!(
        given,
        [true, true, true, true, true, true, false, false],
        "two calls of each of three replies, and the fourth is told"
    );
}

#[tokio::test]
async fn what_was_partial_in_an_earlier_round_is_not_partial() {
    let agent = scripted_agent("lead", [asks("high"), Script::text("whole")])
        .tool(Work)
        .on_escalation(|_| return_partial_result("half".to_owned()))
        .build();
    let until = agent.until(|said: String| match said.as_str() {
        "whole" => Step::Done(said),
        _ => Step::Again(said),
    });
    let outcome = until.run("go").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "whole");
    assert!(!outcome.partial);
}

#[tokio::test]
async fn a_conversation_does_not_go_on_with_what_was_given_up() {
    let (model, _) = ScriptedModel::new([Script::text("not a number")]);
    let agent = AgentBuilder::<String, u32>::new("counter")
        .model(model)
        .on_error(|error, _| match error {
            agents::recovery::CallError::InvalidOutput(..) => {
                Some(agents::recovery::escalate::<agents::recovery::InvalidOutput>("no").into())
            }
            _ => None,
        })
        .on_escalation(|_| return_partial_result(7))
        .build();
    let mut chat = agent.chat();
    assert_eq!(chat.send("count").await.unwrap(), 7);
    let said: Vec<_> = chat
        .messages()
        .iter()
        .map(|message| format!("{message:?}"))
        .collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        !said.iter().any(|message| message.contains("not a number")),
        "{said:?}"
    );
}

/// Number of executions of [`note`].
static NOTES: AtomicU32 = AtomicU32::new(0);

/// Writes something down.
#[tool(writes)]
async fn note(
    /// Text of the note.
    text: String,
) -> String {
    NOTES.fetch_add(1, SeqCst);
    text
}

/// Needs a word.
#[tool(writes, approval = always)]
async fn publish() -> String {
    "live".to_owned()
}

#[tokio::test]
async fn what_is_finished_while_a_person_is_asked_does_not_run_again() {
    let both = || Script::calls([("note", r#"{"text":"x"}"#), ("publish", "{}")]);
    let agent = |script: Vec<Script>| -> Plain {
        scripted_agent("writer", script)
            .tool(Note)
            .tool(Publish)
            .build()
    };
    let journal = MemoryJournal::new();
    let asleep = |_: ApprovalRequest| std::future::pending::<Approval>();
    let run = agent(vec![both()]);
    let waiting = run
        .run("go")
        .approver(asleep)
        .journal(journal.clone())
        .outcome();
    let _ = tokio::time::timeout(std::time::Duration::from_millis(200), waiting).await;
    assert_eq!(NOTES.load(SeqCst), 1);
    let last = crate::world::PutDown(journal.entries());
    let yes = |_: ApprovalRequest| async { Approval::Approve };
    let outcome = agent(vec![Script::text("published")])
        .run("go")
        .journal(last.journal())
        .approver(yes)
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "published");
    assert_eq!(NOTES.load(SeqCst), 1, "it was finished");
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    assert_eq!(receipts.len(), 2);
    assert!(receipts.iter().all(|receipt| receipt.is_ok()));
}

#[tokio::test]
async fn an_approver_that_panics_has_said_no() {
    let (model, handle) =
        ScriptedModel::new([Script::call("publish", "{}"), Script::text("not live")]);
    let agent: Plain = AgentBuilder::new("writer")
        .tool(Publish)
        .model(model)
        .build();
    async fn panics(_: ApprovalRequest) -> Approval {
        panic!("the phone fell")
    }
    assert_eq!(agent.run("go").approver(panics).await.unwrap(), "not live");
    assert!(
        handle.requests()[1].last().contains("the phone fell"),
        "{}",
        handle.requests()[1].last()
    );
}

#[tokio::test]
async fn what_belongs_to_the_agent_that_takes_over_is_not_beyond_a_place() {
    let (model, handle) = ScriptedModel::new([asks("medium"), Script::text("remembered")]);
    let asked = model.clone();
    let lead = AgentBuilder::<String, String>::new("lead")
        .tool(Work)
        .model(model)
        .on_escalation(move |_| {
            agents::escalation::reroute_to(
                AgentBuilder::<String, String>::new("clerk")
                    .tool(Work)
                    .memory(agents::memory::MemoryBank::new())
                    .knowledge("style", "How to write.", || "Briefly.")
                    .model(asked.clone())
                    .build(),
            )
        })
        .build();
    let team = agents::team::Member::new(lead).grant::<Work>().build();
    assert_eq!(team.run("go").await.unwrap(), "remembered");
    assert!(
        handle.requests()[1]
            .tools
            .contains(&"memory_read".to_owned())
    );
}

#[tokio::test]
async fn recorded_replies_go_on_with_the_model_that_was_given() {
    let agent = |weak: Vec<Script>, strong: Vec<Script>| -> Plain {
        let strong = scripted_model(strong);
        scripted_agent("lead", weak)
            .tool(Work)
            .on_escalation(move |_| retry_with_model(strong.clone()))
            .build()
    };
    let weak = vec![asks("first"), asks("low")];
    let first = agent(weak, vec![asks("second"), Script::text("done")]);
    let (outcome, recorded) = crate::world::recorded(first.run("go")).await;
    assert_eq!(outcome.result.as_ref().unwrap(), "done");
    crate::world::tells_the_same(&recorded, &outcome);

    let (again, model) = (agent(vec![], vec![]), recorded.model());
    let again = again.run("go").override_model(model.clone()).outcome();
    let again = again.await.unwrap();
    assert_eq!(again.result.unwrap(), "done");
    assert_eq!(again.escalations.len(), outcome.escalations.len());
    assert_eq!((model.left(), model.difference().is_none()), (0, true));
}
