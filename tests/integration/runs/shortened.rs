//! Conversations of agents at work that are shortened: `context = trim(..)` and `context = compact(..)`.

use agents::{
    Error, ErrorKind,
    agent::{ContextPolicy, KeepLast, ModelAgent, Shorten, compact, trim},
    async_trait,
    evidence::{Known, User},
    journal::{MemoryJournal, Recorded},
    model::{Capabilities, ContextOverflow, Message, ModelError, ModelErrorKind, Reply, Usage},
    prelude::*,
    run::{Event, EventKind, ToolEnvelope, tokens},
    testing::{ReceivedRequest, Script, ScriptedModel},
    tool,
};
use serde_json::json;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

/// Size of a page in bytes, some 250 tokens.
const PAGE: usize = 1_000;

/// Read a page.
#[tool(reads)]
async fn read_page(
    /// Its number.
    number: u32,
) -> String {
    let text = format!("page {number}, paragraph P-{number}00. ");
    text.repeat(PAGE / text.len())
}

/// Quote a paragraph.
#[tool(reads)]
async fn quote(
    /// The paragraph.
    paragraph: Known<String, (User, ReadPage)>,
) -> String {
    format!("quoted {}", *paragraph)
}

/// Returns the tokens of a request: a token for every four bytes.
fn size(request: &ReceivedRequest) -> u64 {
    let bytes: usize = request.messages.iter().map(|one| one.text().len()).sum();
    u64::try_from(bytes / 4).unwrap()
}

fn counted(script: Script, request: &ReceivedRequest) -> Script {
    let Script::Reply(reply) = script else {
        return script;
    };
    Script::Reply(Reply {
        usage: Usage {
            input_tokens: size(request),
            output_tokens: 20,
            ..Usage::default()
        },
        ..reply
    })
}

fn read(number: u32) -> Script {
    Script::call("read_page", json!({ "number": number }).to_string())
}

/// Returns a model that reads pages from the first one on, and then answers. It sums up for whoever asks for that.
fn reads(pages: u32) -> (ScriptedModel, ScriptedModel) {
    let mut read_before = 0;
    ScriptedModel::from_fn(move |asked| {
        if asked.prompt() == "Sum up." {
            let pages = asked.last().matches("read_page gave").count();
            return counted(Script::text(format!("{pages} pages were read.")), asked);
        }
        read_before += 1;
        let script = match read_before <= pages {
            true => read(read_before),
            false => Script::text("done"),
        };
        counted(script, asked)
    })
}

fn summariser() -> ModelAgent<'static, String, String> {
    AgentBuilder::new("summariser").prompt("Sum up.").build()
}

fn reader(policy: ContextPolicy) -> ModelAgent<'static, String, String> {
    AgentBuilder::new("reader")
        .prompt("You read.")
        .tool(ReadPage)
        .tool(Quote)
        .budget(
            Budget::new()
                .max_turns(30)
                .max_tool_calls(30)
                .max_recursion(200),
        )
        .context(policy)
        .build()
}

fn small(policy: ContextPolicy) -> ContextPolicy {
    policy.at(0.75).window(2_000)
}

/// Checks that each result follows its call, and that no call is without one.
fn is_whole(messages: &[Message]) {
    let mut open = BTreeSet::new();
    for message in messages {
        match message {
            Message::Tool { tool_call_id, .. } => {
                assert!(open.remove(tool_call_id), "a result without its call");
            }
            Message::Assistant { calls, .. } => {
                assert_eq!(open, BTreeSet::new(), "a call without its result");
                open = calls.iter().map(|call| call.id.clone()).collect();
            }
            _ => assert_eq!(open, BTreeSet::new(), "a call without its result"),
        }
    }
    assert_eq!(open, BTreeSet::new());
}

fn cuts(events: &[Event]) -> Vec<(usize, usize)> {
    let cuts = events.iter().filter_map(|event| match event.kind {
        EventKind::Shortened { left_out, put, .. } => Some((left_out, put)),
        _ => None,
    });
    cuts.collect()
}

