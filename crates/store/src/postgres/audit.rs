//! Events of the audit trail. Whatever adds one has locked its run before.

use super::{
    connections::{Ahead, Params, Transaction, number, rows, signed},
    numbers::{self, ANNOUNCE},
    row::{text, time, word},
};
use crate::{
    ALL_TENANTS, AuditEvent, AuditFilter, AuditKey, AuditKind, ErrorKind, PLATFORM, StoreError,
    TrailEnd,
    columns::limit,
    trail::{About, End},
    wording,
};
use deadpool_postgres::{GenericClient, tokio_postgres::Row};

/// Number in place of a run's number, for events that belong to no run.
const OF_NO_RUN: i64 = 0;

const COLUMNS: &str = "event.number, coalesce(run.id, 'platform') AS run_id, seq, event.tenant_id, at, kind, actor, subject, tool_name, detail, \
     row_digest, digest";

pub(super) fn read(row: &Row) -> Result<AuditEvent, StoreError> {
    Ok(AuditEvent {
        number: number(row, "number")?,
        run: row.try_get("run_id")?,
        seq: number(row, "seq")?,
        tenant_id: row.try_get("tenant_id")?,
        at: time(row, "at")?,
        kind: word(row, "kind", AuditKind::read)?,
        actor: row.try_get("actor")?,
        subject: row.try_get("subject")?,
        tool_name: row.try_get("tool_name")?,
        detail: row.try_get("detail")?,
        row_digest: row.try_get("row_digest")?,
        digest: row.try_get("digest")?,
    })
}

/// Adds an event to the audit trail of a run.
pub(super) async fn append(
    db: &Transaction<'_>,
    now: u64,
    run: &str,
    kind: AuditKind,
    about: About<'_>,
) -> Result<(), StoreError> {
    let ahead = db.trail().take_if(|ahead| ahead.end.run == run);
    let is_ahead = ahead.is_some();
    let Ahead {
        number: of_run,
        end,
    } = match ahead {
        Some(ahead) => ahead,
        None => stored_end(db, run).await?,
    };
    let head = match is_ahead {
        // Whoever has locked the run stores the end.
        true => "",
        false => {
            ", head AS (UPDATE agent_runs SET audit_seq = $2, audit_digest = $11 WHERE number = $1)"
        }
    };
    let end = insert(db, now, of_run, end, kind, about, head).await?;
    if is_ahead {
        *db.trail() = Some(Ahead {
            number: of_run,
            end,
        });
    }
    Ok(())
}

/// Locks the trail for everything that belongs to no run, and returns its end.
pub(super) async fn end_of_platform(db: &Transaction<'_>) -> Result<TrailEnd, StoreError> {
    let sql = "SELECT audit_seq, audit_digest FROM agent_platform FOR UPDATE";
    let missing = || StoreError::new(ErrorKind::Failed, "PostgreSQL: agent_platform has no row");
    let last = db.row(sql, &[]).await?.ok_or_else(missing)?;
    Ok(TrailEnd {
        seq: number(&last, "audit_seq")?,
        digest: last.try_get("audit_digest")?,
    })
}

/// Adds an event about a tenant, or about all tenants, to the trail for everything that belongs to no run.
pub(super) async fn append_to_platform(
    db: &Transaction<'_>,
    now: u64,
    tenant: Option<&str>,
    kind: AuditKind,
    about: About<'_>,
) -> Result<(), StoreError> {
    let TrailEnd { seq, digest } = end_of_platform(db).await?;
    let end = End {
        run: PLATFORM.to_owned(),
        tenant_id: tenant.unwrap_or(ALL_TENANTS).to_owned(),
        seq,
        digest,
    };
    let head = ", head AS (UPDATE agent_platform SET audit_seq = $2, audit_digest = $11)";
    insert(db, now, OF_NO_RUN, end, kind, about, head)
        .await
        .map(drop)
}

