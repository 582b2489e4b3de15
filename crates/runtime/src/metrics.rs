//! Metrics: figures of a store, and counters of a worker.

use crate::{Client, Runtime, RuntimeError};
use agents_store::{RunStatus, StoreMetrics};
use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// Figures about the work of a store, and counters of the worker of this process. They display in the text format of
/// Prometheus.
///
/// ```
/// use agents_runtime::{Runtime, SqliteStore};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Runtime::client(SqliteStore::in_memory().await?);
/// let metrics = client.metrics(None).await?;
/// assert_eq!(metrics.store.pending, 0);
/// assert!(metrics.to_string().contains("agents_requests_pending 0\n"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Figures of the store, which are the same in every process.
    pub store: StoreMetrics,
    /// Counters of the worker of this process; `None` from a client.
    pub worker: Option<WorkerMetrics>,
}

/// Counters of the worker of this process, since its runtime was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// Name of the worker, which its leases have.
    pub worker: String,
    /// Number of runs that the worker works on at present.
    pub under_way: u64,
    /// Number of times that [`work`](Runtime::work) has claimed a run. Claims for runs that this process awaits or
    /// [advances](Runtime::advance) are not among them.
    pub claimed: u64,
    /// Number of runs that ended in this process.
    pub ended: u64,
    /// Number of runs that this process has held, because they could not go on; people have to release them.
    pub held: u64,
    /// Number of leases that were lost: another worker had taken the run, the run was held, or the store could not be
    /// reached for too long.
    pub leases_lost: u64,
    /// Number of steps of runs that this process has stored. A step consists of journal entries that are stored at
    /// once.
    pub steps: u64,
    /// Number of failed tries to store a [step](WorkerMetrics::steps) of a run. A step may fail several times.
    pub steps_failed: u64,
    /// Number of events that this process has delivered to webhooks.
    pub delivered: u64,
    /// Number of failed tries to deliver an event to a webhook.
    pub deliveries_failed: u64,
    /// Number of notifications that this process has brought to subscribers.
    pub letters_taken: u64,
    /// Number of letters that died in this process: their last try has failed.
    pub letters_died: u64,
}

/// Counters of a worker's work, which its parts share.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) under_way: AtomicU64,
    /// Number of runs under way beside which the worker takes no other one.
    pub(crate) alone: AtomicU64,
    pub(crate) claimed: AtomicU64,
    pub(crate) ended: AtomicU64,
    pub(crate) held: AtomicU64,
    pub(crate) leases_lost: AtomicU64,
    pub(crate) steps: AtomicU64,
    pub(crate) steps_failed: AtomicU64,
    pub(crate) delivered: AtomicU64,
    pub(crate) deliveries_failed: AtomicU64,
    pub(crate) letters_taken: AtomicU64,
    pub(crate) letters_died: AtomicU64,
}

/// Adds 1 to a counter of a worker.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

impl Counters {
    fn read(&self, worker: &str) -> WorkerMetrics {
        let of = |counter: &AtomicU64| counter.load(Relaxed);
        WorkerMetrics {
            worker: worker.to_owned(),
            under_way: of(&self.under_way),
            claimed: of(&self.claimed),
            ended: of(&self.ended),
            held: of(&self.held),
            leases_lost: of(&self.leases_lost),
            steps: of(&self.steps),
            steps_failed: of(&self.steps_failed),
            delivered: of(&self.delivered),
            deliveries_failed: of(&self.deliveries_failed),
            letters_taken: of(&self.letters_taken),
            letters_died: of(&self.letters_died),
        }
    }
}

impl Client {
    /// Returns figures about the work of the store: the work of this tenant (organisation), or of all tenants for
    /// `None`.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn metrics(&self, tenant: Option<&str>) -> Result<Metrics, RuntimeError> {
        Ok(Metrics {
            store: self.bare_store().metrics(tenant).await?,
            worker: None,
        })
    }
}

impl Runtime {
    /// Returns figures about the work of the store for all tenants, and counters of the worker of this process.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn metrics(&self) -> Result<Metrics, RuntimeError> {
        let counters = self.shared.counters.read(&self.settings.worker);
        Ok(Metrics {
            worker: Some(counters),
            ..self.client.metrics(None).await?
        })
    }
}