#[tokio::test]
async fn trimmed_conversations_fit_and_keep_calls_with_their_results() {
    let (model, handle) = reads(20);
    let outcome = reader(small(trim()))
        .run("Read it all.")
        .model(model)
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "done");
    assert_eq!(
        outcome.outputs.receipts().count(),
        20,
        "receipts keep everything"
    );
    let requests = handle.requests();
    assert_eq!(requests.len(), 21);
    for request in &requests {
        is_whole(&request.messages);
        assert!(size(request) <= 1_500, "{}", size(request));
        assert_eq!(request.prompt(), "You read.");
        let said =
            |one: &&Message| matches!(one, Message::User { content } if *content == "Read it all.");
        assert_eq!(request.messages.iter().filter(said).count(), 1);
        let remarks = request
            .messages
            .iter()
            .filter(|one| one.text().contains("were left out here"));
        assert!(remarks.count() < 2);
    }
    let last = &requests[20].messages;
    assert!(
        last.last().unwrap().text().contains("page 20,"),
        "the last result stays"
    );
}

#[tokio::test]
async fn without_a_policy_nothing_is_left_out() {
    let (model, handle) = reads(20);
    let agent = AgentBuilder::<String, String>::new("reader")
        .tool(ReadPage)
        .budget(
            Budget::new()
                .max_turns(30)
                .max_tool_calls(30)
                .max_recursion(200),
        );
    agent
        .build()
        .run("Read it all.")
        .model(model)
        .await
        .unwrap();
    assert_eq!(handle.requests()[20].messages.len(), 1 + 2 * 20);
}

#[tokio::test]
async fn a_compacted_conversation_has_a_summary_which_the_run_pays_for() {
    let (model, handle) = reads(12);
    let events = Arc::new(Mutex::new(Vec::new()));
    let heard = events.clone();
    let outcome = reader(small(compact(summariser())))
        .run("Read it all.")
        .model(model)
        .on_event(move |event: &Event| heard.lock().unwrap().push(event.clone()))
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "done");
    let requests = handle.requests();
    let (summaries, own): (Vec<_>, Vec<_>) = requests
        .iter()
        .partition(|request| request.prompt() == "Sum up.");
    assert!(summaries.len() >= 2, "{}", summaries.len());
    assert_eq!(
        outcome.usage.requests,
        requests.len() as u64,
        "summaries are paid for"
    );
    assert!(
        !summaries[0].last().contains("Read it all."),
        "the task stays as it is"
    );
    assert!(
        summaries[1].last().contains("pages were read."),
        "a summary is summed up again"
    );
    let last = &own[12].messages;
    is_whole(last);
    assert_eq!(last[1].text(), "Read it all.");
    assert!(last[2].text().contains("were left out here"));
    assert!(last[2].text().contains("pages were read."));
    let events = events.lock().unwrap();
    assert_eq!(cuts(&events).len(), summaries.len());
    assert!(cuts(&events).iter().all(|(left_out, put)| left_out > put));
}

#[tokio::test]
async fn a_summary_is_within_the_budget_of_the_run() {
    let (model, _) = ScriptedModel::from_fn(|asked| {
        let script = match asked.prompt() {
            "Sum up." => Script::text("all"),
            _ => read(1),
        };
        let Script::Reply(mut reply) = counted(script, asked) else {
            unreachable!("the script has replies")
        };
        if asked.prompt() == "Sum up." {
            reply.usage.output_tokens = 1_000_000;
        }
        Script::Reply(reply)
    });
    let agent = reader(small(compact(summariser())));
    let run = agent.run("Read.").model(model);
    let error = run.budget(tokens(500_000)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Budget);
}

