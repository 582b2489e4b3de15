//! Durable runs: started in one process, worked in another, decided about in a third.
//!
//! A [`Runtime`] knows a store, the code of its agents, and what they need: models, secrets, policies. A run is data in
//! the store. Any number of processes [`work`](Runtime::work) on the runs of one store. A run that waits for a person
//! costs no task and no memory.
//!
//! ```
//! use agents::prelude::*;
//! use agents_runtime::{Approval, Principal, Progress, Runtime, SqliteStore};
//! # use agents::testing::{Script, ScriptedModel};
//! use std::time::Duration;
//!
//! /// Pays a bill.
//! #[agents::tool(writes, approval = always)]
//! async fn pay(
//!     /// Amount in cents.
//!     cents: u32,
//! ) -> String {
//!     format!("{cents} cents are paid")
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let payer = AgentBuilder::<String, String>::new("payer").prompt("Pay the bills.").tool(Pay).build();
//! # let (model, _) = ScriptedModel::new([Script::call("pay", r#"{"cents": 1200}"#), Script::text("Paid.")]);
//! let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
//! let payer = runtime.agent(payer);
//! let stop = tokio_util::sync::CancellationToken::new();
//! let worker = tokio::spawn(runtime.clone().work(stop.clone()));
//!
//! let ada = Principal::new("ada", "acme");
//! let run = payer.run("Pay the bills of October.").scope("acme").by(&ada).key("bills-2026-10").start().await?;
//! let requests = loop {
//!     match run.wait(Duration::from_millis(200)).await? {
//!         Progress::Waiting(requests) => break requests,
//!         Progress::Running => continue,
//!         other => panic!("{other:?}"),
//!     }
//! };
//! assert_eq!(requests[0].tool_name, "pay");
//!
//! // From any process:
//! let grace = Principal::new("grace", "acme");
//! runtime.approvals().decide(&requests[0].id, Approval::Approve, &grace).await?;
//! let Progress::Done(outcome) = run.wait(Duration::from_secs(60)).await? else { panic!() };
//! assert_eq!(outcome.result?, "Paid.");
//! # stop.cancel();
//! # worker.await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! | feature | adds | default |
//! |-|-|-|
//! | `postgres` | `PostgresStore`: durable runs in a PostgreSQL database | no |
//! | `webhooks` | `HttpDelivery`: messages of webhooks over HTTP | no |
//! | `webhooks-tls` | the same over HTTPS, by rustls | no |
//! | `tools` | the module `tools`: tools with which agents work on dead letters and on clusters of failures | no |

// On docs.rs every item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// The macros name `::agents`, which is the facade in programs.
#[cfg(feature = "tools")]
extern crate agents_core as agents;

mod agent_ref;
mod approvals;
mod audit;
mod chat;
mod client;
mod conversation;
mod data;
mod decisions;
mod direct_call;
mod doubts;
mod erase;
mod error;
mod events;
mod executions;
mod failures;
mod ids;
mod instructions;
mod journal;
mod keys;
mod lease;
mod letters;
mod manifest;
mod metrics;
mod modes;
mod notifications;
mod one_call;
mod packed;
mod principal;
mod proofs;
mod registered;
mod replays;
mod roles;
mod run_key;
mod run_ref;
mod runtime;
mod sealed;
mod settings;
mod spoken;
mod summary;
mod texts;
#[cfg(feature = "tools")]
pub mod tools;
mod trail;
mod undo;
mod verify;
mod webhook;
mod what_if;
mod wording;
mod work;

pub use agent_ref::{AgentRef, Start};
pub use agents_core::run::{Approval, Finding};
#[cfg(feature = "postgres")]
pub use agents_store::PostgresStore;
pub use agents_store::{
    AuditKey, AuditKind, ExecutionState, HeldKind, HeldReason, LetterFailure, SqliteStore,
    TriageStatus,
};
pub use approvals::{Approvals, Readable, Request, RequestDetail};
pub use audit::{Audit, AuditRecord, Head};
pub use chat::Chat;
pub use client::Client;
pub use conversation::ConversationRef;
pub use direct_call::{DIRECT_CALL, DirectCall};
pub use doubts::{Doubt, Doubts};
pub use error::{RuntimeError, RuntimeErrorKind};
pub use events::Events;
pub use executions::{ExecutionRecord, Inspected};
pub use failures::{
    ClusterStatus, FailureCluster, FailureClusterDetail, FailureQuery, Failures, LinkedFailure,
};
pub use instructions::Say;
pub use keys::{FileKeyring, Keyring, TenantKey};
pub use letters::{
    DeadLetter, DeadLetterDetail, DeadLetterKind, LetterFailureRecord, LetterQuery, Letters,
};
pub use manifest::{AgentManifest, KnownAgent, Manifest, Misfit, ToolManifest};
pub use metrics::{Metrics, WorkerMetrics};
pub use modes::{Mode, ModeSetting, Modes};
pub use notifications::{Notification, Publish, Subscriber, Told};
pub use principal::Principal;
pub use replays::{ChangedRun, Replays};
pub use roles::{Action, Roles};
pub use run_ref::{Progress, RunRef};
pub use runtime::Runtime;
pub use sealed::Sealed;
pub use spoken::Spoken;
pub use undo::{Undo, UndoOutcome, UndoRun};
pub use verify::{Flaw, Verdict};
#[cfg(feature = "webhooks")]
pub use webhook::HttpDelivery;
pub use webhook::{
    Deliver, Deliveries, DeliveryError, Webhook, WebhookDelivery, WebhookMessage, WebhookSecret,
};
pub use what_if::{WHAT_IF, WhatIf};
pub use work::Advanced;

#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../../book/src/audit-and-undo.md")]
    struct AuditAndUndo;
    #[doc = include_str!("../../../book/src/a-payment-that-waits.md")]
    struct APaymentThatWaits;
    #[doc = include_str!("../../../book/src/a-team-that-asks.md")]
    struct ATeamThatAsks;
    #[doc = include_str!("../../../book/src/command-line.md")]
    struct CommandLine;
    #[doc = include_str!("../../../book/src/durable-conversations.md")]
    struct DurableConversations;
    #[doc = include_str!("../../../book/src/deploying.md")]
    struct Deploying;
    #[doc = include_str!("../../../book/src/durable-runs.md")]
    struct DurableRuns;
    #[doc = include_str!("../../../book/src/events-and-dead-letters.md")]
    struct EventsAndDeadLetters;
    #[doc = include_str!("../../../book/src/operations.md")]
    struct Operations;
    #[doc = include_str!("../../../book/src/production.md")]
    struct Production;
    #[doc = include_str!("../../../book/src/stores.md")]
    struct Stores;
    #[doc = include_str!("../../../book/src/tests-from-production.md")]
    struct TestsFromProduction;
}
