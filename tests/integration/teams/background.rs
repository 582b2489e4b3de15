//! Delegates that work in the background: tickets, results as messages, and the end of the agent above.

use crate::world::Plain;
use agents::{
    Agent, AgentBuilder, Effects, Error, ErrorKind,
    agent::Progress,
    escalation::{Escalation, return_partial_result},
    evidence::{Known, User},
    journal::{MemoryJournal, Recorded},
    model::Message,
    policy::deny_tools,
    recovery::{CallError, Execution, escalate},
    run::{Approval, ApprovalRequest, Event, EventKind, Steering, ToolEnvelope, tokens},
    structure,
    team::{Member, Team},
    testing::{ReceivedRequest, Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::json;
use std::{
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

const ASKS: &str = r#"{"input": "whales"}"#;

/// Returns an agent whose model answers after this time.
fn reader(millis: u64) -> Plain {
    named_reader("reader", millis)
}

fn named_reader(name: &'static str, millis: u64) -> Plain {
    let (model, _) = ScriptedModel::from_async_fn(move |asked| async move {
        tokio::time::sleep(Duration::from_millis(millis)).await;
        Script::text(format!("{} are big", asked.last()))
    });
    AgentBuilder::new(name).model(model).build()
}

/// Returns an agent above, with a tool that takes a second.
fn writer(model: ScriptedModel) -> Plain {
    let schema = json!({"type": "object"});
    let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok::<_, std::io::Error>("sunny")
    });
    AgentBuilder::new("writer").tool(look).model(model).build()
}

fn team(model: ScriptedModel, reader: Plain) -> Team<Plain> {
    structure!(writer(model).delegates(reader.background()))
}

fn until_answer(model: ScriptedModel, reader: Plain) -> Team<Plain> {
    structure!(writer(model).delegates(reader.background_until_answer()))
}

fn asks() -> Script {
    Script::call("reader", ASKS)
}

fn looks() -> Script {
    Script::call("look", "{}")
}

/// Returns a model that takes a second for each reply.
fn slowly(script: impl IntoIterator<Item = Script>) -> (ScriptedModel, ScriptedModel) {
    let mut script = script.into_iter().collect::<Vec<_>>().into_iter();
    ScriptedModel::from_async_fn(move |_| {
        let next = script.next().expect("the script goes on");
        async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            next
        }
    })
}

/// Returns the messages of a request behind the task, each as its role and its text.
fn said(request: &ReceivedRequest) -> Vec<(&str, &str)> {
    let messages = request.messages.iter().map(|message| match message {
        Message::System { content } => ("system", &**content),
        Message::User { content } => ("user", &*content.text),
        Message::Assistant { content, calls, .. } => match &calls[..] {
            [] => ("assistant", &**content),
            [call, ..] => ("calls", &*call.name),
        },
        Message::Tool { content, .. } => ("tool", &*content.text),
    });
    let all: Vec<_> = messages.collect();
    let task = all.iter().position(|(role, _)| *role == "user");
    all[task.map_or(0, |at| at + 1)..].to_vec()
}

/// Returns the names and outcomes of receipts.
fn receipts<'a>(all: impl Iterator<Item = &'a ToolEnvelope>) -> Vec<String> {
    let all = all.map(|receipt| match &receipt.error {
        None => receipt.name.clone(),
        Some(error) => format!("{}: {}", receipt.name, error.message),
    });
    all.collect()
}

const RESULT: &str = "[Result of `reader`, ticket `reader-1`]\nwhales are big";

