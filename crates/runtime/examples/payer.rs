//! An agent that pays a bill, once somebody has approved it in another terminal.
//!
//! ```console
//! $ cargo run -p typed-agents-runtime --example payer
//! ```
//!
//! The program says what to type in the second terminal. It may be killed while it waits, and started again: the run goes
//! on, and pays once. The payments are in `ledger.txt`. The store is `payer.db`, or the file that is named as an
//! argument.
//!
//! The model follows a script. With `AGENTS_MODEL=qwen3:4b`, the Ollama at `OLLAMA_HOST` is asked.

use agents::{
    prelude::*,
    testing::{Script, ScriptedModel},
};
use agents_runtime::{Progress, Request, RunRef, Runtime, SqliteStore};
use std::{collections::BTreeSet, env, fs::OpenOptions, io, io::Write, time::Duration};
use tokio_util::sync::CancellationToken;

/// Command line of durable runs.
const AGENTS: &str = "cargo run -p typed-agents-cli --";

/// Pays a bill.
#[agents::tool(writes, approval = always)]
async fn pay(
    /// To whom.
    to: String,
    /// Amount in cents.
    cents: u32,
) -> io::Result<String> {
    let mut ledger = OpenOptions::new()
        .create(true)
        .append(true)
        .open("ledger.txt")?;
    writeln!(ledger, "{cents} cents to {to}")?;
    ledger.sync_all()?;
    Ok(format!("{cents} cents are paid to {to}"))
}

/// You pay what is due.
#[agent(tools = [Pay])]
async fn payer(task: String) -> String;

/// Returns a model that follows a script: it pays first, and then says so.
fn script() -> ScriptedModel {
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.results()[..] {
        [] => Script::call("pay", r#"{"to": "ACME", "cents": 1200}"#),
        [(_, result), ..] => Script::text(format!("Done: {result}.")),
    });
    model
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = env::args().nth(1).unwrap_or_else(|| "payer.db".into());
    let runtime = Runtime::open(SqliteStore::open(&file).await?);
    let runtime = match env::var("AGENTS_MODEL") {
        Ok(name) => runtime.model(ollama(&name)),
        Err(_) => runtime.model(script()),
    };
    let payer = runtime.agent(Payer);

    // The key stands for one run: the first process starts it, and every later one goes on with it.
    let run = payer
        .run("Pay the bill of ACME: 12 euros.")
        .key("acme-2026-10")
        .start()
        .await?;
    println!("Run {}.", run.id());

    let stop = CancellationToken::new();
    let worker = tokio::spawn(runtime.clone().work(stop.clone()));
    let answer = answer(&run, &file).await;
    stop.cancel();
    worker.await?;
    println!("{}", answer?);
    Ok(())
}

/// Waits for the answer of the run, and says meanwhile what it waits for.
async fn answer(run: &RunRef<String>, file: &str) -> Result<String, Box<dyn std::error::Error>> {
    let mut told = BTreeSet::new();
    loop {
        match run.wait(Duration::from_millis(200)).await? {
            Progress::Done(outcome) => return Ok(outcome.result?),
            Progress::Held(why) => return Err(format!("the run is held: {why}").into()),
            Progress::Waiting(requests) => {
                for request in requests {
                    if told.insert(request.id.clone()) {
                        tell(&request, file);
                    }
                }
            }
            Progress::Running => {}
        }
    }
}

/// Says what a request is about, and how to approve it.
fn tell(request: &Request, file: &str) {
    let Request {
        id,
        tool_name,
        args_summary,
        ..
    } = request;
    println!("It wants to {tool_name}: {args_summary}. In another terminal:");
    println!("  {AGENTS} --store sqlite:{file} approve {id}");
    println!("You may stop this program and start it again.");
}
