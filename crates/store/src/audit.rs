//! The audit trail: what was asked, decided, run and refused, as events.

use crate::run::words;
use agents_core::run::Timestamp;
use serde::{Deserialize, Serialize};

/// Event that is about to be added to the trail of a run or of the [`PLATFORM`](crate::PLATFORM).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// Id of the run that the event belongs to, or [`PLATFORM`](crate::PLATFORM).
    pub run: String,
    /// Tenant that an event of the platform is about; `None` for all. An event of a run has the tenant of its run.
    pub tenant: Option<String>,
    /// Kind of the event: what has happened.
    pub kind: AuditKind,
    /// Name of the person or program that caused the event; `None` if none did.
    pub actor: Option<String>,
    /// Subject of the event, such as the id of a request or an execution; `None` if the event has none.
    pub subject: Option<String>,
    /// Name of the tool that the event is about; `None` if it is about none.
    pub tool_name: Option<String>,
    /// Particulars of the event, such as a reason, encrypted; `None` if there are none.
    pub detail: Option<Vec<u8>>,
}

/// Event of the audit trail of a run, or of the trail for everything that belongs to no run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEvent {
    /// Number of the event among all of the store. Later events have greater numbers.
    pub number: u64,
    /// Id of the run; [`PLATFORM`](crate::PLATFORM) for an event that belongs to none.
    pub run: String,
    /// Number of the event in its trail, from 1.
    pub seq: u64,
    /// Tenant that the event is about. An event of the platform may be about [all tenants](crate::ALL_TENANTS).
    pub tenant_id: String,
    /// Time at which the event was stored, by the clock of the store.
    pub at: Timestamp,
    /// Kind of the event: what has happened.
    pub kind: AuditKind,
    /// Name of the person or program that caused the event. An event about an execution that begins, or about an
    /// approval that expires or is withdrawn, has the name of whoever approved the call: a person, a program or a
    /// [mode](crate::ByMode::by). `None` if there is no such name.
    pub actor: Option<String>,
    /// Subject of the event: the id of a request, of an execution, or of the letter that was replayed; the word for the
    /// mode that was set, or for the end of the run; the model with which a released run may go on; the id and the status of a cluster; the action that was refused;
    /// `None` if the event has none.
    pub subject: Option<String>,
    /// Name of the tool that the event is about; `None` if it is about none.
    pub tool_name: Option<String>,
    /// Particulars of the event, such as a reason, encrypted; `None` if there are none.
    pub detail: Option<Vec<u8>>,
    /// Digest of what the event has written into a row, such as that of the run, a request or an execution, so that a
    /// later change of the row is noticed; `None` if it has written none. For a mode, it is the
    /// [proof](crate::StoredMode::proof).
    pub row_digest: Option<Vec<u8>>,
    /// Digest of the event and of all events before it in its trail: a link of the chain.
    pub digest: Vec<u8>,
}

/// Kind of an [`AuditEvent`]: what has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuditKind {
    /// A run was stored, and can go on.
    Started,
    /// The run was paused by a principal; it is held at once, or when its worker has put it down.
    Paused,
    /// The run is held: it cannot go on until somebody releases it.
    Held,
    /// A run that was held or paused may go on.
    Released,
    /// A person has given the agent of the run an instruction; the particulars are its text.
    Instructed,
    /// The run was cancelled, and a worker is to end it.
    Cancelled,
    /// The run is over.
    Finished,
    /// A call asks for approval.
    Requested,
    /// A call was approved.
    Approved,
    /// A call was denied: it may not run.
    Denied,
    /// A decider asked for a changed call.
    RevisionRequested,
    /// The request expired: it was not decided in time, or its approval was not used in time.
    Expired,
    /// The run has ended before the request was decided, or before its approval was used.
    Withdrawn,
    /// An action of a principal, such as a decision or an undo, or an execution was not allowed.
    Refused,
    /// An execution begins. The event is stored before the tool runs.
    Began,
    /// An execution began and ended in one commit, since its tool only reads and it needed no approval.
    Ran,
    /// An execution has ended.
    Ended,
    /// An execution was cut off, and may or may not have taken effect.
    InDoubt,
    /// A person has found out whether the execution took effect.
    Settled,
    /// The undo of an execution is asked for.
    UndoAsked,
    /// An execution was undone.
    Undone,
    /// An execution was to be undone, and was not.
    NotUndone,
    /// The contents of the run, or of the tenant, were erased; the trail stays.
    Erased,
    /// The mode of a tenant, or of all, was set or removed.
    Mode,
    /// A dead letter, or a held run, was replayed.
    Replayed,
    /// The status of a cluster of failures was set.
    Triaged,
}