#[tokio::test]
async fn an_empty_summary_and_a_failed_one_end_the_agent() {
    for script in [Script::text("  "), Script::fail("no summary today")] {
        let mut script = Some(script);
        let mut number = 0;
        let (model, _) = ScriptedModel::from_fn(move |asked| match asked.prompt() {
            "Sum up." => script.take().unwrap_or_else(|| Script::text(" ")),
            _ => {
                number += 1;
                counted(read(number), asked)
            }
        });
        let agent = reader(small(compact(summariser())));
        let run = agent.run("Read.").model(model);
        let error = run.await.unwrap_err();
        assert_ne!(error.kind(), ErrorKind::Budget, "{error}");
    }
}

#[tokio::test]
async fn a_window_that_nobody_knows_is_an_error_with_its_remedy() {
    let (model, handle) = reads(1);
    let error = reader(trim()).run("Read.").model(model).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    let text = error.to_string();
    assert!(
        text.contains("the window of `scripted` is not known"),
        "{text}"
    );
    assert!(text.contains("`.window(..)`"), "{text}");
    assert_eq!(handle.count(), 0);

    let (model, handle) = reads(20);
    let able = Capabilities {
        window: Some(2_000),
        ..Capabilities::default()
    };
    reader(trim())
        .run("Read.")
        .model(model.capable_of(able))
        .await
        .unwrap();
    assert!(
        handle
            .requests()
            .iter()
            .all(|request| size(request) <= 1_500)
    );
}

#[tokio::test]
async fn a_share_that_is_none_is_a_defect() {
    for share in [0.0, -0.5, 1.01, 75.0, f64::NAN] {
        let (model, handle) = reads(1);
        let agent = reader(trim().at(share).window(2_000));
        let run = agent.run("Read.").model(model);
        let error = run.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Build, "{share}");
        assert!(error.to_string().contains("`.at(0.75)`"), "{error}");
        assert_eq!(handle.count(), 0);
    }
}

fn too_long() -> Script {
    let overflow = ContextOverflow {
        sent: Some(9_000),
        read: None,
        window: Some(2_000),
    };
    Script::Fail(ModelError::too_long("the prompt is too long", overflow).with_status(400))
}

#[tokio::test]
async fn a_refused_conversation_is_shortened_once_and_sent_once_more() {
    // The window was given too large.
    let policy = || trim().window(1_000_000);
    let (model, handle) =
        ScriptedModel::new([read(1), read(2), read(3), too_long(), Script::text("done")]);
    let done = reader(policy()).run("Read.").model(model).await;
    assert_eq!(done.unwrap(), "done");
    let requests = handle.requests();
    assert_eq!(requests.len(), 5);
    assert!(requests[4].messages.len() < requests[3].messages.len());
    is_whole(&requests[4].messages);

    let (model, handle) = ScriptedModel::new([read(1), read(2), read(3), too_long(), too_long()]);
    let error = reader(policy())
        .run("Read.")
        .model(model)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model);
    assert_eq!(handle.count(), 5, "a second refusal is an error");

    // Nothing can be left out of the first request.
    let (model, handle) = ScriptedModel::new([too_long()]);
    reader(policy())
        .run("Read.")
        .model(model)
        .await
        .unwrap_err();
    assert_eq!(handle.count(), 1);
}

#[tokio::test]
async fn without_a_policy_a_refusal_names_the_way_out() {
    let (model, handle) = ScriptedModel::new([too_long()]);
    let agent = AgentBuilder::<String, String>::new("reader").build();
    let error = agent.run("Read.").model(model).await.unwrap_err();
    assert!(
        error.to_string().contains("`context = trim(at = 0.75)`"),
        "{error}"
    );
    assert_eq!(handle.count(), 1);
    let source = std::error::Error::source(&error).unwrap();
    let source = source.downcast_ref::<ModelError>().unwrap();
    assert_eq!(source.kind(), ModelErrorKind::TooLong);
    assert_eq!(source.overflow().unwrap().window, Some(2_000));
}

