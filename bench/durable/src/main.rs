//! Measures durable runs.
//!
//! ```text
//! durable steps STORE TURNS      turns of one run: time and bytes of each
//! durable text STORE TURNS       the same with 100 words of text in each reply, which is not streamed, and then is
//! durable slow STORE TURNS       the same, with a model and a tool that take two milliseconds each
//! durable waiting STORE RUNS     runs that wait for a decision: first page, resume, memory
//! durable idle STORE SECONDS     memory of a worker that has nothing to do for this time
//! durable failover STORE KILLS [LEASE]   from the kill of a worker until another one has begun its call again; the lease
//!                                in milliseconds, 30,000 by default
//! ```
//!
//! STORE is `sqlite:FILE` or `postgres://..`. A scripted model asks for one call a turn. Prints one line of JSON.

use agents::{
    AgentBuilder, Model, async_trait,
    model::{ModelError, Reply, Request},
    testing::{Script, ScriptedModel},
};
use agents_runtime::{
    AgentRef, Approval, FileKeyring, PostgresStore, Principal, Progress, Runtime, SqliteStore,
};
use agents_store::{ApprovalFilter, ApprovalStatus, Store};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
        mpsc::{Receiver, Sender, channel},
    },
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// Time that each reply of the model and each call of the tool takes, in milliseconds.
static TAKES: AtomicU64 = AtomicU64::new(0);

async fn takes() {
    match TAKES.load(Relaxed) {
        0 => {}
        millis => tokio::time::sleep(Duration::from_millis(millis)).await,
    }
}

/// Model that waits before each reply, as a real one does.
struct Slow(ScriptedModel);

#[async_trait]
impl Model for Slow {
    fn id(&self) -> &str {
        self.0.id()
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        takes().await;
        self.0.chat(request).await
    }
}

/// Looks something up.
#[agents::tool(reads)]
async fn look(
    /// Word to look for.
    word: String,
) -> String {
    takes().await;
    format!("{word} was found in the third drawer of the second desk")
}

/// Pays a bill.
#[agents::tool(writes, approval = always)]
async fn pay(
    /// Amount in cents.
    cents: u32,
) -> String {
    format!("{cents} cents are paid")
}

type Any = Box<dyn Error>;

/// Store that is measured, with the address by which it was opened.
struct Measured {
    store: Arc<dyn Store>,
    address: String,
}

impl Measured {
    async fn open(address: &str) -> Result<Self, Any> {
        let store: Arc<dyn Store> = match address.strip_prefix("sqlite:") {
            Some(file) => Arc::new(SqliteStore::open(file).await?),
            None => Arc::new(PostgresStore::connect(address).await?),
        };
        Ok(Measured {
            store,
            address: address.to_owned(),
        })
    }

    fn runtime(&self) -> Result<Runtime, Any> {
        Ok(Runtime::open(self.store.clone()).keyring(FileKeyring::open(keys())?))
    }

    /// Returns the size of each table of the store with its indexes, in bytes.
    async fn sizes(&self) -> Result<BTreeMap<String, u64>, Any> {
        if let Some(file) = self.address.strip_prefix("sqlite:") {
            // What is still in the log goes into the file.
            let db = rusqlite::Connection::open(file)?;
            db.busy_timeout(Duration::from_secs(10))?;
            db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            let sql = "SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_master USING (name) GROUP BY 1";
            let mut found = db.prepare(sql)?;
            let found =
                found.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))?;
            return Ok(found.collect::<Result<_, _>>()?);
        }
        let config: deadpool_postgres::tokio_postgres::Config = self.address.parse()?;
        let (client, connection) = config
            .connect(deadpool_postgres::tokio_postgres::NoTls)
            .await?;
        tokio::spawn(connection);
        let sql = "SELECT relname::text, pg_total_relation_size(oid) FROM pg_class
             WHERE relkind = 'r' AND relname LIKE 'agent\\_%'";
        let found = client.query(sql, &[]).await?;
        let found = found
            .iter()
            .map(|row| (row.get(0), row.get::<_, i64>(1) as u64));
        Ok(found.collect())
    }
}

/// Variable with the file of keys of the process that has started this one.
const KEYS: &str = "AGENTS_BENCH_KEYS";

