//! Measures the control room.
//!
//! ```text
//! room inbox FILE REQUESTS LOADS     first page of an inbox with so many requests: its bytes, and the time of a load
//! room live FILE DECISIONS           from a decision in another process to the event at a page of this one
//! ```
//!
//! FILE is a SQLite store, which is created. Prints one line of JSON. Requests to the server do not pass the network.

use agents_core::{
    AgentBuilder, Effects,
    agent::ModelAgent,
    testing::{Script, ScriptedModel},
    tool::{FnTool, NeedsApproval, ToolSpec},
};
use agents_runtime::{AgentRef, Approval, Client, Principal, Runtime, SqliteStore};
use axum::{
    Router,
    body::{Body, BodyDataStream, to_bytes},
    http::{Request, request::Parts},
};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::{
    error::Error,
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

const USAGE: &str = "usage: room inbox FILE REQUESTS LOADS | room live FILE DECISIONS";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["inbox", file, requests, loads] => inbox(file, requests.parse()?, loads.parse()?).await,
        ["live", file, decisions] => live(file, decisions.parse()?).await,
        ["decide", file] => decide(file).await,
        _ => Err(USAGE.into()),
    }
}

/// Returns an agent whose only call needs approval.
fn payer() -> ModelAgent<'static, String, String> {
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.results()[..] {
        [] => Script::call(
            "pay",
            r#"{"amount": 12, "to": "Brandt & Sons", "urgent": false}"#,
        ),
        [(_, told), ..] => Script::text(told),
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "amount": {"type": "integer", "description": "Amount in euros."},
            "to": {"type": "string", "description": "To whom."},
            "urgent": {"type": "boolean"},
        },
        "required": ["amount", "to"],
    });
    let spec =
        ToolSpec::new("pay", "Pays.", Effects::Writes, schema).approval(NeedsApproval::Always);
    let pay = FnTool::with_spec(spec, |args: Value, _| async move {
        Ok::<_, std::io::Error>(format!("paid {}", args["amount"]))
    });
    AgentBuilder::<String, String>::new("payer")
        .tool(pay)
        .model(model)
        .build()
}

/// Opens a store, starts a worker in this process, and returns the store's client, the agent and the control room.
async fn open(file: &str) -> Result<(Client, AgentRef<String, String>, Router)> {
    let runtime = Runtime::open(SqliteStore::open(file).await?);
    let client = runtime.as_client().clone();
    let app = agents_server::router(&client, |_: &Parts| Some(Principal::operator()));
    let payer = runtime.agent(payer());
    tokio::spawn(runtime.work(CancellationToken::new()));
    Ok((client, payer, app))
}

/// Returns the number of requests that wait for a decision.
async fn waiting(client: &Client) -> Result<usize> {
    Ok(client
        .approvals()
        .pending(&Principal::operator())
        .await?
        .len())
}

async fn load(app: &Router, path: &str) -> Result<usize> {
    let request = Request::get(path).body(Body::empty())?;
    let answer = app.clone().oneshot(request).await?;
    if !answer.status().is_success() {
        return Err(format!("{path}: {}", answer.status()).into());
    }
    Ok(to_bytes(answer.into_body(), usize::MAX).await?.len())
}

async fn inbox(file: &str, requests: usize, loads: usize) -> Result<()> {
    let (client, payer, app) = open(file).await?;
    let before = waiting(&client).await?;
    for _ in before..requests {
        payer.run("Pay.").scope("acme").start().await?;
    }
    while waiting(&client).await? < requests {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let mut told = json!({"requests": waiting(&client).await?, "loads": loads});
    for (name, path) in [("page", "/approvals"), ("json", "/api/approvals?limit=50")] {
        let (mut bytes, mut times) = (0, Vec::new());
        for _ in 0..loads {
            let began = Instant::now();
            bytes = load(&app, path).await?;
            times.push(began.elapsed());
        }
        told[name] = json!({"bytes": bytes, "ms": spread(times)});
    }
    println!("{told}");
    Ok(())
}

/// Returns the median of times, and the shortest and the longest of them, in milliseconds.
fn spread(mut times: Vec<Duration>) -> Value {
    times.sort();
    let millis = |time: Option<&Duration>| time.map(|time| time.as_secs_f64() * 1e3);
    json!({
        "median": millis(times.get(times.len() / 2)),
        "least": millis(times.first()),
        "most": millis(times.last()),
    })
}

fn now() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default()
}

/// Child process that decides about the requests whose ids it reads, and says when it has.
struct Decider {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Drop for Decider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Decider {
    fn start(file: &str) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["decide", file])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("no output")?;
        Ok(Decider {
            child,
            output: BufReader::new(output),
        })
    }

    /// Has the child process deny a request, and returns the time at which the decision was stored.
    fn deny(&mut self, id: &str) -> Result<Duration> {
        let input = self.child.stdin.as_mut().ok_or("no input")?;
        writeln!(input, "{id}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(Duration::from_micros(line.trim().parse()?))
    }
}

async fn decide(file: &str) -> Result<()> {
    let client = Runtime::client(SqliteStore::open(file).await?);
    for id in std::io::stdin().lines() {
        let deny = Approval::Deny {
            reason: "no".into(),
        };
        let approvals = client.approvals();
        approvals.decide(&id?, deny, &Principal::operator()).await?;
        println!("{}", now().as_micros());
    }
    Ok(())
}

/// Reads events from the control room until one is of this kind, and returns the time at which it came.
async fn hear(events: &mut BodyDataStream, kind: &str) -> Result<Duration> {
    let mut text = String::new();
    while !text.contains(&format!("event: {kind}\n")) {
        let piece = events.next().await.ok_or("the events have ended")??;
        text.push_str(std::str::from_utf8(&piece)?);
    }
    Ok(now())
}

async fn live(file: &str, decisions: u32) -> Result<()> {
    let (client, payer, app) = open(file).await?;
    let request = Request::get("/api/live").body(Body::empty())?;
    let answer = app.oneshot(request).await?;
    let mut events = answer.into_body().into_data_stream();
    let mut decider = Decider::start(file)?;
    let mut times = Vec::new();
    for count in 0..decisions {
        payer.run("Pay.").scope("acme").start().await?;
        hear(&mut events, "requested").await?;
        let pending = client.approvals().pending(&Principal::operator()).await?;
        let last = pending.last().ok_or("no request waits")?.id.clone();
        // Decisions come at all times between two looks at the trail.
        tokio::time::sleep(Duration::from_millis(u64::from(count * 37 % 250))).await;
        let stored = tokio::task::block_in_place(|| decider.deny(&last))?;
        times.push(hear(&mut events, "denied").await?.saturating_sub(stored));
    }
    println!("{}", json!({"decisions": decisions, "ms": spread(times)}));
    Ok(())
}