/// Writes a metric in the text format of Prometheus.
fn metric<V: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    (name, kind, help): (&str, &str, &str),
    values: impl IntoIterator<Item = (String, V)>,
) -> fmt::Result {
    writeln!(f, "# HELP agents_{name} {help}")?;
    writeln!(f, "# TYPE agents_{name} {kind}")?;
    values
        .into_iter()
        .try_for_each(|(labels, value)| writeln!(f, "agents_{name}{labels} {value}"))
}

impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = &self.store;
        let states = [
            RunStatus::Ready,
            RunStatus::Running,
            RunStatus::Waiting,
            RunStatus::Held,
        ];
        let runs = states.map(|state| {
            let number = store.runs.get(&state).copied().unwrap_or_default();
            (format!("{{state=\"{state}\"}}"), number)
        });
        let help = "Number of runs that are not over, by state.";
        metric(f, ("runs", "gauge", help), runs)?;
        let age = |age: Option<Duration>| age.unwrap_or_default().as_secs_f64();
        let plain = |value: f64| [(String::new(), value)];
        for (name, help, value) in [
            (
                "oldest_claimable_seconds",
                "Time since which the oldest run that a worker may claim can go on; 0 if there is none.",
                age(store.oldest_claimable),
            ),
            (
                "oldest_pending_seconds",
                "Age of the oldest request that nobody has decided; 0 if there is none.",
                age(store.oldest_pending),
            ),
        ] {
            metric(f, (name, "gauge", help), plain(value))?;
        }
        for (name, help, value) in [
            (
                "runs_paused",
                "Number of runs that somebody has paused.",
                store.paused,
            ),
            (
                "requests_pending",
                "Number of requests for approval that nobody has decided.",
                store.pending,
            ),
            (
                "executions_in_doubt",
                "Number of executions of which it is not known whether they took effect.",
                store.in_doubt,
            ),
            (
                "deliveries_pending",
                "Number of events that webhooks have not been told of yet.",
                store.undelivered,
            ),
            (
                "deliveries_given_up",
                "Number of events that webhooks are not told of any more.",
                store.given_up,
            ),
        ] {
            metric(f, (name, "gauge", help), [(String::new(), value)])?;
        }
        match &self.worker {
            Some(worker) => worker.fmt(f),
            None => Ok(()),
        }
    }
}

impl fmt::Display for WorkerMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.worker.replace('\\', "\\\\").replace('"', "\\\"");
        let labels = format!("{{worker=\"{}\"}}", name.replace('\n', "\\n"));
        for (name, kind, help, value) in [
            (
                "worker_runs_under_way",
                "gauge",
                "Number of runs that the worker has now.",
                self.under_way,
            ),
            (
                "worker_runs_claimed_total",
                "counter",
                "Number of claimed runs.",
                self.claimed,
            ),
            (
                "worker_runs_ended_total",
                "counter",
                "Number of runs that ended here.",
                self.ended,
            ),
            (
                "worker_runs_held_total",
                "counter",
                "Number of runs that were held here, because they could not go on.",
                self.held,
            ),
            (
                "worker_leases_lost_total",
                "counter",
                "Number of leases that were lost.",
                self.leases_lost,
            ),
            (
                "worker_steps_total",
                "counter",
                "Number of stored steps.",
                self.steps,
            ),
            (
                "worker_steps_failed_total",
                "counter",
                "Number of steps that could not be stored, each try counted.",
                self.steps_failed,
            ),
            (
                "worker_deliveries_total",
                "counter",
                "Number of events that webhooks have taken.",
                self.delivered,
            ),
            (
                "worker_deliveries_failed_total",
                "counter",
                "Number of failed tries to deliver an event.",
                self.deliveries_failed,
            ),
            (
                "worker_letters_total",
                "counter",
                "Number of notifications that subscribers have taken.",
                self.letters_taken,
            ),
            (
                "worker_letters_died_total",
                "counter",
                "Number of letters that died here.",
                self.letters_died,
            ),
        ] {
            metric(f, (name, kind, help), [(labels.clone(), value)])?;
        }
        Ok(())
    }
}
