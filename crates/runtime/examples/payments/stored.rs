//! The payments in runs of a store, which any number of processes work on.

use crate::counted;
use agents::agent::ModelAgent;
use agents_runtime::{
    Approval, FileKeyring, PostgresStore, Principal, Progress, RunRef, Runtime, RuntimeError,
    SqliteStore,
};
use std::{error::Error, path::PathBuf, time::Duration};
use tokio_util::sync::CancellationToken;

/// Time after which another process goes on with the runs of one that was killed.
const LEASE: Duration = Duration::from_millis(1500);

/// Place of a store.
pub(crate) enum Place {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Place {
    /// Reads `sqlite:FILE`, or the URL of a PostgreSQL database.
    pub(crate) fn read(text: &str) -> Option<Place> {
        if let Some(file) = text.strip_prefix("sqlite:") {
            return Some(Place::Sqlite(file.into()));
        }
        let is_url = text.starts_with("postgres://") || text.starts_with("postgresql://");
        is_url.then(|| Place::Postgres(text.to_owned()))
    }

    async fn open(&self) -> Result<Runtime, Box<dyn Error>> {
        Ok(match self {
            Place::Sqlite(file) => Runtime::open(SqliteStore::open(file).await?),
            Place::Postgres(url) => Runtime::open(PostgresStore::connect(url).await?),
        })
    }
}

/// Runs of a store.
pub(crate) struct Stored {
    pub(crate) place: Place,
    pub(crate) key: String,
    pub(crate) keyring: PathBuf,
    /// Number of runs; `None` for one run with the key itself.
    pub(crate) runs: Option<u32>,
    /// Is `true` if others decide about requests.
    pub(crate) ask: bool,
}

impl Stored {
    /// Starts the runs that are not there yet, works until all of them are over, and prints what became of them.
    pub(crate) async fn work(
        &self,
        cashier: ModelAgent<'static, String, String>,
    ) -> Result<(), Box<dyn Error>> {
        let runtime = self
            .place
            .open()
            .await?
            .keyring(FileKeyring::open(&self.keyring)?)
            .lease(LEASE);
        let cashier = runtime.agent(cashier);
        let keys: Vec<String> = match self.runs {
            Some(runs) => (1..=runs).map(|n| format!("{}-{n}", self.key)).collect(),
            None => vec![self.key.clone()],
        };
        let mut runs = Vec::new();
        for key in &keys {
            runs.push(cashier.run("Pay ten times.").key(key).start().await?);
        }
        let stop = CancellationToken::new();
        let worker = tokio::spawn(runtime.clone().work(stop.clone()));
        let approver = match self.ask {
            true => None,
            false => Some(tokio::spawn(approve(runtime.clone(), stop.clone()))),
        };
        for run in &runs {
            until_over(run).await?;
        }
        stop.cancel();
        worker.await?;
        if let Some(approver) = approver {
            approver.await??;
        }
        for (key, run) in keys.iter().zip(&runs) {
            let recorded = runtime.as_client().recorded(run.id()).await?;
            let receipts = recorded.map(|run| run.receipts()).unwrap_or_default();
            match self.runs {
                Some(_) => println!("{key} {}", counted(&receipts)),
                None => println!("{}", counted(&receipts)),
            }
        }
        Ok(())
    }
}

/// Approves every request.
async fn approve(runtime: Runtime, stop: CancellationToken) -> Result<(), RuntimeError> {
    let (approvals, operator) = (runtime.approvals(), Principal::operator());
    while !stop.is_cancelled() {
        for request in approvals.pending(&operator).await? {
            let decided = approvals.decide(&request.id, Approval::Approve, &operator);
            // Another process may have been faster.
            if let Err(error) = decided.await {
                eprintln!("{error}");
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

async fn until_over(run: &RunRef<String>) -> Result<(), Box<dyn Error>> {
    loop {
        match run.wait(Duration::from_secs(60)).await? {
            Progress::Done(outcome) => return Ok(outcome.result.map(drop)?),
            Progress::Held(why) => return Err(format!("run {} is held: {why}", run.id()).into()),
            Progress::Running | Progress::Waiting(_) => {}
        }
    }
}
