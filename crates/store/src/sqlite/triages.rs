//! Rows of triages.

use super::{
    Tx,
    audit::append_to_platform,
    row::{time, word},
};
use crate::{AuditKind, NewTriage, StoreError, Triage, TriageStatus, trail::About};
use rusqlite::{Connection, Row, params};

fn read(row: &Row<'_>) -> rusqlite::Result<Triage> {
    Ok(Triage {
        cluster: row.get("cluster")?,
        tenant: row.get("tenant_id")?,
        status: word(row, "status", TriageStatus::read)?,
        by: row.get("set_by")?,
        at: time(row, "set_at")?,
        notes: row.get("notes")?,
    })
}

pub(super) fn set(tx: &Tx<'_>, new: &NewTriage) -> Result<(), StoreError> {
    let mut insert = tx.prepare_cached(
        "INSERT OR REPLACE INTO agent_triages (tenant_id, cluster, status, set_by, set_at, notes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    insert.execute(params![
        new.tenant,
        new.cluster,
        new.status.as_str(),
        new.by,
        tx.now,
        new.notes
    ])?;
    let subject = format!("{} {}", new.cluster, new.status);
    let about = About {
        actor: Some(&new.by),
        subject: Some(&subject),
        detail: Some(&new.notes),
        ..About::default()
    };
    append_to_platform(tx, Some(&new.tenant), AuditKind::Triaged, about)
}

pub(super) fn list(
    db: &Connection,
    tenant: Option<&str>,
    clusters: &[String],
) -> Result<Vec<Triage>, StoreError> {
    let mut found = db.prepare_cached(
        "SELECT * FROM agent_triages
         WHERE (?1 IS NULL OR tenant_id = ?1) AND cluster IN (SELECT value FROM json_each(?2))
         ORDER BY tenant_id, cluster",
    )?;
    let clusters = serde_json::json!(clusters).to_string();
    let rows = found.query_map(params![tenant, clusters], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Removes what people have said of the failures of a tenant, when the tenant is erased.
pub(super) fn erase_tenant(tx: &Tx<'_>, tenant: &str) -> Result<(), StoreError> {
    tx.execute("DELETE FROM agent_triages WHERE tenant_id = ?1", [tenant])?;
    Ok(())
}
