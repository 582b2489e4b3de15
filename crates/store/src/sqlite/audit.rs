//! Events of the audit trail.

use super::{
    Tx,
    row::{time, word},
};
use crate::{
    ALL_TENANTS, AuditEvent, AuditFilter, AuditKey, AuditKind, PLATFORM, StoreError, TrailEnd,
    columns::limit,
    trail::{About, End},
    wording,
};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

/// Number in place of a run's number, for events that belong to no run.
const OF_NO_RUN: u64 = 0;

const COLUMNS: &str = "event.number, coalesce(run.id, 'platform') AS run_id, seq, event.tenant_id, at, kind, actor, subject, tool_name, detail, \
     row_digest, digest";

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<AuditEvent> {
    Ok(AuditEvent {
        number: row.get("number")?,
        run: row.get("run_id")?,
        seq: row.get("seq")?,
        tenant_id: row.get("tenant_id")?,
        at: time(row, "at")?,
        kind: word(row, "kind", AuditKind::read)?,
        actor: row.get("actor")?,
        subject: row.get("subject")?,
        tool_name: row.get("tool_name")?,
        detail: row.get("detail")?,
        row_digest: row.get("row_digest")?,
        digest: row.get("digest")?,
    })
}

/// Adds an event to the audit trail of a run.
pub(super) fn append(
    tx: &Tx<'_>,
    run: &str,
    kind: AuditKind,
    about: About<'_>,
) -> Result<(), StoreError> {
    let mut last = tx.prepare_cached(
        "SELECT number, tenant_id, audit_seq, audit_digest FROM agent_runs WHERE id = ?1",
    )?;
    let last = last.query_row([run], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    });
    let last: Option<(u64, String, u64, Vec<u8>)> = last.optional()?;
    let Some((number, tenant_id, seq, digest)) = last else {
        return Err(wording::no_run(run));
    };
    let end = End {
        run: run.to_owned(),
        tenant_id,
        seq,
        digest,
    };
    let event = end.next(&tx.key, tx.now, kind, about);
    insert(tx, number, &event)?;
    let mut head =
        tx.prepare_cached("UPDATE agent_runs SET audit_seq = ?2, audit_digest = ?3 WHERE id = ?1")?;
    head.execute(params![run, event.seq, event.digest])?;
    Ok(())
}

/// Returns the end of the trail for everything that belongs to no run.
pub(super) fn end_of_platform(db: &Connection) -> Result<TrailEnd, StoreError> {
    let mut last = db.prepare_cached("SELECT audit_seq, audit_digest FROM agent_platform")?;
    Ok(last.query_row([], |row| {
        Ok(TrailEnd {
            seq: row.get(0)?,
            digest: row.get(1)?,
        })
    })?)
}

/// Adds an event about a tenant, or about all tenants, to the trail for everything that belongs to no run.
pub(super) fn append_to_platform(
    tx: &Tx<'_>,
    tenant: Option<&str>,
    kind: AuditKind,
    about: About<'_>,
) -> Result<(), StoreError> {
    let TrailEnd { seq, digest } = end_of_platform(tx)?;
    let end = End {
        run: PLATFORM.to_owned(),
        tenant_id: tenant.unwrap_or(ALL_TENANTS).to_owned(),
        seq,
        digest,
    };
    let event = end.next(&tx.key, tx.now, kind, about);
    insert(tx, OF_NO_RUN, &event)?;
    let mut head =
        tx.prepare_cached("UPDATE agent_platform SET audit_seq = ?1, audit_digest = ?2")?;
    head.execute(params![event.seq, event.digest])?;
    Ok(())
}

fn insert(tx: &Tx<'_>, number: u64, event: &AuditEvent) -> Result<(), StoreError> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO agent_audit_events
             (run, seq, tenant_id, at, kind, actor, subject, tool_name, detail, row_digest, digest)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    insert.execute(params![
        number,
        event.seq,
        event.tenant_id,
        tx.now,
        event.kind.as_str(),
        event.actor,
        event.subject,
        event.tool_name,
        event.detail,
        event.row_digest,
        event.digest
    ])?;
    Ok(())
}

pub(super) fn list(db: &Connection, filter: &AuditFilter) -> Result<Vec<AuditEvent>, StoreError> {
    let of_run = match filter.run.as_deref() {
        Some(PLATFORM) => "event.run = 0 AND :run IS NOT NULL",
        Some(_) => "run = (SELECT number FROM agent_runs WHERE id = :run)",
        None => ":run IS NULL",
    };
    let order = filter.order();
    let sql = format!(
        "SELECT {COLUMNS} FROM agent_audit_events AS event LEFT JOIN agent_runs AS run ON run.number = event.run
         WHERE (:tenant IS NULL OR event.tenant_id = :tenant)
           AND {of_run}
           AND (event.run = 0 OR run.id IS NOT NULL)
           AND (:kind IS NULL OR event.kind = :kind)
           AND (:actor IS NULL OR event.actor = :actor)
           AND (:tool IS NULL OR event.tool_name = :tool)
           AND event.number > :after
           AND event.number < :before
         ORDER BY event.number {order} LIMIT :limit"
    );
    let mut found = db.prepare_cached(&sql)?;
    let rows = found.query_map(
        named_params! {
            ":tenant": filter.tenant,
            ":run": filter.run,
            ":kind": filter.kind.map(AuditKind::as_str),
            ":actor": filter.actor,
            ":tool": filter.tool_name,
            ":after": filter.after,
            ":before": filter.end(),
            ":limit": limit(filter.limit),
        },
        read,
    )?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns `true` if the store is tied to this key: its audit trail is made with it.
pub(super) fn is_tied_to(db: &Connection, key: &AuditKey) -> Result<bool, StoreError> {
    let mut known = db.prepare_cached("SELECT 1 FROM agent_audit_key WHERE id = ?1")?;
    Ok(known.exists([key.id()])?)
}

/// Ties a store to the first key that it is given, and refuses any other key from then on.
pub(super) fn tie(tx: &Tx<'_>, key: &AuditKey) -> Result<(), StoreError> {
    let known = tx.query_row("SELECT id FROM agent_audit_key", [], |row| {
        row.get::<_, String>(0)
    });
    match known.optional()? {
        Some(known) if known == key.id() => Ok(()),
        Some(_) => Err(wording::other_key()),
        None => {
            tx.execute("INSERT INTO agent_audit_key (id) VALUES (?1)", [key.id()])?;
            Ok(())
        }
    }
}