#[tokio::test(start_paused = true)]
async fn the_model_goes_on_with_a_ticket_and_gets_the_result_as_a_message() {
    let (model, handle) = ScriptedModel::new([asks(), looks(), looks(), Script::text("done")]);
    let tickets = Arc::new(Mutex::new(Vec::new()));
    let seen = tickets.clone();
    let team = team(model, reader(500));
    let outcome = team
        .run("Write.")
        .on_event(move |event: &Event| {
            if let EventKind::TicketGiven { tool, ticket, .. } = &event.kind {
                seen.lock()
                    .unwrap()
                    .push(format!("{tool} {ticket} {}", event.place));
            }
        })
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "done");
    let requests = handle.requests();
    let [("calls", "reader"), ("tool", ticket)] = said(&requests[1])[..] else {
        panic!("{:?}", said(&requests[1]));
    };
    assert!(ticket.contains("the ticket `reader-1`"), "{ticket}");
    // It came while the tool ran, and so follows the tool's result.
    let [.., ("calls", "look"), ("tool", "sunny"), ("user", RESULT)] = said(&requests[2])[..]
    else {
        panic!("{:?}", said(&requests[2]));
    };
    assert_eq!(
        said(&requests[3]).len(),
        said(&requests[2]).len() + 2,
        "told once"
    );
    assert_eq!(
        receipts(outcome.outputs.receipts()),
        ["reader", "look", "look"]
    );
    assert_eq!(*tickets.lock().unwrap(), ["reader reader-1 /call0000"]);
    let declared = requests[0].declarations.to_string();
    assert!(declared.contains("Works in the background"), "{declared}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_too_early_is_put_off() {
    let (model, handle) = ScriptedModel::new([asks(), Script::text("wait"), Script::text("big")]);
    let outcome = team(model, reader(5000))
        .run("Write.")
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "big");
    let requests = handle.requests();
    let [.., ("assistant", "wait"), ("user", RESULT)] = said(&requests[2])[..] else {
        panic!("{:?}", said(&requests[2]));
    };
    assert_eq!(
        outcome.usage.requests, 4,
        "three of the writer, one of the reader"
    );
}