words!(AuditKind, all {
    Started = "started",
    Paused = "paused",
    Held = "held",
    Released = "released",
    Instructed = "instructed",
    Cancelled = "cancelled",
    Finished = "finished",
    Requested = "requested",
    Approved = "approved",
    Denied = "denied",
    RevisionRequested = "revision_requested",
    Expired = "expired",
    Withdrawn = "withdrawn",
    Refused = "refused",
    Began = "began",
    Ran = "ran",
    Ended = "ended",
    InDoubt = "in_doubt",
    Settled = "settled",
    UndoAsked = "undo_asked",
    Undone = "undone",
    NotUndone = "not_undone",
    Erased = "erased",
    Mode = "mode",
    Replayed = "replayed",
    Triaged = "triaged",
});

/// Choice of events, for [`Store::audit`](crate::Store::audit). The default chooses all events of all tenants. An event
/// is chosen if it fits each field that is set.
///
/// ```
/// use agents_store::{AuditFilter, AuditKind, NewRun, SqliteStore, Store};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents_store::StoreError> {
/// let store = SqliteStore::in_memory().await?;
/// store.create(&NewRun { id: "1".into(), agent: "payer".into(), ..NewRun::default() }).await?;
/// store.cancel("1", "ada").await?;
///
/// let newest_first = AuditFilter { run: Some("1".into()), before: Some(u64::MAX), ..AuditFilter::default() };
/// let kinds: Vec<_> = store.audit(&newest_first).await?.iter().map(|event| event.kind).collect();
/// assert_eq!(kinds, [AuditKind::Cancelled, AuditKind::Started]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Chooses events of this tenant, if set.
    pub tenant: Option<String>,
    /// Chooses events of this run, if set. [`PLATFORM`](crate::PLATFORM) chooses events that belong to no run.
    pub run: Option<String>,
    /// Chooses events of this kind, if set.
    pub kind: Option<AuditKind>,
    /// Chooses events with this name as their [actor](AuditEvent::actor), if set.
    pub actor: Option<String>,
    /// Chooses events about this tool, if set.
    pub tool_name: Option<String>,
    /// Chooses events with greater numbers than this one; 0 for all. The oldest comes first.
    pub after: u64,
    /// Chooses events with smaller numbers than this one, if set. The newest comes first; `Some(u64::MAX)` begins with
    /// the newest of all.
    pub before: Option<u64>,
    /// Maximum number of events that are returned; 0 for 100.
    pub limit: u32,
}

#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "the stores read the filter")
)]
impl AuditFilter {
    /// Returns the number below which the numbers of all chosen events are.
    pub(crate) fn end(&self) -> i64 {
        let end = self.before.unwrap_or(u64::MAX);
        i64::try_from(end).unwrap_or(i64::MAX)
    }

    /// Returns the order of the events in SQL: `DESC` or `ASC`.
    pub(crate) fn order(&self) -> &'static str {
        match self.before {
            Some(_) => "DESC",
            None => "ASC",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::AuditKind;

    #[test]
    fn every_kind_is_read_from_its_word() {
        for &kind in AuditKind::ALL {
            assert_eq!(AuditKind::read(kind.as_str()), Some(kind));
            let json = serde_json::to_value(kind).expect("a word");
            assert_eq!(json, kind.as_str());
        }
    }
}
