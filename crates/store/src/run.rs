//! Runs, as a store keeps them.

use agents_core::run::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Run that is about to be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRun {
    /// Id of the run, which no other run has.
    pub id: String,
    /// Tenant that the run works for; empty if there are no tenants.
    pub tenant: String,
    /// Key by which the caller knows the run; `None` if it has none. A tenant has one run of an agent with a key.
    pub key: Option<String>,
    /// Name of the agent that is to work.
    pub agent: String,
    /// Id of the conversation to which the run belongs; `None` if it belongs to none. The runs of a conversation are
    /// worked on one after the other, in the order in which they were stored.
    pub conversation: Option<String>,
    /// Principal who starts the run; `None` if nobody is named.
    pub started_by: Option<String>,
    /// Priority: of the runs that can go on, the one with the highest goes first. 0 by default.
    pub priority: i32,
    /// Labels of the run, by which it is found. They are not encrypted.
    pub labels: BTreeMap<String, String>,
    /// Input and settings of the run, encoded and encrypted.
    pub data: Vec<u8>,
    /// Key that decrypts the run's contents, wrapped with a key that the store does not know.
    pub data_key: Vec<u8>,
}

/// Record of a run in the store: who started what, its state, and its end. Once the run is erased, it has no key, no
/// labels, no data and no data key, and pseudonyms stand for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Id of the run.
    pub id: String,
    /// Tenant that the run works for.
    pub tenant: String,
    /// Key by which the caller knows the run; `None` if it has none.
    pub key: Option<String>,
    /// Name of the agent that works in the run.
    pub agent: String,
    /// Id of the conversation to which the run belongs; `None` if it belongs to none.
    pub conversation: Option<String>,
    /// Principal who started the run; `None` if nobody was named.
    pub started_by: Option<String>,
    /// Priority of the run: of those that can go on, the one with the highest goes first.
    pub priority: i32,
    /// Labels of the run, by which it is found.
    pub labels: BTreeMap<String, String>,
    /// Input and settings of the run, encoded and encrypted.
    pub data: Vec<u8>,
    /// Key that decrypts the run's contents, wrapped with a key that the store does not know.
    pub data_key: Vec<u8>,
    /// State of the run: whether it can go on, waits, is held or is over.
    pub status: RunStatus,
    /// Time at which a waiting run goes on by itself; `None` if it waits for messages alone. For a run that does not
    /// wait, the time says nothing.
    pub wake_at: Option<Timestamp>,
    /// End of the run; `None` if it is not over.
    pub end: Option<End>,
    /// Reason why the run is held; `None` if it is not.
    pub held: Option<HeldReason>,
    /// Principal who cancelled the run first; `None` if nobody did.
    pub cancelled_by: Option<String>,
    /// Principal who has paused the run, until somebody releases or cancels it; `None` if it is not paused. A worker
    /// puts a paused run down.
    pub paused_by: Option<String>,
    /// Number of the last entry of the run's journal; 0 for an empty journal.
    pub last_seq: u64,
    /// Number of messages for the run so far, such as decisions and a cancellation. A worker that has seen fewer has to
    /// look again.
    pub messages: u64,
    /// Fencing token of the run: a number that grows with each claim of a worker. It may also grow when the run is
    /// held.
    pub fence: u64,
    /// Number of the last event of the run's audit trail; 0 for an empty trail.
    pub audit_seq: u64,
    /// Digest of the last event of the run's audit trail.
    pub audit_digest: Vec<u8>,
    /// Time at which the run was stored.
    pub created_at: Timestamp,
    /// Time at which the state, the journal or the messages of the run last changed. A renewed lease does not count,
    /// and neither does an erasure.
    pub updated_at: Timestamp,
}

/// State of a stored run: whether it can go on, waits, is held or is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// A worker may claim the run. A run of a conversation may have to wait for an earlier one.
    Ready,
    /// A worker has the run, under a lease.
    Running,
    /// The run waits for decisions, or for a time.
    Waiting,
    /// The run is over: it has answered, has failed or was cancelled.
    Done,
    /// The run cannot go on until somebody releases it.
    Held,
}

/// Reason why a run is held: it cannot go on until somebody releases it. It displays as the words of the reason.
///
/// ```
/// use agents_store::{HeldKind, HeldReason};
///
/// let held = HeldReason::new(HeldKind::Paused, "the bank is closed").by("grace");
/// assert_eq!(held.to_string(), "the bank is closed");
/// assert_eq!(held.by.as_deref(), Some("grace"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HeldReason {
    /// Kind of the reason, by which programs tell reasons apart.
    pub kind: HeldKind,
    /// Reason why the run is held, in words, which say what to do.
    pub why: String,
    /// Principal who paused the run, or holds all runs; `None` if nobody in particular does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl HeldReason {
    /// Creates a reason for holding a run that no person has given.
    pub fn new(kind: HeldKind, why: impl Into<String>) -> Self {
        HeldReason {
            kind,
            why: why.into(),
            by: None,
        }
    }

    /// Adds the principal who holds the run to the reason.
    #[must_use]
    pub fn by(mut self, person: impl Into<String>) -> Self {
        self.by = Some(person.into());
        self
    }

    /// Reads the reason from the columns of a run; `None` if it is not held. Earlier versions stored no kind.
    pub(crate) fn read(
        why: Option<String>,
        kind: Option<&str>,
        by: Option<String>,
    ) -> Option<Self> {
        let kind = kind.and_then(HeldKind::read).unwrap_or(HeldKind::Unknown);
        why.map(|why| HeldReason { kind, why, by })
    }
}