#[tokio::test]
async fn one_result_that_is_longer_than_the_window_stays() {
    let (model, handle) = reads(3);
    let policy = trim().at(0.1).window(1_000);
    reader(policy).run("Read.").model(model).await.unwrap();
    for (request, number) in handle.requests().iter().skip(1).zip(1..) {
        is_whole(&request.messages);
        let last = request.messages.last().unwrap().text();
        assert!(last.contains(&format!("page {number},")));
        assert!(request.messages.len() <= 5);
    }
}

#[tokio::test]
async fn a_known_value_of_a_page_that_was_left_out_is_still_known() {
    let mut number = 0;
    let (model, handle) = ScriptedModel::from_fn(move |asked| {
        number += 1;
        let script = match number {
            ..=10 => read(number),
            11 => Script::call("quote", r#"{"paragraph": "P-100"}"#),
            12 => Script::call("quote", r#"{"paragraph": "P-9900"}"#),
            _ => Script::text("done"),
        };
        counted(script, asked)
    });
    let outcome = reader(small(trim()))
        .run("Read.")
        .model(model)
        .outcome()
        .await
        .unwrap();
    let request = &handle.requests()[10];
    assert!(
        !request
            .messages
            .iter()
            .any(|one| one.text().contains("P-100."))
    );
    let quotes: Vec<_> = outcome
        .outputs
        .receipts()
        .skip(10)
        .map(ToolEnvelope::is_ok)
        .collect();
    assert_eq!(quotes, [true, false], "only the first one was on a page");
}

#[tokio::test]
async fn a_chat_goes_on_with_the_shortened_conversation() {
    let (model, handle) = reads(8);
    let mut chat = reader(small(trim())).into_chat().model(model);
    assert_eq!(chat.send("Read it all.").await.unwrap(), "done");
    assert!(chat.messages().len() < 16, "{}", chat.messages().len());
    let stored = serde_json::to_string(&chat.snapshot()).unwrap();
    let mut chat = reader(small(trim()))
        .into_chat()
        .model(handle.clone())
        .resume(serde_json::from_str(&stored).unwrap())
        .unwrap();
    assert_eq!(chat.send("And now?").await.unwrap(), "done");
    let last = handle.requests().pop().unwrap();
    is_whole(&last.messages);
    assert_eq!(last.last(), "And now?");
}

/// Runs the agent with a journal, and returns the journal with the requests of the agent.
async fn recorded(policy: ContextPolicy) -> (MemoryJournal, Vec<ReceivedRequest>) {
    let (journal, (model, handle)) = (MemoryJournal::new(), reads(10));
    let agent = reader(policy);
    let run = agent.run("Read it all.").model(model);
    assert_eq!(run.journal(journal.clone()).await.unwrap(), "done");
    (journal, handle.requests())
}

#[tokio::test]
async fn a_stored_run_goes_on_with_the_same_conversation_wherever_it_was_cut() {
    for policy in [|| small(trim()), || small(compact(summariser()))] {
        let (journal, whole) = recorded(policy()).await;
        let entries = journal.entries();
        let kinds = |kind: &str| entries.iter().filter(|one| one.kind() == kind).count();
        assert!(kinds("shortened") > 1, "{}", kinds("shortened"));
        for cut in 1..entries.len() {
            let answered = entries[..cut]
                .iter()
                .filter(|one| one.kind() == "replied")
                .count();
            // The model replies as it did, from the first reply on that is not in the journal.
            let (_, again) = (0, whole.clone());
            let mut left = again.into_iter().skip(answered);
            let (model, handle) = ScriptedModel::from_fn({
                let mut number = whole[..answered]
                    .iter()
                    .filter(|one| one.prompt() != "Sum up.")
                    .count();
                move |asked| {
                    let before = left.next().unwrap();
                    assert_eq!(asked.messages, before.messages, "cut at {cut}");
                    if asked.prompt() == "Sum up." {
                        let pages = asked.last().matches("read_page gave").count();
                        return counted(Script::text(format!("{pages} pages were read.")), asked);
                    }
                    number += 1;
                    let script = match number <= 10 {
                        true => read(u32::try_from(number).unwrap()),
                        false => Script::text("done"),
                    };
                    counted(script, asked)
                }
            });
            let journal = MemoryJournal::of(entries[..cut].to_vec());
            let agent = reader(policy());
            let run = agent.run("Read it all.").model(model).journal(journal);
            assert_eq!(run.await.unwrap(), "done", "cut at {cut}");
            assert_eq!(handle.count(), whole.len() - answered, "cut at {cut}");
        }
    }
}

#[tokio::test]
async fn a_recorded_run_replays_and_tells_of_the_cuts() {
    for policy in [|| small(trim()), || small(compact(summariser()))] {
        let (journal, _) = recorded(policy()).await;
        let recorded = Recorded::of(journal.entries()).unwrap();
        let agent = reader(policy());
        let again = agent.run("Read it all.").model(recorded.model());
        assert_eq!(again.await.unwrap(), "done");
        let cuts = cuts(&recorded.events());
        assert!(cuts.len() > 1, "{cuts:?}");
        is_whole(recorded.messages());
        // Without the policy the conversation is another one.
        let other = AgentBuilder::<String, String>::new("reader")
            .prompt("You read.")
            .tool(ReadPage)
            .tool(Quote)
            .budget(
                Budget::new()
                    .max_turns(30)
                    .max_tool_calls(30)
                    .max_recursion(200),
            )
            .build();
        let error = other
            .run("Read it all.")
            .model(recorded.model())
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Replay);
    }
}

/// Policy that takes the result away from its call.
struct Careless;

#[async_trait]
impl Shorten for Careless {
    async fn shorten(&self, messages: &[Message]) -> Result<Option<Vec<Message>>, Error> {
        let kept = messages
            .iter()
            .filter(|one| !matches!(one, Message::Tool { .. }));
        Ok(Some(kept.cloned().collect()))
    }
}

#[tokio::test]
async fn a_policy_of_ones_own_may_not_part_a_call_from_its_result() {
    let (model, _) = reads(10);
    let agent = reader(small(ContextPolicy::by(Careless)));
    let run = agent.run("Read.").model(model);
    let error = run.await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert!(error.to_string().contains("has no result"), "{error}");

    // One that leaves nothing out changes nothing.
    let (model, handle) = reads(10);
    let policy = small(ContextPolicy::by(KeepLast::exchanges(1)));
    reader(policy).run("Read.").model(model).await.unwrap();
    assert_eq!(handle.requests().pop().unwrap().messages.len(), 2 + 2 * 10);
}

/// Sum up.
#[agent]
async fn sums(conversation: String) -> String;

/// You read.
#[agent(tools = [ReadPage], budget(max_turns = 30, max_tool_calls = 30), context = trim(at = 0.5, window = 2_000))]
async fn trimming(task: String) -> String;

/// You read.
#[agent(
    tools = [ReadPage],
    budget(max_turns = 30, max_tool_calls = 30),
    context = compact(at = 0.5, window = 2_000, by = Sums),
)]
async fn compacting(task: String) -> String;

/// You read.
#[agent(
    tools = [ReadPage],
    budget(max_turns = 30, max_tool_calls = 30),
    context = ContextPolicy::by(Careless).window(2_000),
)]
async fn losing(task: String) -> String;

#[tokio::test]
async fn the_macro_makes_the_same_policies() {
    let (model, handle) = reads(10);
    Trimming.run("Read.").model(model).await.unwrap();
    assert!(
        handle
            .requests()
            .iter()
            .all(|request| size(request) <= 1_000)
    );
    let (model, handle) = reads(10);
    Compacting.run("Read.").model(model).await.unwrap();
    assert!(
        handle
            .requests()
            .iter()
            .any(|request| request.prompt() == "Sum up.")
    );
    let (model, _) = reads(10);
    let error = Losing.run("Read.").model(model).await.unwrap_err();
    assert!(error.to_string().contains("has no result"), "{error}");
}
