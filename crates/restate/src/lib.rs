//! Durable runs of `agents` whose workers are driven by [Restate](https://restate.dev): its engine says when a run goes on.
//!
//! A run's journal, its requests and its audit trail stay in the store, and the store decides who has the run. Restate has the
//! queue, the timers and the retries: workers do not look for runs.
//!
//! ```no_run
//! use agents_restate::Restate;
//! use agents_runtime::{PostgresStore, Runtime};
//! # use agents::prelude::*;
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn work() -> Result<(), Box<dyn std::error::Error>> {
//! let store = PostgresStore::connect("postgres://agents@db.internal/agents").await?;
//! let runtime = Runtime::open(store);
//! # let payer = AgentBuilder::<String, String>::new("payer").build();
//! let payer = runtime.agent(payer);
//!
//! // A worker serves the engine at this address, and tells it of everything that makes a run go on.
//! let listener = tokio::net::TcpListener::bind("0.0.0.0:9080").await?;
//! let restate = Restate::at("http://restate.internal:8080")?;
//! let stop = CancellationToken::new();
//! let worker = runtime.clone();
//! tokio::spawn(async move { restate.work(worker, listener, stop).await });
//!
//! // Runs are started, decided about and waited for as without Restate.
//! let run = payer.run("Pay the bills of October.").start().await?;
//! # let _ = run;
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! start, decide, cancel ──► store ──► relay (events of the audit trail) ──► Restate: object `AgentRun`, key = the run
//!                             ▲                                                │ advance, and again at the time it waits for
//!                             └────── lease, journal ◄── Runtime::advance ◄────┘
//! ```
//!
//! Nothing depends on a message that comes once. The relay reads events that were stored in the transaction of what they tell
//! of, and sends each until Restate has it. A call of `advance` for a run that cannot go on does nothing. So the engine may
//! call twice, late, or on two workers: [the fencing of the store](agents_store::Store::commit) keeps the promises of
//! `typed-agents-runtime`.

mod error;
mod object;
mod relay;
mod restate;
mod wording;

pub use error::RestateError;
pub use restate::Restate;

#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../book/src/restate.md")]
    struct Restate;
}