#[tokio::test(start_paused = true)]
async fn the_answer_waits_for_all_results_and_is_asked_for_once() {
    let all = Script::calls([("reader", ASKS), ("browser", ASKS), ("reader", ASKS)]);
    let (model, handle) = ScriptedModel::new([all, Script::text("wait"), Script::text("big")]);
    let team = structure!(writer(model).delegates(
        reader(5000).background(),
        named_reader("browser", 9000).background(),
    ));
    let outcome = team.run("Write.").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "big");
    let requests = handle.requests();
    assert_eq!(requests.len(), 3);
    let told: Vec<_> = said(&requests[2])
        .into_iter()
        .filter(|(role, _)| *role == "user")
        .collect();
    let firsts = told.iter().map(|(_, text)| text.lines().next().unwrap());
    let mut firsts: Vec<_> = firsts.collect();
    firsts[..2].sort_unstable();
    assert_eq!(
        firsts,
        [
            "[Result of `reader`, ticket `reader-1`]",
            "[Result of `reader`, ticket `reader-3`]",
            "[Result of `browser`, ticket `browser-2`]",
        ]
    );
    assert_eq!(
        receipts(outcome.outputs.receipts()),
        ["reader", "browser", "reader"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_result_that_comes_before_the_other_results_of_the_reply_follows_them() {
    let both = Script::calls([("reader", ASKS), ("look", "{}")]);
    let (model, handle) = ScriptedModel::new([both, Script::text("done")]);
    let journal = MemoryJournal::new();
    let first = team(model, reader(100));
    let outcome = first.run("Write.").journal(journal.clone());
    let outcome = outcome.outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "done");
    let requests = handle.requests();
    let [_, ("tool", ticket), ("tool", "sunny"), ("user", RESULT)] = said(&requests[1])[..] else {
        panic!("{:?}", said(&requests[1]));
    };
    assert!(ticket.contains("the ticket `reader-1`"), "{ticket}");
    assert_eq!(receipts(outcome.outputs.receipts()), ["reader", "look"]);
    let recorded = Recorded::of(journal.entries()).unwrap();
    let (model, _) = ScriptedModel::new([]);
    let now = team(model, reader(100));
    now.run("Write.").replay(&recorded).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_result_that_comes_while_the_model_writes_follows_its_reply() {
    // The second reply is on its way when the reader is done.
    let (model, handle) = slowly([asks(), looks(), Script::text("done")]);
    let outcome = team(model, reader(500)).run("Write.").await;
    assert_eq!(outcome.unwrap(), "done");
    let requests = handle.requests();
    assert_eq!(said(&requests[1]).len(), 2);
    let [_, _, ("calls", "look"), ("tool", "sunny"), ("user", RESULT)] = said(&requests[2])[..]
    else {
        panic!("{:?}", said(&requests[2]));
    };
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_being_written_when_the_result_comes_is_put_off() {
    let (model, handle) = slowly([asks(), Script::text("too early"), Script::text("done")]);
    let outcome = team(model, reader(500)).run("Write.").await;
    assert_eq!(outcome.unwrap(), "done");
    let requests = handle.requests();
    let [_, _, ("assistant", "too early"), ("user", RESULT)] = said(&requests[2])[..] else {
        panic!("{:?}", said(&requests[2]));
    };
}

#[tokio::test(start_paused = true)]
async fn work_until_the_answer_is_cancelled_with_receipts() {
    let (inner, _) = ScriptedModel::new([looks()]);
    let schema = json!({"type": "object"});
    let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| {
        pending::<Result<String, std::io::Error>>()
    });
    let reader = AgentBuilder::<String, String>::new("reader")
        .tool(look)
        .model(inner);
    let (model, _) = ScriptedModel::new([asks(), looks(), Script::text("enough")]);
    let outcome = until_answer(model, reader.build())
        .run("Write.")
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "enough");
    let all = receipts(outcome.outputs.receipts());
    let [first, second, third] = &all[..] else {
        panic!("{all:?}");
    };
    assert!(
        first.starts_with("reader: its agent has ended its work"),
        "{first}"
    );
    assert!(
        second.starts_with("look: its agent has ended its work"),
        "{second}"
    );
    assert_eq!(third, "look");
}

#[tokio::test(start_paused = true)]
async fn a_result_before_the_answer_is_told_though_the_answer_does_not_wait() {
    let (model, handle) = ScriptedModel::new([asks(), looks(), Script::text("done")]);
    let team = until_answer(model, reader(500));
    assert_eq!(team.run("Write.").await.unwrap(), "done");
    assert_eq!(said(&handle.requests()[2]).last().unwrap().1, RESULT);
}

#[tokio::test(start_paused = true)]
async fn arguments_that_do_not_fit_are_told_at_once() {
    let (model, handle) = ScriptedModel::new([Script::call("reader", "{}"), Script::text("no")]);
    let outcome = team(model, reader(500))
        .run("Write.")
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "no");
    let requests = handle.requests();
    assert!(
        said(&requests[1])[1].1.starts_with("ERROR"),
        "{:?}",
        said(&requests[1])
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_told_as_a_message() {
    let (inner, _) = ScriptedModel::new([Script::fail("the lights are out")]);
    let reader = AgentBuilder::<String, String>::new("reader")
        .model(inner)
        .build();
    let (model, handle) = ScriptedModel::new([asks(), Script::text("wait"), Script::text("sorry")]);
    let outcome = team(model, reader).run("Write.").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "sorry");
    let told = said(&handle.requests()[2]).last().unwrap().1.to_owned();
    assert!(
        told.starts_with("[Result of `reader`, ticket `reader-1`]\nERROR"),
        "{told}"
    );
    assert!(told.contains("the lights are out"), "{told}");
}

fn confirmed(model: ScriptedModel, reader: Plain) -> Team<Plain> {
    let reader = Member::new(reader).background();
    let writer = Member::new(writer(model))
        .confirm_named("reader")
        .grant_named("look");
    writer.delegate(reader).build()
}

#[tokio::test(start_paused = true)]
async fn approval_is_asked_for_in_the_background() {
    let approver = |yes: bool| {
        move |_: ApprovalRequest| async move {
            tokio::time::sleep(Duration::from_secs(9)).await;
            if yes {
                Approval::Approve
            } else {
                Approval::deny("not today")
            }
        }
    };
    for yes in [true, false] {
        let script = [asks(), looks(), Script::text("wait"), Script::text("done")];
        let (model, handle) = ScriptedModel::new(script);
        let team = confirmed(model, reader(500));
        let run = team.run("Write.").approver(approver(yes));
        assert_eq!(run.await.unwrap(), "done");
        let requests = handle.requests();
        assert_eq!(said(&requests[2]).len(), 4, "it went on with the look");
        let told = said(&requests[3]).last().unwrap().1.to_owned();
        match yes {
            true => assert_eq!(told, RESULT),
            false => assert!(told.contains("not approved: not today"), "{told}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_is_put_down_while_people_are_asked_in_the_background() {
    let journal = MemoryJournal::new();
    let run = |script: Vec<Script>| {
        let (model, handle) = ScriptedModel::new(script);
        (confirmed(model, reader(500)), handle)
    };
    let (first, _) = run(vec![asks(), looks(), Script::text("wait")]);
    let progress = first
        .run("Write.")
        .journal(journal.clone())
        .until_waiting()
        .await;
    let Ok(Progress::Waiting(requests)) = progress else {
        panic!("{progress:?}");
    };
    assert_eq!(requests[0].tool_name, "reader");

    let (second, handle) = run(vec![Script::text("done")]);
    let yes = |_: ApprovalRequest| async { Approval::Approve };
    let run = second.run("Write.").journal(journal.clone()).approver(yes);
    assert_eq!(run.await.unwrap(), "done");
    let requests = handle.requests();
    let [.., ("assistant", "wait"), ("user", RESULT)] = said(&requests[0])[..] else {
        panic!("{:?}", said(&requests[0]));
    };
}

#[tokio::test(start_paused = true)]
async fn what_the_background_uses_counts_for_the_agent_above() {
    let spends = |asked: &ReceivedRequest| agents::model::Reply {
        content: format!("{} are big", asked.last()),
        usage: agents::model::Usage {
            input_tokens: 90,
            output_tokens: 10,
            ..Default::default()
        },
        ..Default::default()
    };
    let (inner, _) = ScriptedModel::new([Script::with(spends)]);
    let reader = AgentBuilder::<String, String>::new("reader")
        .model(inner)
        .build();
    let (model, _) = ScriptedModel::new([asks(), looks(), looks(), looks()]);
    let team = structure!(
        writer(model)
            .budget(tokens(80))
            .delegates(reader.background())
    );
    let outcome = team.run("Write.").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Budget);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_fails_cancels_its_background() {
    let (model, _) = ScriptedModel::new([asks(), Script::fail("out of order")]);
    let outcome = team(model, reader(1000000))
        .run("Write.")
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Model);
    let all = receipts(outcome.outputs.receipts());
    assert!(
        all[0].starts_with("reader: the agent was dropped"),
        "{all:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_throw_in_the_background_ends_the_run() {
    let throws = |_: String| async { Err::<String, _>(Error::thrown("the library burns")) };
    let skill = agents::agent::Skill::native("read", "Reads.", throws);
    let reader = AgentBuilder::<String, String>::new("reader")
        .skill(skill)
        .build();
    let (model, _) = slowly([asks(), looks(), looks(), looks(), Script::text("done")]);
    let outcome = team(model, reader).run("Write.").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Thrown);
}

#[tokio::test(start_paused = true)]
async fn a_turn_more_is_needed_after_an_answer_that_came_too_early() {
    let (model, _) = ScriptedModel::new([asks(), Script::text("wait")]);
    let team = team(model, reader(500));
    let two_turns = agents::Budget::new().max_turns(2);
    let run = team.run("Write.").budget(two_turns);
    assert_eq!(run.await.unwrap_err().kind(), ErrorKind::Budget);
}

#[tokio::test(start_paused = true)]
async fn no_more_go_on_at_once_than_calls_of_a_reply() {
    let going = Arc::new(Mutex::new((0, 0)));
    let seen = going.clone();
    let work = move |_: String| {
        let seen = seen.clone();
        async move {
            {
                let mut seen = seen.lock().unwrap();
                seen.0 += 1;
                seen.1 = seen.1.max(seen.0);
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            seen.lock().unwrap().0 -= 1;
            Ok::<_, Error>("read".to_owned())
        }
    };
    let skill = agents::agent::Skill::native("read", "Reads.", work);
    let reader = AgentBuilder::<String, String>::new("reader")
        .skill(skill)
        .build();
    let five = Script::calls([("reader", ASKS); 5]);
    let (model, _) = ScriptedModel::new([five, Script::text("wait"), Script::text("done")]);
    let team = team(model, reader);
    let run = team.run("Write.").max_parallel(2);
    assert_eq!(run.await.unwrap(), "done");
    assert_eq!(going.lock().unwrap().1, 2);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_is_handed_on_with_the_results() {
    let (taking_over, handle) = ScriptedModel::new([Script::text("I take over.")]);
    let editor = AgentBuilder::<String, String>::new("editor")
        .model(taking_over)
        .build();
    let script = [asks(), Script::call("hand_off_to_editor", "{}")];
    let (model, _) = ScriptedModel::new(script);
    let writer = AgentBuilder::<String, String>::new("writer")
        .hand_off(editor)
        .model(model);
    let team = structure!(writer.build().delegates(reader(5000).background()));
    assert_eq!(team.run("Write.").await.unwrap(), "I take over.");
    let requests = handle.requests();
    assert!(
        said(&requests[0]).iter().any(|(_, text)| *text == RESULT),
        "{:?}",
        said(&requests[0])
    );
}

#[tokio::test(start_paused = true)]
async fn a_delegate_in_the_background_has_a_background_of_its_own() {
    let (inner, _) =
        ScriptedModel::new([asks(), Script::text("wait"), Script::text("whales are big")]);
    let editor = AgentBuilder::<String, String>::new("editor")
        .model(inner)
        .build();
    let script = [
        Script::call("editor", ASKS),
        Script::text("wait"),
        Script::text("done"),
    ];
    let (model, handle) = ScriptedModel::new(script);
    let team = structure!(
        writer(model).delegates(editor.background().delegates(reader(3000).background()))
    );
    let outcome = team.run("Write.").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "done");
    assert_eq!(receipts(outcome.outputs.receipts()), ["editor", "reader"]);
    let told = said(&handle.requests()[2]).last().unwrap().1.to_owned();
    assert_eq!(
        told,
        "[Result of `editor`, ticket `editor-1`]\nwhales are big"
    );
}

/// Returns a run that tells a result during a tool, one during a reply, and one after an early answer.
fn busy(script: bool) -> (Team<Plain>, ScriptedModel, ScriptedModel) {
    let (inner, reading) = ScriptedModel::from_async_fn(|asked| async move {
        let millis = asked.last().parse().unwrap();
        tokio::time::sleep(Duration::from_millis(millis)).await;
        Script::text(format!("after {millis}"))
    });
    let asks = |millis: u32| ("reader", format!(r#"{{"input": "{millis}"}}"#));
    let turns = [
        Script::calls([asks(1500), asks(2500), asks(9000)]),
        looks(),
        looks(),
        Script::text("wait"),
        Script::text("done"),
    ];
    let (model, handle) = slowly(turns.into_iter().filter(|_| script));
    let reader = AgentBuilder::<String, String>::new("reader")
        .model(inner)
        .build();
    (team(model, reader), handle, reading)
}

#[tokio::test(start_paused = true)]
async fn a_stored_run_goes_on_wherever_it_was_cut() {
    let journal = MemoryJournal::new();
    let (team, handle, _) = busy(true);
    assert_eq!(
        team.run("Write.").journal(journal.clone()).await.unwrap(),
        "done"
    );
    let whole = handle.requests();
    let entries = journal.entries();
    let kinds: Vec<_> = entries.iter().map(agents::journal::Entry::kind).collect();
    assert_eq!(
        kinds.iter().filter(|kind| **kind == "ticket_given").count(),
        3
    );
    for cut in 1..entries.len() {
        let (model, handle) = ScriptedModel::from_async_fn(|asked| async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let made = asked
                .messages
                .iter()
                .filter(|one| matches!(one, Message::Assistant { .. }));
            let calls = |millis: u32| ("reader", format!(r#"{{"input": "{millis}"}}"#));
            match made.count() {
                0 => Script::calls([calls(1500), calls(2500), calls(9000)]),
                1 | 2 => looks(),
                3 => Script::text("wait"),
                _ => Script::text("done"),
            }
        });
        let (_, _, reading) = busy(false);
        let reader = AgentBuilder::<String, String>::new("reader")
            .model(reading)
            .build();
        let journal = MemoryJournal::of(entries[..cut].to_vec());
        let team = self::team(model, reader);
        let run = team.run("Write.").journal(journal.clone());
        let outcome = run.outcome().await.unwrap();
        assert_eq!(outcome.result.unwrap(), "done", "cut at {cut}");
        let all = receipts(outcome.outputs.receipts());
        assert_eq!(
            all,
            ["reader", "reader", "reader", "look", "look"],
            "cut at {cut}"
        );
        // Each result is told once, whatever the turn before which it is told.
        let last = handle.requests().pop();
        let told = |request: &ReceivedRequest| {
            let messages = said(request).into_iter();
            let told = messages.filter(|(_, text)| text.starts_with("[Result of"));
            let mut told: Vec<_> = told.map(|(_, text)| text.to_owned()).collect();
            told.sort();
            told
        };
        if let Some(last) = last {
            assert_eq!(told(&last), told(whole.last().unwrap()), "cut at {cut}");
        }
        Recorded::of(journal.entries()).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_tells_the_results_when_they_were_told() {
    let journal = MemoryJournal::new();
    let (team, _, _) = busy(true);
    assert_eq!(
        team.run("Write.").journal(journal.clone()).await.unwrap(),
        "done"
    );
    let recorded = Recorded::of(journal.entries()).unwrap();
    let (now, _, _) = busy(false);
    now.run("Write.").replay(&recorded).await.unwrap();
    let (other, _, _) = busy(false);
    let difference = other
        .run("Write more.")
        .replay(&recorded)
        .await
        .unwrap_err();
    assert!(
        difference.to_string().contains("Write more."),
        "{difference}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_replay_gives_instructions_again() {
    let journal = MemoryJournal::new();
    let steering = Steering::new();
    let speaker = steering.clone();
    let (model, handle) = ScriptedModel::new([looks(), Script::text("done")]);
    let writer = self::writer(model);
    let run = writer
        .run("Write.")
        .steering(&steering)
        .journal(journal.clone());
    let run = run.on_event(move |event: &Event| {
        if let EventKind::AttemptStarted { .. } = event.kind {
            speaker.say("Be brief.");
        }
    });
    assert_eq!(run.await.unwrap(), "done");
    assert_eq!(handle.requests()[1].last(), "Be brief.");
    let recorded = Recorded::of(journal.entries()).unwrap();
    let (model, _) = ScriptedModel::new([]);
    self::writer(model)
        .run("Write.")
        .replay(&recorded)
        .await
        .unwrap();
}

#[test]
fn a_chart_says_who_works_in_the_background() {
    let (model, _) = ScriptedModel::new([]);
    let team = team(model, reader(500));
    assert_eq!(
        team.render().to_string(),
        "writer: look\n└─ reader: in the background\n"
    );
    assert_eq!(team.render().to_json()["delegates"][0]["background"], true);
}

#[test]
fn the_root_of_a_team_has_no_background() {
    let (model, _) = ScriptedModel::new([]);
    let team = Member::new(writer(model)).background().build();
    let error = team.check().unwrap_err().to_string();
    assert!(
        error.contains("the root of a team has no agent above it"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_went_on_is_replayed_wherever_it_was_cut() {
    let agents = |wait: u64| {
        let (quick, _) = ScriptedModel::always(Script::text("quick is done"));
        let (slow, _) = ScriptedModel::from_async_fn(move |_| async move {
            if wait > 0 {
                tokio::time::sleep(Duration::from_millis(wait)).await;
            }
            Script::text("slow is done")
        });
        let (lead, _) = ScriptedModel::from_async_fn(|asked| async move {
            match asked.messages.len() {
                ..3 => Script::calls([("quick", ASKS), ("slow", ASKS)]),
                _ => Script::text("done"),
            }
        });
        let agent = |name, model| {
            AgentBuilder::<String, String>::new(name)
                .model(model)
                .build()
        };
        let (quick, slow) = (agent("quick", quick), agent("slow", slow));
        structure!(agent("lead", lead).delegates(quick.background(), slow))
    };
    for wait in [0, 200] {
        let journal = MemoryJournal::new();
        let team = agents(wait);
        team.run("x").journal(journal.clone()).await.unwrap();
        let entries = journal.entries();
        for cut in 1..=entries.len() {
            let (at, kind) = (
                format!("{wait} ms, cut after {cut}"),
                entries[cut - 1].kind(),
            );
            let journal = MemoryJournal::of(entries[..cut].to_vec());
            let week = Duration::from_secs(7 * 24 * 60 * 60);
            let went_on = team.run("x").journal(journal.clone()).into_future();
            let went_on = tokio::time::timeout(week, went_on).await;
            let answer = went_on.unwrap_or_else(|_| panic!("{at} ({kind}): it hangs"));
            assert_eq!(answer.unwrap(), "done", "{at} ({kind})");
            let recorded = Recorded::of(journal.entries()).unwrap();
            let replay = tokio::time::timeout(week, team.run("x").replay(&recorded)).await;
            let replay = replay.unwrap_or_else(|_| panic!("{at} ({kind}): its replay hangs"));
            replay.unwrap_or_else(|difference| panic!("{at} ({kind}): {difference}"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_policy_denies_is_told_at_once_without_a_ticket() {
    let (model, handle) = ScriptedModel::new([asks(), Script::text("no")]);
    let team = team(model, reader(500));
    let run = team.run("Write.").policy(deny_tools("reader"));
    assert_eq!(run.await.unwrap(), "no");
    let requests = handle.requests();
    let told = said(&requests[1])[1].1;
    assert!(told.starts_with("ERROR POLICY_DENIED"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn an_escalation_in_the_background_is_decided_by_the_agent_above() {
    let schema = json!({"type": "object"});
    let look = FnTool::new(
        "search",
        "Searches.",
        Effects::Reads,
        schema,
        |_, _| async { Err::<String, _>(std::io::Error::other("no such book")) },
    );
    let look = look.on_error(|error, _| match error {
        CallError::Execution(_) => Some(escalate::<Execution>("it is not here").into()),
        _ => None,
    });
    let (inner, _) = ScriptedModel::new([Script::call("search", "{}")]);
    let reader = AgentBuilder::<String, String>::new("reader").tool(look);
    let (model, _) = ScriptedModel::new([asks(), Script::text("wait")]);
    let lead = AgentBuilder::<String, String>::new("writer").model(model);
    let lead = lead.on_escalation(|escalation: Escalation| {
        return_partial_result(format!("without it: {}", escalation.reason))
    });
    let team = structure!(
        lead.build()
            .delegates(reader.model(inner).build().background())
    );
    let outcome = team.run("Write.").outcome().await.unwrap();
    assert!(outcome.partial);
    assert_eq!(outcome.result.unwrap(), "without it: it is not here");
}

#[tokio::test(start_paused = true)]
async fn a_pause_holds_for_the_background() {
    let (inner, reading) = ScriptedModel::new([looks(), Script::text("whales are big")]);
    let schema = json!({"type": "object"});
    let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async {
        Ok::<_, std::io::Error>("sunny")
    });
    let reader = AgentBuilder::<String, String>::new("reader")
        .tool(look)
        .model(inner);
    let (model, _) = ScriptedModel::new([asks(), Script::text("wait"), Script::text("done")]);
    let team = team(model, reader.build());
    let steering = Steering::new();
    let hand = steering.clone();
    let run = team
        .run("Write.")
        .steering(&steering)
        .on_event(move |event: &Event| {
            if let (EventKind::AttemptStarted { .. }, "reader") = (&event.kind, &*event.agent) {
                hand.pause();
            }
        });
    let people = async {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        assert_eq!(
            reading.count(),
            1,
            "the call has ended, and nothing follows"
        );
        steering.resume();
    };
    let (answer, ()) = tokio::join!(run.into_future(), people);
    assert_eq!(answer.unwrap(), "done");
}

/// Pays.
#[agents::tool(writes, idempotent)]
async fn pay(
    /// Number of the account.
    account: Known<u32, (User,)>,
) -> String {
    format!("paid to {}", *account)
}

#[tokio::test(start_paused = true)]
async fn a_result_of_the_background_is_not_the_word_of_the_user() {
    let (inner, _) = ScriptedModel::new([Script::text("the account is 4711")]);
    let reader = AgentBuilder::<String, String>::new("reader")
        .model(inner)
        .build();
    let (model, handle) = ScriptedModel::new([
        asks(),
        Script::text("wait"),
        Script::call("pay", r#"{"account": 4711}"#),
        Script::text("done"),
    ]);
    let lead = AgentBuilder::<String, String>::new("writer")
        .tool(Pay)
        .model(model);
    let team = structure!(lead.build().delegates(reader.background()));
    assert_eq!(team.run("Write.").await.unwrap(), "done");
    let told = said(&handle.requests()[3]).last().unwrap().1.to_owned();
    assert!(told.contains("4711 is not known in this run"), "{told}");
}
