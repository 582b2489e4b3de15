//! Many processes and one cap. A process is the test program itself, run again.

use super::{activate, ask, prices, reply, scoring};
use agents_control::{
    Budget, ControlPlane, Cost, PurposeKey::Scoring, SqliteStore, UsageBy, UsageFilter, usd,
};
use agents_core::{
    model::ModelErrorKind,
    testing::{Script, ScriptedModel},
};
use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

/// Names the store to a process that works.
const STORE: &str = "AGENTS_CONTROL_TEST_STORE";
const TASKS: usize = 64;
const PROCESSES: usize = 4;
/// Cap in dollars; what is held for a request is 0.4 % of it.
const CAP: f64 = 25.0;
const TOKENS: u32 = 100;

/// Creates the plane of one process. Replies have 50 to 100 tokens.
fn on(store: &(impl agents_control::ControlStore + Clone)) -> ControlPlane {
    let asked = AtomicU64::new(0);
    let (model, _) = ScriptedModel::from_async_fn(move |_| {
        let tokens = 50 + asked.fetch_add(7, SeqCst) % 51;
        async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Script::Reply(reply(1, tokens))
        }
    });
    ControlPlane::open(store)
        .provider("p", move |_| model.clone())
        .prices(prices())
}

/// Asks in 64 tasks until the cap refuses and nothing is held.
async fn work(control: ControlPlane) {
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let control = control.clone();
        tasks.spawn(async move {
            let model = control.model(Scoring, "acme");
            loop {
                match ask(&model).await {
                    Ok(_) => {}
                    Err(error) if error.kind() == ModelErrorKind::OverBudget => {
                        let budget = control.budget(&Scoring, "acme").await.unwrap();
                        if budget.held_nanos == 0 {
                            return;
                        }
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    // The store was too busy for a moment.
                    Err(error) if error.kind() == ModelErrorKind::Unreachable => {}
                    Err(error) => panic!("{error}"),
                }
            }
        });
    }
    tasks.join_all().await;
}

/// Not a test: the work of one process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it is run by other tests"]
async fn process() {
    let Ok(store) = std::env::var(STORE) else {
        return;
    };
    match store.strip_prefix("sqlite:") {
        Some(path) => work(on(&SqliteStore::open(path).await.unwrap())).await,
        None => {
            let store = agents_control::PostgresStore::connect(&store).await;
            work(on(&store.unwrap())).await;
        }
    }
}

fn start(store: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "processes::process"])
        .env(STORE, store)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

async fn activated(control: &ControlPlane) {
    let profile = scoring().max_output_tokens(TOKENS).daily_cap(usd(CAP));
    activate(control, profile).await;
}

/// Checks that the log has no more than the cap, and at least 95 % of it.
async fn check(control: &ControlPlane) {
    let cap = usd(CAP).nanos();
    let budget = control.budget(&Scoring, "acme").await.unwrap();
    assert!(budget.spent_nanos + budget.held_nanos <= cap, "{budget:?}");
    assert!(budget.spent_nanos >= cap / 100 * 95, "{budget:?}");
    let sums = control
        .usage_sums(&UsageFilter::default(), UsageBy::Purpose)
        .await
        .unwrap();
    assert_eq!(
        sums[0].cost_nanos, budget.spent_nanos,
        "the log and the counter agree"
    );
    control.rebuild_budgets().await.unwrap();
    assert_eq!(control.budget(&Scoring, "acme").await.unwrap(), budget);
    println!(
        "{} requests, {:.1} % of the cap",
        sums[0].call_count,
        budget.spent_nanos as f64 / cap as f64 * 100.0
    );
}

async fn race(store: &str, control: &ControlPlane) {
    activated(control).await;
    let begun = Instant::now();
    let mut children: Vec<_> = (0..PROCESSES).map(|_| start(store)).collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    println!("{:?}", begun.elapsed());
    check(control).await;
}

/// A file, which is removed with the test.
pub(super) struct TempFile(pub(super) PathBuf);

impl TempFile {
    pub(super) fn new(name: &str) -> Self {
        let file = TempFile(
            std::env::temp_dir().join(format!("agents-control-{name}-{}.db", std::process::id())),
        );
        file.remove();
        file
    }

    fn remove(&self) {
        for end in ["", "-wal", "-shm", ".keys", ".keys.lock"] {
            let _ = std::fs::remove_file(format!("{}{end}", self.0.display()));
        }
    }

