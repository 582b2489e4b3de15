//! Stores of durable agent runs.
//!
//! A [`Store`] keeps runs, their journals, and the requests for approval that they wait for. Any number of processes
//! may use one store. [`SqliteStore`] is a store in one file, or in memory. `PostgresStore` (feature `postgres`) is a
//! store in a database, for processes on several machines.
//!
//! A store knows nothing of agents. It keeps the contents of journals and requests as bytes, which `typed-agents-runtime`
//! encodes. It promises these things, and the module `conformance` (feature `conformance`) checks them:
//!
//! - **A commit is stored whole or not at all**, and is durable when it returns. A commit that is repeated with its id
//!   has no further effect.
//! - **One worker at a time has the lease of a run.** A commit under an earlier lease is refused, however late it comes.
//! - **A decision is made once.** Of several deciders one wins, and the others are told who.
//! - **An approval is used once**: by the commit that begins the execution with exactly these arguments.
//! - **What happens to a run leaves an event in its audit trail**, in the same transaction: its start, its requests,
//!   decisions and executions, and its end. The digests of a run's events are a chain, made with a key that the store
//!   does not keep: see [`AuditKey`].
//! - **A conversation has one run under way at a time**, and its runs go on in the order in which they were stored.
//! - **A notification reaches each subscriber at least once**, or leaves a dead letter. A dead letter is replayed once, however
//!   many ask for it.
//! - **A mode decides beforehand**: a request that it covers is stored as approved, in one transaction, if the mode is still
//!   in effect then.
//! - **Time is the store's own.** Leases, requests and approvals expire by one clock.
//!
//! The store says of each error whether it is worth another try: see [`StoreError`].
//!
//! # Features
//!
//! | feature | adds | default |
//! |-|-|-|
//! | `sqlite` | [`SqliteStore`]: one file, or memory | yes |
//! | `postgres` | `PostgresStore`: a PostgreSQL database | no |
//! | `conformance` | the module `conformance`: the checks that a store of your own has to pass | no |

// On docs.rs every item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "conformance")]
pub mod conformance;

mod approval;
mod audit;
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "the stores read columns")
)]
mod columns;
mod commit;
mod control;
mod conversation;
mod delivery;
mod digest;
mod error;
mod execution;
mod lease;
mod letter;
mod manifest;
mod metrics;
mod mode;
#[cfg(feature = "postgres")]
mod postgres;
mod run;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod text;
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "the stores add events")
)]
mod trail;
mod triage;
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "the stores fail with them")
)]
mod wording;

pub use agents_core::{async_trait, run::Timestamp, tool::Risk};
pub use approval::{Answer, Approval, ApprovalFilter, ApprovalStatus, Decision, NewApproval};
pub use audit::{AuditEvent, AuditFilter, AuditKind, NewEvent};
pub use commit::{Begin, Commit, Committed, Finish};
pub use control::{
    Budget, BudgetKey, ControlStore, CredentialAnswer, CredentialKey, CredentialLease, Hold,
    HoldAnswer, NewProfile, ProfileAction, ProfileChange, RateRule, RetryChange, Settlement,
    StoredCredential, StoredProfile, UsageBy, UsageDay, UsageFilter, UsageRow, UsageSum,
};
pub use conversation::Conversation;
pub use delivery::{Delivery, DeliveryClaim, DeliveryEnd, DeliveryFilter};
pub use digest::{AuditKey, RowDigest};
pub use error::{ErrorKind, StoreError};
pub use execution::{Execution, ExecutionFilter, ExecutionState, Settle, Settled};
pub use lease::{Claim, Lease, Renewed, Rest};
pub use letter::{
    Letter, LetterClaim, LetterEnd, LetterFailure, LetterFilter, NewNotification, Replay, ReplayOf,
    Subscription,
};
pub use manifest::{NewManifest, StoredManifest};
pub use metrics::StoreMetrics;
pub use mode::{ALL_TENANTS, ByMode, ModeChange, PLATFORM, Platform, StoredMode, TrailEnd};
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
pub use run::{End, HeldKind, HeldReason, NewRun, Run, RunFilter, RunStatus};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use store::Store;
pub use text::{NewText, Text};
pub use triage::{NewTriage, Triage, TriageStatus};
