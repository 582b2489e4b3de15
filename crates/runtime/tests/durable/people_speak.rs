//! People who answer the questions of agents, and people who tell agents something while their runs go on.

use crate::office::*;
use agents::{
    AgentBuilder, Effects,
    model::{Message, Model, ModelError, Reply, Request as ModelRequest, ToolCall},
    run::EventKind,
    testing::{Script, ScriptedModel},
    tool::{Ask, FnTool, ToolSpec},
};
use agents_runtime::{
    Action, AgentRef, Approval, AuditRecord, FileKeyring, Mode, Principal, Progress, Request,
    Roles, RunRef, Runtime, RuntimeErrorKind, SqliteStore,
};
use agents_store::{ApprovalStatus, AuditFilter, AuditKind, ErrorKind as Kind};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{process::Child, time::Duration};
use tokio_util::sync::CancellationToken;

/// Seat in a plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
enum Seat {
    Window,
    Aisle,
}

fn asks() -> Script {
    Script::call("ask_user", r#"{"question": "Where do you want to sit?"}"#)
}

struct Desk {
    runtime: Runtime,
    clerk: AgentRef<String, String>,
    model: ScriptedModel,
}

fn desk(store: SqliteStore, ask: Ask<Seat>, script: impl IntoIterator<Item = Script>) -> Desk {
    let (model, handle) = ScriptedModel::new(script);
    let runtime = Runtime::open(store).model(model);
    let clerk = AgentBuilder::<String, String>::new("clerk").tool(ask);
    Desk {
        clerk: runtime.agent(clerk.build()),
        runtime,
        model: handle,
    }
}

impl Desk {
    async fn start(&self) -> RunRef<String> {
        let start = self.clerk.run("A flight.").scope("acme").by(&ada());
        start.start().await.unwrap()
    }

    async fn answer(
        &self,
        request: &Request,
        seat: &str,
        by: &Principal,
    ) -> Result<Request, RuntimeErrorKind> {
        let approvals = self.runtime.approvals();
        let decided = approvals
            .decide(&request.id, Approval::answer(seat), by)
            .await;
        decided.map_err(|error| error.kind())
    }
}

fn told(model: &ScriptedModel) -> String {
    model.requests().last().unwrap().results()[0].1.to_owned()
}

#[tokio::test]
async fn the_user_answers_in_another_process_and_the_answer_is_checked() {
    let files = Files::new("question");
    let store = SqliteStore::open(files.db()).await.unwrap();
    let first = desk(store, Ask::to_user(), [asks()]);
    let worker = Worker::start(&first.runtime);
    let run = first.start().await;
    let request = waiting(&run).await.remove(0);
    worker.stop().await;
    assert_eq!(
        request.effect_description,
        "Asks the user: Where do you want to sit?"
    );

    // Another process, which does not know the agent.
    let client = Runtime::client(SqliteStore::open(files.db()).await.unwrap());
    let approvals = client.approvals();
    let detail = approvals.detail(&request.id, &ada()).await.unwrap();
    let question = detail.request.question.unwrap();
    assert_eq!(question.form.choices(), ["Window", "Aisle"]);
    for (approval, why) in [
        (
            Approval::answer("Wing"),
            "the answer does not fit the question \"Where do you want to sit?\"",
        ),
        (Approval::Approve, "asks a question: answer it, or deny it"),
    ] {
        let error = approvals
            .decide(&request.id, approval, &ada())
            .await
            .unwrap_err();
        assert_eq!(error.kind(), RuntimeErrorKind::Invalid);
        assert!(error.to_string().contains(why), "{error}");
    }
    // Ada has started the run: she could not approve a call of it, and may answer.
    let answer = Approval::answer(Seat::Window);
    approvals
        .decide(&request.id, answer.clone(), &ada())
        .await
        .unwrap();
    let again = approvals
        .decide(&request.id, answer, &grace())
        .await
        .unwrap_err();
    assert_eq!(again.kind(), RuntimeErrorKind::Store(Kind::Settled));

    // A third one goes on.
    let store = SqliteStore::open(files.db()).await.unwrap();
    let third = desk(
        store,
        Ask::to_user(),
        [Script::text("You sit at the window.")],
    );
    let _worker = Worker::start(&third.runtime);
    let outcome = done(&run).await;
    assert_eq!(outcome.result.unwrap(), "You sit at the window.");
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert!(receipt.is_answer);
    assert_eq!(receipt.attempts[0].approved_by.as_deref(), Some("ada"));
    assert_eq!(told(&third.model), "Window");
    let request = approvals.get(&request.id, &ada()).await.unwrap();
    assert_eq!(request.status, ApprovalStatus::Consumed);
    assert!(files.audit().await.verify().await.unwrap().flaws.is_empty());
}

#[tokio::test]
async fn only_people_of_the_tenant_with_the_role_answer() {
    let store = SqliteStore::in_memory().await.unwrap();
    let mut desk = desk(store, Ask::to_user(), [asks(), Script::text("done")]);
    desk.runtime = desk
        .runtime
        .roles(Roles::new().for_action(Action::Answer, "front-desk"));
    let _worker = Worker::start(&desk.runtime);
    let run = desk.start().await;
    let request = waiting(&run).await.remove(0);
    let mallory = Principal::new("mallory", "other");
    let missing = Err(RuntimeErrorKind::Store(Kind::NotFound));
    assert_eq!(
        desk.answer(&request, "Window", &mallory).await.map(drop),
        missing
    );
    let forbidden = Err(RuntimeErrorKind::Forbidden);
    assert_eq!(
        desk.answer(&request, "Window", &grace()).await.map(drop),
        forbidden
    );
    let grace = grace().role("front-desk");
    desk.answer(&request, "Aisle", &grace).await.unwrap();
    done(&run).await;
    assert_eq!(told(&desk.model), "Aisle");
}

#[tokio::test]
async fn a_question_that_nobody_answers_in_time_has_its_default() {
    let store = SqliteStore::in_memory().await.unwrap();
    let ask = Ask::to_user()
        .within(Duration::from_millis(300))
        .default(Seat::Aisle);
    let desk = desk(store, ask, [asks(), Script::text("done")]);
    let _worker = Worker::start(&desk.runtime);
    let run = desk.start().await;
    let outcome = done(&run).await;
    assert_eq!(outcome.result.unwrap(), "done");
    assert!(!outcome.outputs.receipts().next().unwrap().is_answer);
    assert!(
        told(&desk.model).starts_with("Aisle"),
        "{}",
        told(&desk.model)
    );
}

#[tokio::test]
async fn no_mode_answers_a_question() {
    let store = SqliteStore::in_memory().await.unwrap();
    let desk = desk(store, Ask::to_user(), [asks(), Script::text("done")]);
    let modes = desk.runtime.as_client().modes();
    let operator = Principal::operator();
    modes.set(None, Mode::Off, &operator).await.unwrap();
    let _worker = Worker::start(&desk.runtime);
    let run = desk.start().await;
    let request = waiting(&run).await.remove(0);
    desk.answer(&request, "Aisle", &ada()).await.unwrap();
    done(&run).await;
    assert_eq!(told(&desk.model), "Aisle");
}

#[tokio::test]
async fn an_answer_cannot_be_written_into_the_database() {
    let files = Files::new("forged-answer");
    let store = SqliteStore::open(files.db()).await.unwrap();
    let first = desk(store.clone(), Ask::to_user(), [asks(), asks()]);
    let worker = Worker::start(&first.runtime);
    let run = first.start().await;
    let request = waiting(&run).await.remove(0);
    first.answer(&request, "Window", &ada()).await.unwrap();
    let second = waiting(&run).await.remove(0);
    worker.stop().await;
    // The answer to one question is put under the other one.
    files.by_hand(&format!(
        "UPDATE agent_approvals SET status = 'approved', decided_by = 'ada',
             (edited, proof) = (SELECT edited, proof FROM agent_approvals WHERE id = '{}') WHERE id = '{}';
         UPDATE agent_runs SET status = 'ready', messages = messages + 1;",
        request.id, second.id
    ));
    let _worker = Worker::start(&first.runtime);
    let why = held(&run).await;
    assert!(why.contains("agent_approvals was edited"), "{why}");
}

fn audit_of(run: &str) -> AuditFilter {
    AuditFilter {
        run: Some(run.to_owned()),
        kind: Some(AuditKind::Instructed),
        ..AuditFilter::default()
    }
}

#[tokio::test]
async fn an_instruction_reaches_the_agent_and_is_in_the_audit_trail() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    worker.stop().await;
    // Nobody works on the run.
    let bob = Principal::new("bob", "acme");
    run.say("Pay in euros.").by(&bob).await.unwrap();
    run.say("And be quick.").by(&ada()).await.unwrap();
    assert_eq!(waiting(&run).await.len(), 1, "the run still waits");

    // Whoever tells the agent what to do does not approve what it does.
    let approvals = office.runtime.approvals();
    let refused = approvals
        .decide(&request.id, Approval::Approve, &bob)
        .await
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("`bob` wrote to the agent of the run"),
        "{refused}"
    );
    office.decide(&request, Approval::Approve).await.unwrap();
    let _worker = Worker::start(&office.runtime);
    let outcome = done(&run).await;
    assert_eq!(outcome.result.unwrap(), "Paid.");
    let messages = &office.model.requests()[1].messages;
    let texts: Vec<_> = messages
        .iter()
        .filter_map(|message| match message {
            Message::User { content } => Some(content.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["Pay the bills.", "Pay in euros.", "And be quick."]);
    let trail = office
        .runtime
        .audit()
        .events(&audit_of(run.id()))
        .await
        .unwrap();
    let said: Vec<_> = trail
        .iter()
        .map(|AuditRecord { actor, reason, .. }| (actor.as_deref(), reason.as_deref()))
        .collect();
    assert_eq!(
        said,
        [
            (Some("bob"), Some("Pay in euros.")),
            (Some("ada"), Some("And be quick."))
        ]
    );
    let over = run.say("Too late.").by(&ada()).await.unwrap_err();
    assert_eq!(over.kind(), RuntimeErrorKind::Store(Kind::Over));
}

#[tokio::test]
async fn instructions_are_checked() {
    let office = office([pays(900)]).await;
    let run = office.start().await;
    for (text, why) in [
        ("  ".to_owned(), "is empty"),
        ("x".repeat(40_000), "40000 bytes long"),
    ] {
        let error = run.say(text).by(&ada()).await.unwrap_err();
        assert_eq!(error.kind(), RuntimeErrorKind::Invalid);
        assert!(error.to_string().contains(why), "{error}");
    }
    let mallory = Principal::new("mallory", "other");
    let error = run.say("Pay me.").by(&mallory).await.unwrap_err();
    assert_eq!(error.kind(), RuntimeErrorKind::Store(Kind::NotFound));
    let strict =
        Runtime::client(office.store.clone()).roles(Roles::new().for_action(Action::Say, "lead"));
    let error = strict
        .say(run.id(), "Pay me.")
        .by(&grace())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), RuntimeErrorKind::Forbidden);
}

