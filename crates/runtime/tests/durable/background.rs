//! Delegates that work in the background of a durable run: its workers are killed, and people are asked meanwhile.

use crate::office::*;
use agents::{
    Agent, AgentBuilder, Budget, Effects,
    model::{Message, Model, ModelError, Reply, Request, ToolCall},
    run::{Event, EventKind},
    team::{Member, Team},
    tool::{FnTool, ToolSpec},
};
use agents_runtime::{AgentRef, Approval, FileKeyring, Progress, Runtime, SqliteStore};
use serde_json::json;
use std::{collections::BTreeSet, process::Child, time::Duration};
use tokio_util::sync::CancellationToken;

/// Number of notes that each researcher takes, and of looks that the editor takes meanwhile.
const ROUNDS: usize = 12;

/// Model of both agents: the editor sends two researchers off and looks around, and each researcher takes notes.
struct Newsroom;

#[agents::async_trait]
impl Model for Newsroom {
    fn id(&self) -> &str {
        "newsroom"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        tokio::time::sleep(Duration::from_millis(15)).await;
        let is_editor = request.tools().any(|tool| tool.name == "researcher");
        let messages = request.messages();
        let results = messages
            .iter()
            .filter(|message| matches!(message, Message::Tool { .. }));
        let told = messages.iter().filter_map(|message| match message {
            Message::User { content } if content.starts_with("[Result of") => {
                content.lines().last()
            }
            _ => None,
        });
        let (results, told) = (results.count(), told.collect::<Vec<_>>());
        let call = |name: &str, arguments: serde_json::Value| ToolCall {
            id: String::new(),
            name: name.to_owned(),
            arguments: arguments.to_string(),
        };
        let mut reply = Reply::default();
        match (is_editor, results) {
            (true, 0) => {
                for subject in ["whales", "ships"] {
                    let input = json!({ "input": subject });
                    reply.calls.push(call("researcher", input));
                }
            }
            (true, results) if results < 2 + ROUNDS => {
                reply.calls.push(call("look", json!({ "round": results })));
            }
            (true, _) => reply.content = told.join(", "),
            (false, results) if results < ROUNDS => {
                reply.calls.push(call("note", json!({ "round": results })));
            }
            (false, _) => {
                let Some(Message::User { content }) = messages.get(1) else {
                    return Ok(reply);
                };
                reply.content = format!("all about {}", content.text);
            }
        }
        Ok(reply)
    }
}

fn tool(name: &'static str, effects: Effects) -> FnTool {
    let schema = json!({"type": "object", "properties": {"round": {"type": "integer"}}});
    let spec = ToolSpec::new(name, "Works.", effects, schema).idempotent();
    FnTool::with_spec(spec, |_, _| async {
        tokio::time::sleep(Duration::from_millis(15)).await;
        Ok::<_, std::io::Error>("done")
    })
}

fn newsroom(confirmed: bool) -> Team<impl Agent<In = String, Out = String>> {
    let bounds = || {
        Budget::new()
            .max_turns(60)
            .max_tool_calls(60)
            .max_recursion(300)
    };
    let researcher = AgentBuilder::<String, String>::new("researcher")
        .prompt("You take notes.")
        .tool(tool("note", Effects::Writes))
        .budget(bounds())
        .build();
    let editor = AgentBuilder::<String, String>::new("editor")
        .prompt("You write.")
        .tool(tool("look", Effects::Reads))
        .budget(bounds())
        .build();
    let editor = match confirmed {
        true => Member::new(editor)
            .grant_named("*")
            .confirm_named("researcher"),
        false => Member::new(editor),
    };
    editor
        .delegate(Member::new(researcher).background())
        .build()
}

fn team(runtime: &Runtime, confirmed: bool) -> AgentRef<String, String> {
    runtime.agent(newsroom(confirmed))
}