/// Adds the event that comes next in a trail, and returns the end of the trail with it. `head` is the statement that
/// moves the stored end.
async fn insert(
    db: &Transaction<'_>,
    now: u64,
    of_run: i64,
    end: End,
    kind: AuditKind,
    about: About<'_>,
    head: &str,
) -> Result<End, StoreError> {
    let clean = |value: Option<&str>| value.map(|value| text(value).into_owned());
    let (actor, subject, tool) = (
        clean(about.actor),
        clean(about.subject),
        clean(about.tool_name),
    );
    let about = About {
        actor: actor.as_deref(),
        subject: subject.as_deref(),
        tool_name: tool.as_deref(),
        ..about
    };
    let event = end.next(&db.key, now, kind, about);
    // The event gets its number when it is announced.
    let sql = format!(
        "WITH announced AS MATERIALIZED (SELECT {ANNOUNCE}) {head}
         INSERT INTO agent_audit_events
             (run, seq, tenant_id, at, kind, actor, subject, tool_name, detail, row_digest, digest)
         SELECT $1::bigint, $2::bigint, $3::text, $4::bigint, $5::text, $6::text, $7::text, $8::text, $9::bytea, $10::bytea,
             $11::bytea FROM announced"
    );
    let values: Params<'_> = &[
        &of_run,
        &signed(event.seq),
        &event.tenant_id,
        &signed(now),
        &event.kind.as_str(),
        &event.actor,
        &event.subject,
        &event.tool_name,
        &event.detail,
        &event.row_digest,
        &event.digest,
    ];
    db.execute(&sql, values).await?;
    Ok(End::of(&event))
}

/// Returns the end of a run's trail, as the row of the run has it.
async fn stored_end(db: &Transaction<'_>, run: &str) -> Result<Ahead, StoreError> {
    let sql = "SELECT number, tenant_id, audit_seq, audit_digest FROM agent_runs WHERE id = $1";
    let last = db.row(sql, &[&run]).await?;
    let last = last.ok_or_else(|| wording::no_run(run))?;
    Ok(Ahead {
        number: last.try_get("number")?,
        end: End {
            run: run.to_owned(),
            tenant_id: last.try_get("tenant_id")?,
            seq: number(&last, "audit_seq")?,
            digest: last.try_get("audit_digest")?,
        },
    })
}

/// Returns events of the audit trail. It first waits for transactions that may store earlier ones, so that a reader
/// misses none.
pub(super) async fn list_settled(
    db: &Transaction<'_>,
    filter: &AuditFilter,
) -> Result<Vec<AuditEvent>, StoreError> {
    numbers::settle(db).await?;
    list(&db.db, filter).await
}

pub(super) async fn list(
    db: &impl GenericClient,
    filter: &AuditFilter,
) -> Result<Vec<AuditEvent>, StoreError> {
    let order = filter.order();
    let sql = format!(
        "SELECT {COLUMNS} FROM agent_audit_events AS event LEFT JOIN agent_runs AS run ON run.number = event.run
         WHERE ($1::text IS NULL OR event.tenant_id = $1)
           AND (event.run = 0 OR run.id IS NOT NULL)
           AND ($2::text IS NULL OR event.run =
               CASE $2 WHEN 'platform' THEN 0 ELSE (SELECT number FROM agent_runs WHERE id = $2) END)
           AND ($6::text IS NULL OR event.kind = $6)
           AND ($7::text IS NULL OR event.actor = $7)
           AND ($8::text IS NULL OR event.tool_name = $8)
           AND event.number > $3
           AND event.number < $5
         ORDER BY event.number {order} LIMIT $4"
    );
    let AuditFilter {
        tenant,
        run,
        kind,
        actor,
        tool_name,
        after,
        limit: asked,
        ..
    } = filter;
    let kind = kind.map(AuditKind::as_str);
    let most = i64::from(limit(*asked));
    let (after, before) = (signed(*after), filter.end());
    let values: Params<'_> = &[tenant, run, &after, &most, &before, &kind, actor, tool_name];
    let found = rows(db, &sql, values).await?;
    found.iter().map(read).collect()
}

/// Returns `true` if the store is tied to this key: its audit trail is made with it.
pub(super) async fn is_tied_to(db: &Transaction<'_>, key: &AuditKey) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM agent_audit_key WHERE id = $1";
    Ok(db.row(sql, &[&key.id()]).await?.is_some())
}

/// Ties a store to the first key that it is given, and refuses any other key from then on.
pub(super) async fn tie(db: &Transaction<'_>, key: &AuditKey) -> Result<(), StoreError> {
    let sql = "INSERT INTO agent_audit_key (id) VALUES ($1) ON CONFLICT DO NOTHING";
    let known = "SELECT id FROM agent_audit_key";
    if db.row(known, &[]).await?.is_none() {
        db.execute(sql, &[&key.id()]).await?;
    }
    let known: Option<String> = match db.row(known, &[]).await? {
        Some(row) => row.try_get(0)?,
        None => None,
    };
    match known {
        Some(known) if known == key.id() => Ok(()),
        _ => Err(wording::other_key()),
    }
}
