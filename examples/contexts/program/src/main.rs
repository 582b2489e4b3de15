//! A program that puts two contexts together. Neither names the other: the bridge between their agents is made here.
//!
//! The models are scripted, so that it runs offline: `cargo run -p contexts-program`. An event that cannot be handled is
//! listed by an agent, its replay waits for approval, is approved, and happens once.

use agents::testing::{Script, ScriptedModel};
use agents_runtime::{Approval, LetterQuery, Principal, Progress, Runtime, SqliteStore};
use operations::{Operations, atlas};
use serde_json::json;
use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;
use worlds::{Geographer, Geographers};
use worlds_contract::{WorldChanged, WorldRunner};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let has_ink = Arc::new(AtomicBool::new(false));
    let drawn = Arc::new(AtomicU32::new(0));
    let (ink, count) = (has_ink.clone(), drawn.clone());
    let draws = move |_: &str| match ink.load(SeqCst) {
        true => {
            count.fetch_add(1, SeqCst);
            Ok(())
        }
        false => Err("there is no ink".to_owned()),
    };
    let store = SqliteStore::in_memory().await?;
    let runtime = Runtime::open(store).subscriber(atlas(draws));
    let client = runtime.as_client().clone();
    let (ada, grace) = (
        Principal::new("ada", "acme"),
        Principal::new("grace", "acme"),
    );

    // An event that fails at each try.
    let stop = CancellationToken::new();
    let worker = tokio::spawn(runtime.clone().work(stop.clone()));
    let world_id = "w1".to_owned();
    runtime
        .publish(&WorldChanged { world_id })
        .scope("acme")
        .by(&ada)
        .await?;
    let letter = loop {
        match client
            .letters()
            .list(&LetterQuery::default(), &ada)
            .await?
            .pop()
        {
            Some(letter) => break letter,
            None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    println!(
        "dead: {} after {} tries",
        letter.handler_name, letter.attempts
    );

    stop.cancel();
    worker.await?;

    // The agents of both contexts, and the bridge.
    let id = &letter.event_id;
    let question = json!({"question": "Is it still there?", "world_id": "w1"}).to_string();
    let replay = json!({"event_id": id, "reason": "there is ink, and w1 is still there"});
    let (model, _) = ScriptedModel::new([
        Script::call("list_dlq_events", r#"{"handler_name": "atlas"}"#),
        Script::call("ask_world", question),
        Script::text("Yes, with both of its suns."), // the geographer, who has no model of its own
        Script::call("replay_dlq_event", replay.to_string()),
        Script::text("w1 is drawn again."),
    ]);
    let runtime = runtime.model(model);
    let geographers: Arc<WorldRunner> = Arc::new(Geographers {
        agent: Geographer,
        durable: runtime.agent(Geographer),
    });
    let ask_world = geographers.tool("ask_world", "Asks the agent that knows the worlds.");
    let operations = Operations {
        client: client.clone(),
        ask_world,
    };
    let operations = runtime.agent(operations);

    let run = operations
        .run("What has failed?")
        .scope("acme")
        .by(&ada)
        .start()
        .await?;
    let stop = CancellationToken::new();
    let worker = tokio::spawn(runtime.clone().work(stop.clone()));
    let request = loop {
        match run.wait(Duration::from_millis(50)).await? {
            Progress::Waiting(mut requests) if !requests.is_empty() => break requests.remove(0),
            Progress::Done(outcome) => return Err(format!("{:?}", outcome.result).into()),
            _ => {}
        }
    };
    println!("waits: {}", request.effect_description.replace(id, "ID"));

    has_ink.store(true, SeqCst);
    runtime
        .approvals()
        .decide(&request.id, Approval::Approve, &grace)
        .await?;
    let Progress::Done(outcome) = run.wait(Duration::from_secs(60)).await? else {
        return Err("the run does not end".into());
    };
    println!("operations: {}", outcome.result?);
    let mut receipts = outcome.outputs.receipts();
    let asked = receipts.find(|receipt| receipt.name == "ask_world");
    let answer = asked.and_then(|receipt| receipt.output.as_ref());
    println!(
        "geographer: {}",
        answer.map_or("", |answer| answer.as_str())
    );
    while drawn.load(SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stop.cancel();
    worker.await?;
    println!("drawn: {}", drawn.load(SeqCst));
    let again = client.letters().replay(id, "once more", &grace).await;
    let again = again.map_err(|error| error.to_string().replace(id, "ID"));
    println!("again: {again:?}");
    Ok(())
}