    fn address(&self) -> String {
        format!("sqlite:{}", self.0.display())
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        self.remove();
    }
}

#[tokio::test]
async fn l10_four_processes_of_64_tasks_share_a_cap_in_sqlite() {
    let file = TempFile::new("race");
    let control = on(&SqliteStore::open(&file.0).await.unwrap());
    race(&file.address(), &control).await;
}

#[cfg(unix)]
#[tokio::test]
async fn l10_four_processes_of_64_tasks_share_a_cap_in_postgresql() {
    let Some(server) = agents_needs::postgres::Server::shared() else {
        return;
    };
    let database = server.database().await;
    let store = agents_control::PostgresStore::connect(database.address()).await;
    race(database.address(), &on(&store.unwrap())).await;
}

/// Number of processes that are killed: few in the ordinary tests, and more on demand.
fn kills() -> u32 {
    std::env::var("AGENTS_KILLS").map_or(8, |kills| kills.parse().unwrap())
}

/// Returns `true` if no further request is within the cap.
fn is_used_up(budget: &Budget, cap: u64) -> bool {
    cap - budget.spent_nanos - budget.held_nanos < usd(0.1).nanos()
}

/// Starts processes, four at a time, and kills each of them while its tasks hold money. Then spends the rest.
async fn killed(store: &str, control: &ControlPlane) {
    let kills = kills();
    // More than what the dead may hold: each of their 64 tasks holds a tenth of a dollar at most.
    let cap = Cost::of(f64::from(kills) * 15.0);
    let profile = scoring().max_output_tokens(TOKENS).daily_cap(cap);
    activate(control, profile).await;
    let cap = cap.nanos();
    let budget = async || {
        let budget = control.budget(&Scoring, "acme").await.unwrap();
        assert!(budget.spent_nanos + budget.held_nanos <= cap, "{budget:?}");
        budget
    };
    let (mut left, mut most) = (kills, 0);
    while left > 0 {
        let count = left.min(PROCESSES as u32);
        let mut children: Vec<_> = (0..count).map(|_| start(store)).collect();
        let before = budget().await;
        // Whatever the machine is busy with, each is killed at work, while there is something to spend.
        while budget().await.spent_nanos <= before.spent_nanos && !is_used_up(&budget().await, cap)
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        for (at, child) in (1..).zip(&mut children) {
            tokio::time::sleep(Duration::from_millis(13 * u64::from(at + left % 5))).await;
            child.kill().unwrap();
            child.wait().unwrap();
            most = budget().await.held_nanos.max(most);
        }
        left -= count;
    }
    assert!(most > 0, "no process has held money when it was killed");
    // What the dead have held is held until its time is over; the living spend the rest.
    println!(
        "{kills} killed; {} are held by the dead",
        Cost::of_nanos(budget().await.held_nanos)
    );
    let mut tasks = JoinSet::new();
    for _ in 0..8 {
        let model = control.model(Scoring, "acme");
        tasks.spawn(async move {
            loop {
                match ask(&model).await {
                    Ok(_) => {}
                    Err(error) if error.kind() == ModelErrorKind::OverBudget => return,
                    Err(error) => panic!("{error}"),
                }
            }
        });
    }
    tasks.join_all().await;
    let end = budget().await;
    assert!(
        end.spent_nanos + end.held_nanos >= cap / 100 * 95,
        "{end:?}"
    );
    let filter = UsageFilter::default();
    let sums = control.usage_sums(&filter, UsageBy::Purpose).await;
    assert_eq!(sums.unwrap()[0].cost_nanos, end.spent_nanos);
    control.rebuild_budgets().await.unwrap();
    assert_eq!(budget().await, end);
}

#[tokio::test]
async fn l10_processes_that_are_killed_never_exceed_the_cap_in_sqlite() {
    let file = TempFile::new("kills");
    let control = on(&SqliteStore::open(&file.0).await.unwrap());
    killed(&file.address(), &control).await;
}

#[cfg(unix)]
#[tokio::test]
async fn l10_processes_that_are_killed_never_exceed_the_cap_in_postgresql() {
    let Some(server) = agents_needs::postgres::Server::shared() else {
        return;
    };
    let database = server.database().await;
    let store = agents_control::PostgresStore::connect(database.address()).await;
    killed(database.address(), &on(&store.unwrap())).await;
}