impl std::fmt::Display for HeldReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

/// Kind of the reason why a run is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HeldKind {
    /// A principal has paused the run.
    Paused,
    /// An operator holds all runs, as after a restore.
    All,
    /// Several workers in a row took the run and stored nothing, the last one without another run.
    Poisoned,
    /// The worker lacks a tool, a model or a policy that the run needs, or it cannot read the run's journal, for
    /// example because a later version has written it. Or the store refuses what the worker stores, or the worker
    /// cannot go on because of another error that does not pass.
    Incompatible,
    /// Contents of the run were altered, or their keys are gone or cannot be read.
    Altered,
    /// The kind of the reason is not known, because an earlier version has held the run.
    Unknown,
}

/// End of a run: how it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The run has ended with an answer.
    Answered,
    /// The run has failed, or was stopped by a limit.
    Failed,
    /// The run was cancelled.
    Cancelled,
}

/// Choice of runs, for [`Store::runs`](crate::Store::runs). The default chooses all runs of all tenants.
///
/// A run is chosen if it fits each field that is set.
///
/// ```
/// use agents_store::{NewRun, RunFilter, SqliteStore, Store};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents_store::StoreError> {
/// let store = SqliteStore::in_memory().await?;
/// for (id, month) in [("1", "2026-09"), ("2", "2026-10"), ("3", "2026-10")] {
///     let labels = [("month".to_owned(), month.to_owned())].into();
///     store.create(&NewRun { id: id.into(), agent: "payer".into(), labels, ..NewRun::default() }).await?;
/// }
///
/// let labels = [("month".to_owned(), "2026-10".to_owned())].into();
/// let mut october = RunFilter { labels, limit: 1, ..RunFilter::default() };
/// let newest = store.runs(&october).await?;
/// assert_eq!(newest[0].id, "3");
/// october.before = Some(newest[0].id.clone()); // the next page
/// assert_eq!(store.runs(&october).await?[0].id, "2");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Chooses runs of this tenant, if set.
    pub tenant: Option<String>,
    /// Chooses runs of this agent, if set.
    pub agent: Option<String>,
    /// Chooses runs of this conversation, if set. A conversation belongs to a tenant, so name the tenant as well.
    pub conversation: Option<String>,
    /// Chooses runs that this principal has started, if set.
    pub started_by: Option<String>,
    /// Chooses runs in this state, if set.
    pub status: Option<RunStatus>,
    /// Chooses the run with this key, if set; each agent of each tenant may have one.
    pub key: Option<String>,
    /// Chooses runs that have all of these labels.
    pub labels: BTreeMap<String, String>,
    /// Chooses runs that were stored at this time or later, if set.
    pub since: Option<Timestamp>,
    /// Chooses runs that were stored before this time, if set.
    pub until: Option<Timestamp>,
    /// Chooses runs that ended before this time and still have their contents, if set.
    pub erasable: Option<Timestamp>,
    /// Chooses runs that were stored before the run with this id, if set. If `oldest_first` is `false`, the id of the
    /// last run of a page leads to the next page. A run that is stored after the first page was read is on no later
    /// page. An id that the store does not know is an error.
    pub before: Option<String>,
    /// Chooses runs that were stored after the run with this id, if set. If `oldest_first` is `true`, the id of the
    /// last run of a page leads to the next page. An id that the store does not know is an error.
    pub after: Option<String>,
    /// Is `true` if the oldest runs come first, and `false` if the newest do. With `true`,
    /// [`after`](RunFilter::after) leads to the next page, and otherwise [`before`](RunFilter::before).
    pub oldest_first: bool,
    /// Maximum number of runs that are returned; 0 for 100.
    pub limit: u32,
}

/// Implements, for an enum, the conversion of its values into words and back. With `all`, the enum has a list of its
/// values as well.
macro_rules! words {
    ($type:ident, all { $($variant:ident = $word:literal),+ $(,)? }) => {
        $crate::run::words!($type { $($variant = $word),+ });

        impl $type {
            /// All values, in the order of their declaration.
            pub const ALL: &'static [$type] = &[$($type::$variant),+];
        }
    };
    ($type:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// Returns the word for the value in the tables of a store.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($type::$variant => $word),+
                }
            }

            /// Reads the word by which tables name the value; `None` for any other word.
            pub fn read(word: &str) -> Option<Self> {
                match word {
                    $($word => Some($type::$variant),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;

words!(RunStatus { Ready = "ready", Running = "running", Waiting = "waiting", Done = "done", Held = "held" });
words!(HeldKind {
    Paused = "paused",
    All = "all",
    Poisoned = "poisoned",
    Incompatible = "incompatible",
    Altered = "altered",
    Unknown = "unknown",
});
words!(End { Answered = "answered", Failed = "failed", Cancelled = "cancelled" });