/// Returns the file of keys that this process and the workers that it starts use.
fn keys() -> PathBuf {
    let own = || std::env::temp_dir().join(format!("agents-bench-{}.keys", std::process::id()));
    std::env::var_os(KEYS).map_or_else(own, PathBuf::from)
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

async fn steps(measured: &Measured, turns: usize) -> Result<Value, Any> {
    let done = AtomicUsize::new(0);
    let (model, _) = ScriptedModel::from_fn(move |_| match done.fetch_add(1, Relaxed) {
        done if done < turns => {
            Script::call("look", json!({"word": format!("word {done}")}).to_string())
        }
        _ => Script::text("Done."),
    });
    let runtime = measured.runtime()?.model(Slow(model));
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .tool(Look)
        .budget(wide(u32::try_from(turns)?))
        .build();
    let clerk = runtime.agent(clerk);
    let before = measured.sizes().await?;
    let began = Instant::now();
    clerk.run("Look for everything.").await?;
    let took = began.elapsed();
    let mut bytes = measured.sizes().await?;
    for (table, bytes) in &mut bytes {
        *bytes = (*bytes - before.get(table).unwrap_or(&0)) / turns as u64;
    }
    Ok(json!({
        "turns": turns,
        "turns_per_second": (turns as f64 / took.as_secs_f64()).round(),
        "bytes_per_turn": bytes.values().sum::<u64>(),
        "by_table": bytes,
    }))
}

/// Returns a budget that is large enough for so many turns.
fn wide(turns: u32) -> agents::Budget {
    agents::Budget::new()
        .max_turns(turns + 2)
        .max_tool_calls(turns + 2)
        .max_recursion(4 * turns + 10)
}

/// Measures runs whose replies have text, with and without streaming it.
async fn text(measured: &Measured, turns: usize) -> Result<Value, Any> {
    let mut found = serde_json::Map::new();
    let mut words = "word ".repeat(100);
    words.push_str("and a call");
    let runtime = measured.runtime()?;
    for (name, is_streamed) in [("quiet", false), ("streamed", true)] {
        let (done, words) = (AtomicUsize::new(0), words.clone());
        let (model, _) = ScriptedModel::from_fn(move |_| {
            let done = done.fetch_add(1, Relaxed);
            let mut script = match done < turns {
                true => Script::call("look", json!({"word": format!("word {done}")}).to_string()),
                false => Script::text("Done."),
            };
            if let Script::Reply(reply) = &mut script {
                reply.content = words.clone();
            }
            script
        });
        let clerk = AgentBuilder::<String, String>::new(name)
            .tool(Look)
            .model(model)
            .budget(wide(u32::try_from(turns)?));
        let clerk = runtime.agent(clerk.build());
        let before: u64 = measured.sizes().await?.values().sum();
        let began = Instant::now();
        let run = clerk.run("Look for everything.");
        match is_streamed {
            true => run.streamed().await?,
            false => run.await?,
        };
        let took = began.elapsed();
        let after: u64 = measured.sizes().await?.values().sum();
        let bytes = after.saturating_sub(before);
        let one = json!({
            "turns_per_second": (turns as f64 / took.as_secs_f64()).round(),
            "bytes_per_turn": bytes / turns as u64,
        });
        found.insert(name.to_owned(), one);
    }
    Ok(found.into())
}

async fn waiting(measured: &Measured, runs: usize) -> Result<Value, Any> {
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.results().len() {
        0 => Script::call("pay", r#"{"cents": 1200}"#),
        _ => Script::text("Paid."),
    });
    let runtime = measured.runtime()?.model(model);
    let payer = AgentBuilder::<String, String>::new("payer")
        .tool(Pay)
        .build();
    let payer = runtime.agent(payer);
    let stop = CancellationToken::new();
    let worker = tokio::spawn(runtime.clone().work(stop.clone()));
    let empty = resident();
    let began = Instant::now();
    let mut handles = Vec::with_capacity(runs);
    for n in 0..runs {
        handles.push(payer.run("Pay.").key(format!("run {n}")).start().await?);
    }
    let pending = ApprovalFilter {
        status: Some(ApprovalStatus::Pending),
        limit: 50,
        ..ApprovalFilter::default()
    };
    // All wait when the last one does.
    loop {
        let open = agents_store::RunFilter {
            status: Some(agents_store::RunStatus::Ready),
            limit: 1,
            ..agents_store::RunFilter::default()
        };
        let busy = agents_store::RunFilter {
            status: Some(agents_store::RunStatus::Running),
            ..open.clone()
        };
        let (open, busy) = (
            measured.store.runs(&open).await?,
            measured.store.runs(&busy).await?,
        );
        if open.is_empty() && busy.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let all = began.elapsed();
    let size: u64 = measured.sizes().await?.values().sum();
    let memory = resident();

    let approvals = runtime.approvals();
    let began = Instant::now();
    let page = approvals.list(&pending, &Principal::operator()).await?;
    let first_page = began.elapsed();
    let mut resumed = Vec::new();
    for request in page.iter().take(5) {
        let began = Instant::now();
        approvals
            .decide(&request.id, Approval::Approve, &Principal::operator())
            .await?;
        let run = handles
            .iter()
            .find(|run| run.id() == request.run_id)
            .ok_or("a request of no run")?;
        match run.wait(Duration::from_secs(60)).await? {
            Progress::Done(_) => resumed.push(began.elapsed()),
            other => return Err(format!("{other:?}").into()),
        }
    }
    resumed.sort();
    stop.cancel();
    worker.await?;
    Ok(json!({
        "runs": runs,
        "until_all_wait_s": all.as_secs_f64(),
        "first_page_ms": first_page.as_secs_f64() * 1000.0,
        "resume_ms_median_of_5": resumed[resumed.len() / 2].as_secs_f64() * 1000.0,
        "memory_before_mb": empty / 1_000_000,
        "memory_of_process_mb": memory / 1_000_000,
        "stored_bytes_per_run": size / runs as u64,
    }))
}

/// Measures what a worker uses that has nothing to do, since all runs of its store wait.
async fn idle(measured: &Measured, seconds: u64) -> Result<Value, Any> {
    let runtime = measured.runtime()?;
    let payer = AgentBuilder::<String, String>::new("payer")
        .tool(Pay)
        .build();
    runtime.agent(payer);
    let stop = CancellationToken::new();
    let worker = tokio::spawn(runtime.clone().work(stop.clone()));
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let memory = resident();
    stop.cancel();
    worker.await?;
    Ok(json!({"memory_kb": memory / 1024}))
}

/// Counts until the process ends.
#[agents::tool(reads)]
async fn count() -> String {
    // Whoever has started the worker learns that the call has begun.
    println!("begun");
    std::future::pending().await
}

/// Returns a runtime with this lease, in milliseconds, and an agent whose only call does not end.
fn counting(measured: &Measured, lease: u64) -> Result<(Runtime, AgentRef<String, String>), Any> {
    let (model, _) = ScriptedModel::from_fn(|_| Script::call("count", "{}"));
    let runtime = measured.runtime()?.model(model);
    let runtime = runtime.lease(Duration::from_millis(lease));
    let counter = AgentBuilder::<String, String>::new("counter")
        .tool(Count)
        .build();
    let counter = runtime.agent(counter);
    Ok((runtime, counter))
}

/// Works until the process is killed.
async fn worker(measured: &Measured, lease: u64) -> Result<Value, Any> {
    let (runtime, _) = counting(measured, lease)?;
    runtime.work(CancellationToken::new()).await;
    Ok(Value::Null)
}

/// Worker in a process of its own, which is killed at the end.
struct Worker(Child);

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Worker {
    /// Starts a worker that sends its number and the time whenever its tool begins.
    fn start(address: &str, lease: u64, number: usize, begun: Begun) -> Result<Self, Any> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["worker", address, &lease.to_string()])
            .env(KEYS, keys())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("no output")?;
        std::thread::spawn(move || {
            for _ in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = begun.send((number, Instant::now()));
            }
        });
        Ok(Worker(child))
    }
}

