//! Rows of modes.

use super::{
    Tx,
    audit::{append_to_platform, end_of_platform},
    row::time,
};
use crate::{
    ALL_TENANTS, AuditKind, ModeChange, Platform, StoreError, StoredMode, Timestamp, trail::About,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

fn read(row: &Row<'_>) -> rusqlite::Result<StoredMode> {
    let tenant: String = row.get("tenant_id")?;
    Ok(StoredMode {
        tenant: Some(tenant).filter(|tenant| tenant != ALL_TENANTS),
        mode: row.get("mode")?,
        set_by: row.get("set_by")?,
        set_at: time(row, "set_at")?,
        seq: row.get("seq")?,
        proof: row.get("proof")?,
    })
}

/// Returns the number of the event that has set the mode in effect for a tenant; `None` if no mode is in effect.
pub(super) fn in_effect(tx: &Tx<'_>, tenant: &str) -> Result<Option<u64>, StoreError> {
    let mut found = tx.prepare_cached(
        "SELECT seq FROM agent_modes WHERE tenant_id IN (?1, '*') ORDER BY tenant_id = '*' LIMIT 1",
    )?;
    Ok(found.query_row([tenant], |row| row.get(0)).optional()?)
}

/// Sets or removes the approval mode of a tenant, or of all tenants without a mode of their own. The mode says which
/// calls a person is asked about. The audit trail gets an event about the change.
pub(super) fn set(tx: &Tx<'_>, change: &ModeChange) -> Result<(), StoreError> {
    let ModeChange { tenant, mode, by } = change;
    let tenant_id = tenant.as_deref().unwrap_or(ALL_TENANTS);
    let mut about = About::by(Some(by));
    match mode {
        None => {
            let mut delete = tx.prepare_cached("DELETE FROM agent_modes WHERE tenant_id = ?1")?;
            delete.execute([tenant_id])?;
        }
        Some(mode) => {
            let mut row = StoredMode {
                tenant: tenant.clone(),
                mode: mode.clone(),
                set_by: by.clone(),
                set_at: Timestamp::from_millis(tx.now),
                seq: end_of_platform(tx)?.seq + 1,
                proof: Vec::new(),
            };
            row.proof = tx.key.of_mode(&row);
            let mut insert = tx.prepare_cached(
                "INSERT OR REPLACE INTO agent_modes (tenant_id, mode, set_by, set_at, seq, proof)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?;
            insert.execute(params![tenant_id, mode, by, tx.now, row.seq, row.proof])?;
            about.subject = Some(mode);
            about.row_digest = Some(row.proof);
        }
    }
    append_to_platform(tx, tenant.as_deref(), AuditKind::Mode, about)
}

pub(super) fn platform(db: &Connection) -> Result<Platform, StoreError> {
    let mut found =
        db.prepare_cached("SELECT * FROM agent_modes ORDER BY tenant_id <> '*', tenant_id")?;
    let modes = found.query_map([], read)?;
    Ok(Platform {
        modes: modes.collect::<Result<_, _>>()?,
        trail: Some(end_of_platform(db)?),
    })
}
