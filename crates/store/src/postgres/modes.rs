//! Rows of modes.

use super::{
    audit::{append_to_platform, end_of_platform},
    connections::{Params, Transaction, number, row, rows, signed},
    row::{text, time},
};
use crate::{
    ALL_TENANTS, AuditKind, ModeChange, Platform, StoreError, StoredMode, Timestamp, TrailEnd,
    trail::About,
};
use deadpool_postgres::{GenericClient, tokio_postgres::Row};

fn read(row: &Row) -> Result<StoredMode, StoreError> {
    let tenant: String = row.try_get("tenant_id")?;
    Ok(StoredMode {
        tenant: Some(tenant).filter(|tenant| tenant != ALL_TENANTS),
        mode: row.try_get("mode")?,
        set_by: row.try_get("set_by")?,
        set_at: time(row, "set_at")?,
        seq: number(row, "seq")?,
        proof: row.try_get("proof")?,
    })
}

/// Returns the number of the event that has set the mode in effect for a tenant; `None` if no mode is in effect.
pub(super) async fn in_effect(
    db: &Transaction<'_>,
    tenant: &str,
) -> Result<Option<u64>, StoreError> {
    let sql =
        "SELECT seq FROM agent_modes WHERE tenant_id IN ($1, '*') ORDER BY tenant_id = '*' LIMIT 1";
    let found = db.row(sql, &[&tenant]).await?;
    found.map(|row| number(&row, 0)).transpose()
}

/// Sets or removes the approval mode of a tenant, or of all tenants without a mode of their own. The mode says which
/// calls a person is asked about. The audit trail gets an event about the change.
pub(super) async fn set(db: &Transaction<'_>, change: &ModeChange) -> Result<(), StoreError> {
    let ModeChange { tenant, mode, by } = change;
    let tenant_id = tenant.as_deref().unwrap_or(ALL_TENANTS);
    let (by, seq) = (text(by), end_of_platform(db).await?.seq + 1);
    let now = db.now().await?;
    let mut about = About::by(Some(&by));
    match mode {
        None => {
            let sql = "DELETE FROM agent_modes WHERE tenant_id = $1";
            db.execute(sql, &[&tenant_id]).await?;
        }
        Some(mode) => {
            let mut row = StoredMode {
                tenant: tenant.clone(),
                mode: mode.clone(),
                set_by: by.clone().into_owned(),
                set_at: Timestamp::from_millis(now),
                seq,
                proof: Vec::new(),
            };
            row.proof = db.key.of_mode(&row);
            let sql = "INSERT INTO agent_modes (tenant_id, mode, set_by, set_at, seq, proof)
                 VALUES ($1, $2, $3, $4, $5, $6)
                 ON CONFLICT (tenant_id) DO UPDATE
                     SET mode = $2, set_by = $3, set_at = $4, seq = $5, proof = $6";
            let (set_at, number) = (signed(now), signed(seq));
            let values: Params<'_> = &[&tenant_id, mode, &by, &set_at, &number, &row.proof];
            db.execute(sql, values).await?;
            about.subject = Some(mode);
            about.row_digest = Some(row.proof);
        }
    }
    append_to_platform(db, now, tenant.as_deref(), AuditKind::Mode, about).await
}

/// Returns all modes, and the end of the trail for everything that belongs to no run.
pub(super) async fn platform(db: &impl GenericClient) -> Result<Platform, StoreError> {
    let sql = "SELECT * FROM agent_modes ORDER BY tenant_id <> '*', tenant_id";
    let found = rows(db, sql, &[]).await?;
    let sql = "SELECT audit_seq, audit_digest FROM agent_platform";
    let trail = row(db, sql, &[]).await?;
    let trail = trail.map(|row| {
        Ok::<_, StoreError>(TrailEnd {
            seq: number(&row, "audit_seq")?,
            digest: row.try_get("audit_digest")?,
        })
    });
    Ok(Platform {
        modes: found.iter().map(read).collect::<Result<_, _>>()?,
        trail: trail.transpose()?,
    })
}