type Begun = Sender<(usize, Instant)>;

/// Kills the worker of two that has a run, and measures the time until the other one has begun the run's call again.
async fn failover(measured: &Measured, kills: usize, lease: u64) -> Result<Value, Any> {
    let (_runtime, counter) = counting(measured, lease)?;
    let (begun, heard): (Begun, Receiver<_>) = channel();
    let start = |number| Worker::start(&measured.address, lease, number, begun.clone());
    let mut workers = [start(0)?, start(1)?];
    let patience = Duration::from_millis(3 * lease + 10_000);
    let mut times = Vec::new();
    for kill in 0..kills {
        let run = counter.run("Count.").start().await?;
        let (first, _) = heard.recv_timeout(patience)?;
        // A lease is renewed five times in its time: the kills come at all moments between two renewals.
        let moment = lease / 5 * (kill as u64 * 37 % 100) / 100;
        tokio::time::sleep(Duration::from_millis(lease / 5 + moment)).await;
        let killed = Instant::now();
        workers[first].0.kill()?;
        workers[first].0.wait()?;
        let (second, at) = heard.recv_timeout(patience)?;
        if second == first {
            return Err("the worker was not killed".into());
        }
        times.push(at.duration_since(killed).as_secs_f64());
        run.cancel(&Principal::operator()).await?;
        run.wait(patience).await?;
        workers[first] = start(first)?;
    }
    times.sort_by(f64::total_cmp);
    Ok(json!({
        "kills": kills,
        "lease_s": lease as f64 / 1000.0,
        "least_s": times.first(),
        "median_s": times.get(times.len() / 2),
        "most_s": times.last(),
    }))
}

#[tokio::main]
async fn main() -> Result<(), Any> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (what, store, number, lease) = match &args[..] {
        [what, store, number] => (what, store, number, 30_000),
        [what, store, number, lease] if what == "failover" => (what, store, number, lease.parse()?),
        _ => {
            let usage = "usage: durable steps|slow|text|waiting|idle|failover STORE NUMBER [LEASE]";
            return Err(usage.into());
        }
    };
    let measured = Measured::open(store).await?;
    let found = match &**what {
        "steps" => steps(&measured, number.parse()?).await?,
        "text" => text(&measured, number.parse()?).await?,
        "slow" => {
            TAKES.store(2, Relaxed);
            steps(&measured, number.parse()?).await?
        }
        "idle" => idle(&measured, number.parse()?).await?,
        "waiting" => waiting(&measured, number.parse()?).await?,
        "failover" => failover(&measured, number.parse()?, lease).await?,
        "worker" => worker(&measured, number.parse()?).await?,
        other => return Err(format!("`{other}` is not measured").into()),
    };
    println!("{found}");
    Ok(())
}