const CHILD: &str = "AGENTS_TEST_NEWSROOM";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the process that another test kills"]
async fn a_newsroom_in_a_process_of_its_own() {
    let Some((db, keys)) = files_of_process(CHILD) else {
        return;
    };
    let runtime = Runtime::open(SqliteStore::open(&db).await.unwrap())
        .keyring(FileKeyring::open(keys).unwrap())
        .lease(Duration::from_millis(400))
        .model(Newsroom);
    team(&runtime, false);
    runtime.work(CancellationToken::new()).await;
}

fn start_newsroom(files: &Files) -> Child {
    let name = "background::a_newsroom_in_a_process_of_its_own";
    start_process(name, CHILD, files)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_background_outlives_kills_and_each_result_is_told_once() {
    let files = Files::new("background-kills");
    let store = SqliteStore::open(files.db()).await.unwrap();
    let runtime = Runtime::open(store).keyring(FileKeyring::open(files.keys()).unwrap());
    let editor = team(&runtime, false);
    let run = editor.run("Write.").scope("acme").by(&ada());
    let run = run.start().await.unwrap();
    let events = || async {
        let client = Runtime::client(SqliteStore::open(files.db()).await.unwrap());
        let client = client.keyring(FileKeyring::open(files.keys()).unwrap());
        let recorded = client.recorded(run.id()).await.unwrap();
        recorded.map_or_else(Vec::new, |recorded| recorded.events())
    };
    for _ in 0..3 {
        let before = events().await.len();
        let child = start_newsroom(&files);
        // A part of the work of all three agents; the whole has some 200 events.
        while events().await.len() < before + 30 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        kill(child);
    }
    let child = start_newsroom(&files);
    let outcome = match run.wait(LONG).await.unwrap() {
        Progress::Done(outcome) => outcome,
        other => panic!("the run is not over: {other:?}"),
    };
    kill(child);
    let answer = outcome.result.unwrap();
    let mut told: Vec<_> = answer.split(", ").collect();
    told.sort_unstable();
    assert_eq!(told, ["all about ships", "all about whales"]);
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    let of = |name: &str| receipts.iter().filter(|one| one.name == name).count();
    assert_eq!(
        (of("researcher"), of("note"), of("look")),
        (2, 2 * ROUNDS, ROUNDS)
    );
    let ids: BTreeSet<_> = receipts.iter().map(|one| one.call_id.clone()).collect();
    assert_eq!(ids.len(), receipts.len());
    let events = events().await;
    let is_start = |event: &&Event| matches!(event.kind, EventKind::RunStarted { .. });
    assert_eq!(
        events.iter().filter(is_start).count(),
        4,
        "killed three times"
    );
    assert!(files.audit().await.verify().await.unwrap().flaws.is_empty());
}

#[tokio::test]
async fn a_worker_is_free_while_people_are_asked_in_the_background() {
    let files = Files::new("background-asked");
    let store = SqliteStore::open(files.db()).await.unwrap();
    let runtime = Runtime::open(store).model(Newsroom);
    let editor = team(&runtime, true);
    let worker = Worker::start(&runtime);
    let run = editor.run("Write.").scope("acme").by(&ada());
    let run = run.start().await.unwrap();
    let requests = waiting(&run).await;
    assert_eq!(requests.len(), 2, "{requests:?}");
    worker.stop().await;
    // The editor has gone on meanwhile, up to its answer.
    let client = Runtime::client(SqliteStore::open(files.db()).await.unwrap());
    let recorded = client.recorded(run.id()).await.unwrap().unwrap();
    let receipts = recorded.receipts();
    let looks = receipts.iter().filter(|one| one.name == "look").count();
    assert_eq!(looks, ROUNDS);

    let approvals = runtime.approvals();
    for (request, decision) in requests
        .iter()
        .zip([Approval::Approve, Approval::deny("one is enough")])
    {
        approvals
            .decide(&request.id, decision, &grace())
            .await
            .unwrap();
    }
    let _worker = Worker::start(&runtime);
    let outcome = done(&run).await;
    let answer = outcome.result.unwrap();
    assert!(answer.contains("all about whales"), "{answer}");
    assert!(answer.contains("not approved: one is enough"), "{answer}");
}
