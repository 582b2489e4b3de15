//! Rows of triages.

use super::{
    audit::append_to_platform,
    connections::{Params, Transaction, rows, signed},
    row::{text, time, word},
};
use crate::{AuditKind, NewTriage, StoreError, Triage, TriageStatus, trail::About};
use deadpool_postgres::{GenericClient, tokio_postgres::Row};

fn read(row: &Row) -> Result<Triage, StoreError> {
    Ok(Triage {
        cluster: row.try_get("cluster")?,
        tenant: row.try_get("tenant_id")?,
        status: word(row, "status", TriageStatus::read)?,
        by: row.try_get("set_by")?,
        at: time(row, "set_at")?,
        notes: row.try_get("notes")?,
    })
}

pub(super) async fn set(db: &Transaction<'_>, new: &NewTriage) -> Result<(), StoreError> {
    let (by, now) = (text(&new.by), db.now().await?);
    let sql = "INSERT INTO agent_triages (tenant_id, cluster, status, set_by, set_at, notes)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (tenant_id, cluster) DO UPDATE SET status = $3, set_by = $4, set_at = $5, notes = $6";
    let (status, at) = (new.status.as_str(), signed(now));
    let values: Params<'_> = &[&new.tenant, &new.cluster, &status, &by, &at, &new.notes];
    db.execute(sql, values).await?;
    let subject = format!("{} {}", new.cluster, new.status);
    let about = About {
        actor: Some(&by),
        subject: Some(&subject),
        detail: Some(&new.notes),
        ..About::default()
    };
    append_to_platform(db, now, Some(&new.tenant), AuditKind::Triaged, about).await
}

pub(super) async fn list(
    db: &impl GenericClient,
    tenant: Option<&str>,
    clusters: &[String],
) -> Result<Vec<Triage>, StoreError> {
    let sql = "SELECT * FROM agent_triages
         WHERE ($1::text IS NULL OR tenant_id = $1) AND cluster = ANY($2) ORDER BY tenant_id, cluster";
    let found = rows(db, sql, &[&tenant, &clusters]).await?;
    found.iter().map(read).collect()
}

/// Removes what people have said of the failures of a tenant, when the tenant is erased.
pub(super) async fn erase_tenant(db: &Transaction<'_>, tenant: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM agent_triages WHERE tenant_id = $1";
    db.execute(sql, &[&tenant]).await.map(drop)
}
