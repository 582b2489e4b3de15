//! A conversation whose workers are killed.

use crate::{
    conversations::said,
    office::done,
    stores::{self, Place, each},
};
use agents::{
    AgentBuilder, Effects,
    model::{Message, Model, ModelError, Reply, Request},
    tool::{FnTool, ToolSpec},
};
use agents_runtime::{AgentRef, FileKeyring, Principal, Runtime};
use agents_store::RunStatus;
use serde_json::{Value, json};
use std::{
    fs,
    io::Write,
    process::{Child, Command, Stdio},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Model of the process that is killed: pays what the message says, and then tells how many exchanges there were.
struct Cashier;

#[agents::async_trait]
impl Model for Cashier {
    fn id(&self) -> &str {
        "cashier"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let messages = request.messages();
        let questions = messages
            .iter()
            .filter(|message| matches!(message, Message::User { .. }))
            .count();
        let mut reply = Reply::default();
        match messages.last() {
            Some(Message::User { content }) => {
                let arguments = json!({ "cents": content.parse::<u32>().unwrap() });
                reply.calls.push(agents::model::ToolCall {
                    id: String::new(),
                    name: "pay".to_owned(),
                    arguments: arguments.to_string(),
                });
            }
            _ => {
                for word in ["exchange ", "number "] {
                    if let Some(sink) = request.sink() {
                        sink(agents::model::Delta::Text(word));
                    }
                    tokio::time::sleep(Duration::from_millis(60)).await;
                }
                let number = questions.to_string();
                if let Some(sink) = request.sink() {
                    sink(agents::model::Delta::Text(&number));
                }
                reply.content = format!("exchange number {number}");
            }
        }
        Ok(reply)
    }
}

/// Tool that writes each key into the ledger once.
fn pay_into(ledger: std::path::PathBuf) -> FnTool {
    let schema = json!({
        "type": "object",
        "properties": {"cents": {"type": "integer"}},
        "required": ["cents"],
    });
    let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, schema)
        .version("1.0.0")
        .idempotent();
    FnTool::with_spec(spec, move |args: Value, cx| {
        let ledger = ledger.clone();
        async move {
            let key = cx.idempotency_key();
            let text = fs::read_to_string(&ledger).unwrap_or_default();
            if !text.lines().any(|line| line.starts_with(&key)) {
                let mut file = fs::OpenOptions::new()
                    .append(true)
                    .create(true)
                    .open(&ledger)?;
                file.write_all(format!("{key} {}\n", args["cents"]).as_bytes())?;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok::<_, std::io::Error>("paid")
        }
    })
}

fn cashier(runtime: &Runtime, ledger: std::path::PathBuf) -> AgentRef<String, String> {
    let agent = AgentBuilder::<String, String>::new("cashier").tool(pay_into(ledger));
    runtime.agent(agent.build())
}

const CHILD: &str = "AGENTS_TEST_CASHIER";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the process that another test kills"]
async fn a_cashier_in_a_process_of_its_own() {
    let Ok(child) = std::env::var(CHILD) else {
        return;
    };
    let parts: Vec<_> = child.split('|').collect();
    let [address, keys, ledger] = &parts[..] else {
        panic!("{child}")
    };
    let runtime = Runtime::open(stores::open(address).await)
        .keyring(FileKeyring::open(keys).unwrap())
        .lease(Duration::from_millis(400))
        .model(Cashier);
    cashier(&runtime, ledger.into());
    runtime.work(CancellationToken::new()).await;
}

fn start_cashier(place: &Place) -> Child {
    let child = [
        place.address(),
        place.keys().display().to_string(),
        place.file("ledger").display().to_string(),
    ];
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "killed_conversations::a_cashier_in_a_process_of_its_own",
        ])
        .env(CHILD, child.join("|"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn a_conversation_survives_workers_that_are_killed() {
    each(async |place| {
        const MESSAGES: usize = 8;
        let runtime = place.runtime().await;
        let chat = cashier(&runtime, place.file("ledger")).chat("till");
        let mut runs = Vec::new();
        for n in 1..=MESSAGES {
            let message = chat.send(n.to_string()).streamed();
            runs.push(message.start().await.unwrap());
        }
        let (mut kills, mut seed) = (0, 7_u64);
        loop {
            let mut child = start_cashier(place);
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            tokio::time::sleep(Duration::from_millis(400 + (seed >> 33) % 1200)).await;
            child.kill().unwrap();
            child.wait().unwrap();
            let stored = chat.stored().runs().await.unwrap();
            let mut open = stored.iter().filter(|run| run.status != RunStatus::Done);
            let Some(first) = open.next_back() else { break };
            if let Some(why) = &first.held {
                // Three processes in a row were killed before they had stored anything.
                assert!(why.kind == agents_runtime::HeldKind::Poisoned, "{why}");
                let client = runtime.as_client();
                client
                    .release(&first.id, &Principal::operator())
                    .await
                    .unwrap();
            }
            kills += 1;
            assert!(kills < 100, "it comes to no end: {first:?}");
        }
        assert!(kills >= 1, "nothing was killed");
        println!("{kills} kills");
        for (run, n) in runs.iter().zip(1..) {
            let answer = format!("exchange number {n}");
            assert_eq!(
                done(run).await.result.unwrap(),
                answer,
                "what was said is whole"
            );
            // The text of a reply is stored with the reply at the latest.
            assert_eq!(super::texts::page(run.events().text()).await, answer);
        }
        let lines: Vec<_> = said(&chat.messages().await.unwrap());
        let expected: Vec<_> = (1..=MESSAGES)
            .flat_map(|n| {
                [
                    format!("user: {n}"),
                    "model: pay()".to_owned(),
                    "tool: paid".to_owned(),
                    format!("model: exchange number {n}"),
                ]
            })
            .collect();
        assert_eq!(lines, expected, "each exchange is there once, in order");
        let ledger = fs::read_to_string(place.file("ledger")).unwrap();
        assert_eq!(ledger.lines().count(), MESSAGES);
        let stored = chat.stored().runs().await.unwrap();
        assert!(stored.iter().all(|run| run.status == RunStatus::Done));
    })
    .await;
}
