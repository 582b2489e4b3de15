//! Instructions of people to a run that goes on, and its pauses.

use crate::world::Plain;
use agents::{
    Agent, AgentBuilder, Effects,
    evidence::{Known, User},
    journal::MemoryJournal,
    model::Message,
    run::{EventKind, Instruction, Steering},
    structure,
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// Returns an agent with a tool that says this to it while it is called.
fn mechanic(steering: &Steering, instruction: Instruction) -> Plain {
    mechanic_with(steering, instruction, |builder| builder)
}

fn mechanic_with(
    steering: &Steering,
    instruction: Instruction,
    set: impl FnOnce(Builder) -> Builder,
) -> Plain {
    let steering = steering.clone();
    let schema = serde_json::json!({"type": "object"});
    let build = FnTool::new("build", "Builds.", Effects::Reads, schema, move |_, _| {
        steering.say(instruction.clone());
        async { Ok::<_, std::io::Error>("built") }
    });
    set(AgentBuilder::new("mechanic").tool(build)).build()
}

type Builder = AgentBuilder<'static, String, String>;

fn builds() -> Script {
    Script::call("build", "{}")
}

/// Returns the messages of the user in the request with this number.
fn of_user(model: &ScriptedModel, request: usize) -> Vec<String> {
    let texts = model.requests()[request].messages.clone().into_iter();
    let texts = texts.filter_map(|message| match message {
        Message::User { content } => Some(content.text),
        _ => None,
    });
    texts.collect()
}

#[tokio::test]
async fn an_instruction_follows_the_results_and_precedes_the_next_request() {
    let steering = Steering::new();
    let mechanic = mechanic(&steering, Instruction::new("Focus on the tests.").by("ada"));
    let (model, handle) = ScriptedModel::new([builds(), Script::text("done")]);
    let events = Arc::new(Mutex::new(Vec::new()));
    let seen = events.clone();
    let run = mechanic.run("Mend it.").model(model).steering(&steering);
    let run = run.on_event(move |event| {
        if let EventKind::Instructed(instruction) = &event.kind {
            seen.lock().unwrap().push(instruction.clone());
        }
    });
    assert_eq!(run.await.unwrap(), "done");
    let messages = &handle.requests()[1].messages;
    assert!(
        matches!(&messages[..], [.., Message::Tool { .. }, Message::User { content }] if content.text == "Focus on the tests."),
        "{messages:?}"
    );
    let told = events.lock().unwrap();
    assert_eq!(told[0].by.as_deref(), Some("ada"));
    assert!(steering.left_over().is_empty());
}

#[tokio::test]
async fn what_is_said_after_the_last_request_is_left_over() {
    let steering = Steering::new();
    let agent = mechanic(&steering, "unused".into());
    let (model, _) = ScriptedModel::new([Script::text("done")]);
    let late = steering.clone();
    let run = agent.run("Mend it.").model(model).steering(&steering);
    let run = run.on_event(move |event| {
        if let EventKind::ModelReplied { .. } = event.kind {
            late.say("One more thing.");
        }
    });
    assert_eq!(run.await.unwrap(), "done");
    assert_eq!(steering.left_over(), [Instruction::new("One more thing.")]);
}

#[tokio::test]
async fn a_stored_instruction_is_told_once_though_the_run_goes_on_in_another_process() {
    let journal = MemoryJournal::new();
    let stored = || Instruction::new("Focus on the tests.").with_id("7");
    let steering = Steering::new();
    let agent = mechanic(&steering, stored());
    let mut asked = 0;
    let (model, _) = ScriptedModel::from_async_fn(move |_| {
        asked += 1;
        let is_first = asked == 1;
        async move {
            if !is_first {
                std::future::pending::<()>().await;
            }
            builds()
        }
    });
    let run = agent.run("Mend it.").model(model).steering(&steering);
    let cut = tokio::time::timeout(Duration::from_millis(300), run.journal(journal.clone()));
    assert!(cut.await.is_err(), "the second request has no reply");

    // The next process reads all instructions again, as a worker does.
    let steering = Steering::new();
    steering.say(stored());
    let (model, handle) = ScriptedModel::new([Script::text("done")]);
    let run = agent.run("Mend it.").model(model).steering(&steering);
    assert_eq!(run.journal(journal).await.unwrap(), "done");
    assert_eq!(of_user(&handle, 0), ["Mend it.", "Focus on the tests."]);
}

#[tokio::test]
async fn a_delegate_is_not_told_what_is_said_to_the_agent() {
    let steering = Steering::new();
    let (inner, inner_model) = ScriptedModel::new([builds(), Script::text("built")]);
    let focus = "Focus on the tests.".into();
    let mechanic = mechanic_with(&steering, focus, |builder| builder.model(inner));
    let (model, handle) = ScriptedModel::new([
        Script::call("mechanic", r#"{"input": "Build it."}"#),
        Script::text("done"),
    ]);
    let chief = AgentBuilder::<String, String>::new("chief").model(model);
    let team = structure!(chief.build().delegates(mechanic));
    let run = team.run("Mend it.").steering(&steering);
    assert_eq!(run.await.unwrap(), "done");
    assert_eq!(of_user(&inner_model, 1), ["Build it."]);
    assert_eq!(of_user(&handle, 1), ["Mend it.", "Focus on the tests."]);
}

#[tokio::test(start_paused = true)]
async fn a_paused_run_begins_nothing_until_it_is_resumed() {
    let steering = Steering::new();
    let agent = mechanic(&steering, "unused".into());
    let (model, handle) = ScriptedModel::new([builds(), Script::text("done")]);
    let hand = steering.clone();
    let run = agent.run("Mend it.").model(model).steering(&steering);
    let run = run.budget(agents::Budget::new().time(Duration::from_secs(60)));
    let run = run.on_event(move |event| {
        if let EventKind::CallStarted { .. } = event.kind {
            hand.pause();
        }
    });
    let people = async {
        // Longer than the run may take: a pause is no time of the run.
        tokio::time::sleep(Duration::from_secs(3600)).await;
        assert!(steering.is_paused());
        assert_eq!(
            handle.requests().len(),
            1,
            "the call has ended, and nothing follows"
        );
        steering.resume();
    };
    let (answer, ()) = tokio::join!(run.into_future(), people);
    assert_eq!(answer.unwrap(), "done");
}

/// Books a table.
#[agents::tool(writes, idempotent)]
async fn book(
    /// Number of the guests.
    guests: Known<u32, (User,)>,
) -> String {
    format!("booked for {guests}")
}

#[tokio::test]
async fn an_instruction_is_a_word_of_the_user() {
    let steering = Steering::new();
    steering.say("We are 12, by the way.");
    let (model, _) = ScriptedModel::new([
        Script::call("book", r#"{"guests": 12}"#),
        Script::text("done"),
    ]);
    let host = AgentBuilder::<String, String>::new("host")
        .tool(Book)
        .build();
    let run = host.run("A table.").model(model).steering(&steering);
    let outcome = run.outcome().await.unwrap();
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert!(receipt.is_ok(), "{:?}", receipt.error);
}