/// Model of a process that is killed: it asks the user, looks around for a while, and then repeats all that the user said.
struct Slow;

#[agents::async_trait]
impl Model for Slow {
    fn id(&self) -> &str {
        "slow"
    }

    async fn chat(&self, request: ModelRequest<'_>) -> Result<Reply, ModelError> {
        let messages = request.messages();
        let call = |name: &str, arguments: serde_json::Value| ToolCall {
            id: String::new(),
            name: name.to_owned(),
            arguments: arguments.to_string(),
        };
        let results = messages
            .iter()
            .filter(|message| matches!(message, Message::Tool { .. }))
            .count();
        let mut reply = Reply::default();
        match results {
            0 => reply.calls.push(call(
                "ask_user",
                json!({"question": "Where do you want to sit?"}),
            )),
            1..20 => reply.calls.push(call("look", json!({"round": results}))),
            _ => {
                let said = messages.iter().filter_map(|message| match message {
                    Message::User { content } => Some(content.text.clone()),
                    Message::Tool { name, content, .. } if name == "ask_user" => {
                        Some(content.text.clone())
                    }
                    _ => None,
                });
                reply.content = said.collect::<Vec<_>>().join(" | ");
            }
        }
        Ok(reply)
    }
}

fn slow_clerk(runtime: &Runtime) -> AgentRef<String, String> {
    let schema = json!({"type": "object", "properties": {"round": {"type": "integer"}}});
    let spec = ToolSpec::new("look", "Looks.", Effects::Reads, schema);
    let look = FnTool::with_spec(spec, |_, _| async {
        tokio::time::sleep(Duration::from_millis(60)).await;
        Ok::<_, std::io::Error>("clouds")
    });
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .tool(Ask::<Seat>::to_user())
        .tool(look);
    runtime.agent(
        clerk
            .budget(
                agents::Budget::new()
                    .max_turns(40)
                    .max_tool_calls(40)
                    .max_recursion(100),
            )
            .build(),
    )
}

