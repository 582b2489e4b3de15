//! Instructions of people to a run that goes on, and its pauses.

use crate::world::Plain;
use agents::{
    Agent, AgentBuilder, Effects,
    agent::Skill,
    evidence::{Known, User},
    journal::{MemoryJournal, Recorded},
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
use tokio_util::sync::CancellationToken;

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

/// Returns what an agent is told: its task, and the instruction.
fn told_focus() -> [&'static str; 2] {
    ["Mend it.", "Focus on the tests."]
}

#[tokio::test]
async fn an_agent_that_took_over_is_told_what_is_said_to_the_run() {
    let steering = Steering::new();
    let journal = MemoryJournal::new();
    let desk = |steering: &Steering, scripts: [Script; 3]| {
        let mechanic = mechanic(steering, "Focus on the tests.".into());
        let (model, handle) = ScriptedModel::new(scripts);
        let desk = AgentBuilder::<String, String>::new("desk")
            .hand_off(mechanic)
            .model(model);
        (desk.build(), handle)
    };
    let (agent, handle) = desk(
        &steering,
        [
            Script::call("hand_off_to_mechanic", r#"{"reason": "It is broken."}"#),
            builds(),
            Script::text("done"),
        ],
    );
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = told.clone();
    let run = agent
        .run("Mend it.")
        .steering(&steering)
        .on_event(move |event| {
            if let EventKind::Instructed(_) = event.kind {
                seen.lock()
                    .unwrap()
                    .push((event.agent.to_string(), event.depth));
            }
        });
    assert_eq!(run.journal(journal.clone()).await.unwrap(), "done");
    assert_eq!(of_user(&handle, 1), ["Mend it."]);
    assert_eq!(of_user(&handle, 2), told_focus());
    assert_eq!(*told.lock().unwrap(), [("mechanic".to_owned(), 1)]);
    assert!(steering.left_over().is_empty());

    // A replay asks no model, and gives the instruction again before the same turn.
    let recorded = Recorded::of(journal.entries()).unwrap();
    let unused = [(); 3].map(|()| Script::text("unused"));
    let (agent, handle) = desk(&Steering::new(), unused);
    agent.run("Mend it.").replay(&recorded).await.unwrap();
    assert!(handle.requests().is_empty());
}

#[tokio::test]
async fn the_parts_of_a_sequence_are_told_as_long_as_they_follow() {
    let steering = Steering::new();
    let focus = || Instruction::new("Focus on the tests.");
    let (model, first) = ScriptedModel::new([builds(), Script::text("built")]);
    let builder = mechanic_with(&steering, focus(), |builder| builder.model(model));
    let (model, second) = ScriptedModel::new([Script::text("checked")]);
    let checker = AgentBuilder::<String, String>::new("checker").model(model);
    let late = steering.clone();
    let both = builder.then(checker.build());
    let run = both.run("Mend it.").steering(&steering);
    let run = run.on_event(move |event| {
        // The first part has begun its last answer.
        if let EventKind::ModelReplied { calls: 0, .. } = event.kind
            && &*event.agent == "mechanic"
        {
            late.say("Be quick.");
        }
    });
    assert_eq!(run.await.unwrap(), "checked");
    assert_eq!(of_user(&first, 1), told_focus());
    assert_eq!(
        of_user(&second, 0),
        ["built", "Focus on the tests.", "Be quick."]
    );
    assert!(steering.left_over().is_empty());
}

/// Returns two agents that work side by side. `left` is given an instruction while both of them call their tools, and
/// calls once more. `right` waits for `gate` in its call.
fn side_by_side(
    steering: &Steering,
    gate: &Arc<tokio::sync::Semaphore>,
    [left, right]: [ScriptedModel; 2],
) -> [Plain; 2] {
    let focus = Instruction::new("Focus on the tests.").with_id("7");
    let left = mechanic_with(steering, focus, |builder| builder.model(left));
    let gate = gate.clone();
    let schema = serde_json::json!({"type": "object"});
    let check = FnTool::new("check", "Checks.", Effects::Reads, schema, move |_, _| {
        let gate = gate.clone();
        async move {
            gate.acquire().await.unwrap().forget();
            Ok::<_, std::io::Error>("checked")
        }
    });
    let right = AgentBuilder::new("checker").tool(check).model(right);
    [left, right.build()]
}

fn checks() -> Script {
    Script::call("check", "{}")
}

#[tokio::test]
async fn all_parts_at_work_are_told_each_once() {
    let (steering, journal) = (Steering::new(), MemoryJournal::new());
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let (left_model, left) = ScriptedModel::new([builds(), Script::text("built")]);
    let (right_model, right) = ScriptedModel::new([checks(), checks(), Script::text("checked")]);
    let parts = side_by_side(&steering, &gate, [left_model, right_model]);
    let (model, last) = ScriptedModel::new([Script::text("done")]);
    let closer = AgentBuilder::<String, String>::new("closer").model(model);
    let whole = Agent::map(parts, |both: [String; 2]| both.join(", ")).then(closer.build());
    let open = gate.clone();
    let run = whole.run("Mend it.").steering(&steering);
    let run = run.on_event(move |event| {
        // The left one has ended when the right one goes on.
        if let EventKind::AgentEnded { .. } = event.kind
            && &*event.agent == "mechanic"
        {
            open.add_permits(10);
        }
    });
    assert_eq!(run.journal(journal.clone()).await.unwrap(), "done");
    assert_eq!(of_user(&left, 1), told_focus());
    assert_eq!(of_user(&right, 1), told_focus());
    assert_eq!(of_user(&right, 2), told_focus(), "once");
    // An instruction counts for the rest of the run.
    assert_eq!(of_user(&last, 0), ["built, checked", "Focus on the tests."]);

    let recorded = Recorded::of(journal.entries()).unwrap();
    let unused = || ScriptedModel::new([]).0;
    let parts = side_by_side(&Steering::new(), &gate, [unused(), unused()]);
    let model = unused();
    let closer = AgentBuilder::<String, String>::new("closer").model(model);
    let whole = Agent::map(parts, |both: [String; 2]| both.join(", ")).then(closer.build());
    whole.run("Mend it.").replay(&recorded).await.unwrap();
}

#[tokio::test]
async fn what_is_said_before_the_run_is_told_to_all_parts() {
    let steering = Steering::new();
    steering.say("Focus on the tests.");
    let (model, left) = ScriptedModel::new([Script::text("built")]);
    let builder = AgentBuilder::<String, String>::new("builder").model(model);
    let (model, right) = ScriptedModel::new([Script::text("checked")]);
    let checker = AgentBuilder::<String, String>::new("checker").model(model);
    let both = [builder.build(), checker.build()];
    let run = both.run("Mend it.");
    assert_eq!(run.steering(&steering).await.unwrap(), ["built", "checked"]);
    assert_eq!(of_user(&left, 0), told_focus());
    assert_eq!(of_user(&right, 0), told_focus());
}

#[tokio::test]
async fn an_agent_that_takes_over_is_told_what_the_one_before_was_still_to_be_told() {
    let steering = Steering::new();
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let (model, _) = ScriptedModel::new([builds(), Script::text("built")]);
    let left = mechanic_with(&steering, "Focus on the tests.".into(), |builder| {
        builder.model(model)
    });
    // The desk hands on once the mechanic beside it has been told.
    let told = gate.clone();
    let (model, _) = ScriptedModel::from_async_fn(move |_| {
        let told = told.clone();
        async move {
            told.acquire().await.unwrap().forget();
            Script::call("hand_off_to_clerk", r#"{"reason": "It is broken."}"#)
        }
    });
    let (of_clerk, clerk) = ScriptedModel::new([Script::text("done")]);
    let right = AgentBuilder::<String, String>::new("desk")
        .hand_off(
            AgentBuilder::<String, String>::new("clerk")
                .model(of_clerk)
                .build(),
        )
        .model(model);
    let both = [left, right.build()];
    let run = both.run("Mend it.").steering(&steering);
    let run = run.on_event(move |event| {
        if let EventKind::Instructed(_) = event.kind {
            gate.add_permits(1);
        }
    });
    assert_eq!(run.await.unwrap(), ["built", "done"]);
    assert_eq!(of_user(&clerk, 0), told_focus());
}

#[tokio::test]
async fn the_parts_that_were_not_told_yet_are_told_in_the_next_process() {
    let (steering, journal) = (Steering::new(), MemoryJournal::new());
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let mut asked = 0;
    let (left_model, left) = ScriptedModel::from_async_fn(move |_| {
        asked += 1;
        let is_first = asked == 1;
        async move {
            if !is_first {
                std::future::pending::<()>().await;
            }
            builds()
        }
    });
    let (right_model, right) = ScriptedModel::new([checks()]);
    let parts = side_by_side(&steering, &gate, [left_model, right_model]);
    let run = parts.run("Mend it.").steering(&steering);
    let cut = tokio::time::timeout(Duration::from_millis(300), run.journal(journal.clone()));
    assert!(cut.await.is_err(), "the left one waits for its model");
    assert_eq!(of_user(&left, 1), told_focus());
    assert_eq!(right.requests().len(), 1, "the right one is not told yet");

    // The next process reads all instructions again, as a worker does.
    let steering = Steering::new();
    steering.say(Instruction::new("Focus on the tests.").with_id("7"));
    gate.add_permits(10);
    let (left_model, left) = ScriptedModel::new([Script::text("built")]);
    let (right_model, right) = ScriptedModel::new([Script::text("checked")]);
    let parts = side_by_side(&steering, &gate, [left_model, right_model]);
    let run = parts.run("Mend it.").steering(&steering);
    let answers = run.journal(journal).await.unwrap();
    assert_eq!(answers, ["built", "checked"]);
    assert_eq!(of_user(&left, 0), told_focus(), "once");
    assert_eq!(of_user(&right, 0), told_focus());
}

#[tokio::test]
async fn an_agent_that_code_runs_is_not_told_what_is_said_to_the_run() {
    let steering = Steering::new();
    let (model, handle) = ScriptedModel::new([builds(), Script::text("built")]);
    let focus = "Focus on the tests.".into();
    let mechanic = mechanic_with(&steering, focus, |builder| builder.model(model));
    let mechanic = Arc::new(mechanic);
    let body = move |task: String| {
        let mechanic = mechanic.clone();
        async move { mechanic.run(task).await }
    };
    let chief = AgentBuilder::<String, String>::new("chief");
    let chief = chief.skill(Skill::native("mend", "Mends.", body)).build();
    let run = chief.run("Mend it.").steering(&steering);
    assert_eq!(run.await.unwrap(), "built");
    assert_eq!(of_user(&handle, 1), ["Mend it."]);
    assert_eq!(steering.left_over().len(), 1);
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

/// The choice of a skill is a turn of the agent.
#[tokio::test(start_paused = true)]
async fn a_paused_run_does_not_have_its_model_choose_a_skill() {
    let clerk: Plain = AgentBuilder::new("clerk")
        .skill(Skill::model("add", "Adds."))
        .skill(Skill::model("subtract", "Subtracts."))
        .budget(agents::Budget::new().time(Duration::from_secs(60)))
        .build();
    let scripts = || [Script::text("add"), Script::text("done")];
    let steering = Steering::new();
    steering.pause();
    let (model, handle) = ScriptedModel::new(scripts());
    let run = clerk.run("1 + 1").model(model).steering(&steering);
    let people = async {
        // Longer than the agent may take: a pause is no time of the agent.
        tokio::time::sleep(Duration::from_secs(3600)).await;
        assert!(handle.requests().is_empty());
        steering.resume();
    };
    let (answer, ()) = tokio::join!(run.into_future(), people);
    assert_eq!(answer.unwrap(), "done");

    // A worker that is to put the run down waits for no turn.
    let (model, handle) = ScriptedModel::new(scripts());
    let put_down = CancellationToken::new();
    put_down.cancel();
    let run = clerk.run("1 + 1").model(model).no_effects_after(put_down);
    let waited = tokio::time::timeout(Duration::from_secs(3600), run.into_future());
    assert!(waited.await.is_err());
    assert!(handle.requests().is_empty());
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
