//! The next event of a trail, as stores add it.

use crate::{AuditEvent, AuditKey, AuditKind};
use agents_core::run::Timestamp;

/// End of an audit trail, to which the next event is added.
pub(crate) struct End {
    pub(crate) run: String,
    pub(crate) tenant_id: String,
    pub(crate) seq: u64,
    pub(crate) digest: Vec<u8>,
}

/// Data of an event beside its kind: who caused it, and what it is about.
#[derive(Default)]
pub(crate) struct About<'a> {
    pub(crate) actor: Option<&'a str>,
    pub(crate) subject: Option<&'a str>,
    pub(crate) tool_name: Option<&'a str>,
    pub(crate) detail: Option<&'a [u8]>,
    pub(crate) row_digest: Option<Vec<u8>>,
}

impl<'a> About<'a> {
    /// Creates the data of an event that this person has caused; `None` if nobody has.
    pub(crate) fn by(actor: Option<&'a str>) -> Self {
        About {
            actor,
            ..About::default()
        }
    }
}

impl End {
    /// Returns the end of a trail whose last event this is.
    #[cfg_attr(
        not(feature = "postgres"),
        allow(dead_code, reason = "one store needs it")
    )]
    pub(crate) fn of(event: &AuditEvent) -> Self {
        End {
            run: event.run.clone(),
            tenant_id: event.tenant_id.clone(),
            seq: event.seq,
            digest: event.digest.clone(),
        }
    }

    /// Returns the next event of the trail, with its number and its digest.
    pub(crate) fn next(
        self,
        key: &AuditKey,
        now: u64,
        kind: AuditKind,
        about: About<'_>,
    ) -> AuditEvent {
        let mut event = AuditEvent {
            number: 0,
            run: self.run,
            seq: self.seq + 1,
            tenant_id: self.tenant_id,
            at: Timestamp::from_millis(now),
            kind,
            actor: about.actor.map(str::to_owned),
            subject: about.subject.map(str::to_owned),
            tool_name: about.tool_name.map(str::to_owned),
            detail: about.detail.map(<[u8]>::to_vec),
            row_digest: about.row_digest,
            digest: Vec::new(),
        };
        event.digest = key.digest(&self.digest, &event);
        event
    }
}

/// Columns with the names of people, each with its table and the table's column for the run: its id, or its number. The
/// names give way to pseudonyms when a run is erased.
pub(crate) const PEOPLE: [(&str, &str, &str); 10] = [
    ("agent_runs", "id", "started_by"),
    ("agent_runs", "id", "cancelled_by"),
    ("agent_runs", "id", "paused_by"),
    ("agent_runs", "id", "held_by"),
    ("agent_approvals", "run_id", "user_id"),
    ("agent_approvals", "run_id", "started_by"),
    ("agent_approvals", "run_id", "decided_by"),
    ("agent_tool_executions", "run", "approved_by"),
    ("agent_tool_executions", "run", "settled_by"),
    ("agent_audit_events", "run", "actor"),
];

/// Returns two SQL statements for names of a tenant's people in events of the platform: one selects them, one replaces
/// a name. The tenant is the first parameter, the name the second, the pseudonym the third. Events about modes have
/// names of operators.
pub(crate) fn people_of_platform(parameter: char) -> (String, String) {
    let p = parameter;
    let own = format!("WHERE run = 0 AND kind <> 'mode' AND tenant_id = {p}1");
    (
        format!("SELECT DISTINCT actor FROM agent_audit_events {own} AND actor IS NOT NULL"),
        format!("UPDATE agent_audit_events SET actor = {p}3 {own} AND actor = {p}2"),
    )
}

/// Returns the SQL condition for rows of one run, whose id is the first parameter. `column` is a column of [`PEOPLE`]:
/// the id of the run, or its number.
pub(crate) fn of_run(column: &str, parameter: &str) -> String {
    match column {
        "run" => format!("run = (SELECT number FROM agent_runs WHERE id = {parameter})"),
        column => format!("{column} = {parameter}"),
    }
}