const CHILD: &str = "AGENTS_TEST_SLOW_CLERK";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the process that another test kills"]
async fn a_clerk_in_a_process_of_its_own() {
    let Some((db, keys)) = files_of_process(CHILD) else {
        return;
    };
    let runtime = Runtime::open(SqliteStore::open(&db).await.unwrap())
        .keyring(FileKeyring::open(keys).unwrap())
        .lease(Duration::from_millis(400))
        .model(Slow);
    slow_clerk(&runtime);
    runtime.work(CancellationToken::new()).await;
}

fn start_clerk(files: &Files) -> Child {
    let name = "people_speak::a_clerk_in_a_process_of_its_own";
    start_process(name, CHILD, files)
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_and_instructions_outlive_kills_and_are_told_once() {
    let files = Files::new("speak-kills");
    let store = SqliteStore::open(files.db()).await.unwrap();
    let runtime = Runtime::open(store).keyring(FileKeyring::open(files.keys()).unwrap());
    let run = slow_clerk(&runtime)
        .run("A flight.")
        .scope("acme")
        .by(&ada());
    let run = run.start().await.unwrap();
    let child = start_clerk(&files);
    let request = waiting(&run).await.remove(0);
    kill(child);
    // The answer and an instruction come while no process is there.
    let approvals = runtime.approvals();
    approvals
        .decide(&request.id, Approval::answer(Seat::Window), &ada())
        .await
        .unwrap();
    run.say("Not on a Friday.").by(&ada()).await.unwrap();
    let mut said = vec![
        "A flight.".to_owned(),
        "Window".to_owned(),
        "Not on a Friday.".to_owned(),
    ];
    for number in 1..=3 {
        let child = start_clerk(&files);
        tokio::time::sleep(Duration::from_millis(700)).await;
        let text = format!("Hint {number}.");
        if run.say(&*text).by(&ada()).await.is_ok() {
            said.push(text);
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        kill(child);
    }
    let child = start_clerk(&files);
    let outcome = match run.wait(LONG).await.unwrap() {
        Progress::Done(outcome) => outcome,
        other => panic!("the run is not over: {other:?}"),
    };
    kill(child);
    let answer = outcome.result.unwrap();
    // An instruction that came with the last reply may be too late; none is told twice or out of order.
    let heard: Vec<_> = answer.split(" | ").collect();
    assert!(
        heard.len() >= 3
            && said.starts_with(
                &heard
                    .iter()
                    .map(|one| (*one).to_owned())
                    .collect::<Vec<_>>()
            ),
        "{heard:?} of {said:?}"
    );
    let client = Runtime::client(SqliteStore::open(files.db()).await.unwrap());
    let client = client.keyring(FileKeyring::open(files.keys()).unwrap());
    let events = client.recorded(run.id()).await.unwrap().unwrap().events();
    let told = events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Instructed(_)))
        .count();
    assert_eq!(told, heard.len() - 2);
    assert!(files.audit().await.verify().await.unwrap().flaws.is_empty());
}
