//! Rows of profiles, and of their changes.

use crate::{
    NewProfile, ProfileAction, ProfileChange, StoreError, StoredProfile,
    control::check_replaced,
    sqlite::{
        Tx,
        row::{time, time_if_any, word},
    },
    wording,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

fn read(row: &Row<'_>) -> rusqlite::Result<StoredProfile> {
    Ok(StoredProfile {
        version: row.get("version")?,
        purpose: row.get("purpose")?,
        org_id: row.get("org_id")?,
        domain_id: row.get("domain_id")?,
        profile: row.get("profile")?,
        created_by: row.get("created_by")?,
        activated_at: time(row, "activated_at")?,
        deactivated_at: time_if_any(row, "deactivated_at")?,
    })
}

pub(super) fn changed(db: &Connection) -> Result<u64, StoreError> {
    let sql = "SELECT coalesce(max(number), 0) FROM llm_profile_changes WHERE action <> 'refused'";
    Ok(db.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

pub(super) fn active(db: &Connection) -> Result<Vec<StoredProfile>, StoreError> {
    let sql = "SELECT * FROM llm_profiles WHERE deactivated_at IS NULL ORDER BY version";
    let mut found = db.prepare_cached(sql)?;
    let found = found.query_map([], read)?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn versions(db: &Connection, purpose: &str) -> Result<Vec<StoredProfile>, StoreError> {
    let sql = "SELECT * FROM llm_profiles WHERE purpose = ?1 ORDER BY version";
    let mut found = db.prepare_cached(sql)?;
    let found = found.query_map([purpose], read)?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn find(db: &Connection, version: u64) -> Result<Option<StoredProfile>, StoreError> {
    let mut found = db.prepare_cached("SELECT * FROM llm_profiles WHERE version = ?1")?;
    Ok(found.query_row([version], read).optional()?)
}

pub(super) fn activate(tx: &Tx<'_>, new: &NewProfile) -> Result<StoredProfile, StoreError> {
    let before = end_activity(tx, &new.purpose, &new.org_id, &new.domain_id)?;
    check_replaced(new.replaces, before)?;
    let mut insert = tx.prepare_cached(
        "INSERT INTO llm_profiles (purpose, org_id, domain_id, profile, created_by, activated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    insert.execute(params![
        new.purpose,
        new.org_id,
        new.domain_id,
        new.profile,
        new.by,
        tx.now
    ])?;
    let stored = known(tx, u64::try_from(tx.last_insert_rowid()).unwrap_or(0))?;
    add_change(tx, ProfileAction::Activated, &stored, &new.by, &new.profile)?;
    Ok(stored)
}

pub(super) fn reactivate(
    tx: &Tx<'_>,
    version: u64,
    by: &str,
    replaces: Option<u64>,
) -> Result<StoredProfile, StoreError> {
    let wanted = known(tx, version)?;
    let before = end_activity(tx, &wanted.purpose, &wanted.org_id, &wanted.domain_id)?;
    check_replaced(replaces, before)?;
    let mut update = tx.prepare_cached(
        "UPDATE llm_profiles SET activated_at = ?2, deactivated_at = NULL WHERE version = ?1",
    )?;
    update.execute(params![version, tx.now])?;
    let stored = known(tx, version)?;
    add_change(tx, ProfileAction::RolledBack, &stored, by, &stored.profile)?;
    Ok(stored)
}

pub(super) fn deactivate(
    tx: &Tx<'_>,
    version: u64,
    by: &str,
    replaces: Option<u64>,
) -> Result<StoredProfile, StoreError> {
    let wanted = known(tx, version)?;
    check_replaced(replaces, active_of(tx, &wanted)?)?;
    let mut update = tx.prepare_cached(
        "UPDATE llm_profiles SET deactivated_at = ?2 WHERE version = ?1 AND deactivated_at IS NULL",
    )?;
    let ended = update.execute(params![version, tx.now])?;
    let stored = known(tx, version)?;
    if ended > 0 {
        add_change(tx, ProfileAction::Deactivated, &stored, by, &stored.profile)?;
    }
    Ok(stored)
}

pub(super) fn refuse(tx: &Tx<'_>, new: &NewProfile, why: &str) -> Result<(), StoreError> {
    let refused = StoredProfile {
        version: 0,
        purpose: new.purpose.clone(),
        org_id: new.org_id.clone(),
        domain_id: new.domain_id.clone(),
        profile: new.profile.clone(),
        created_by: new.by.clone(),
        activated_at: crate::Timestamp::from_millis(tx.now),
        deactivated_at: None,
    };
    add_change(tx, ProfileAction::Refused, &refused, &new.by, why)
}

pub(super) fn changes(db: &Connection, after: u64) -> Result<Vec<ProfileChange>, StoreError> {
    let sql = "SELECT * FROM llm_profile_changes WHERE number > ?1 ORDER BY number";
    let mut found = db.prepare_cached(sql)?;
    let found = found.query_map([after], |row| {
        Ok(ProfileChange {
            number: row.get("number")?,
            at: time(row, "at")?,
            action: word(row, "action", ProfileAction::read)?,
            version: row.get("version")?,
            purpose: row.get("purpose")?,
            org_id: row.get("org_id")?,
            domain_id: row.get("domain_id")?,
            by: row.get("by_id")?,
            detail: row.get("detail")?,
        })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Deactivates the active profile of a tier and purpose, and returns its version; `None` if none was active.
fn end_activity(
    tx: &Tx<'_>,
    purpose: &str,
    org_id: &str,
    domain_id: &str,
) -> Result<Option<u64>, StoreError> {
    let mut update = tx.prepare_cached(
        "UPDATE llm_profiles SET deactivated_at = ?4
         WHERE purpose = ?1 AND org_id = ?2 AND domain_id = ?3 AND deactivated_at IS NULL RETURNING version",
    )?;
    let ended = update.query_row(params![purpose, org_id, domain_id, tx.now], |row| {
        row.get(0)
    });
    Ok(ended.optional()?)
}

/// Returns the version that is active in the same tier and for the same purpose as a profile; `None` if none is.
fn active_of(tx: &Tx<'_>, of: &StoredProfile) -> Result<Option<u64>, StoreError> {
    let mut found = tx.prepare_cached(
        "SELECT version FROM llm_profiles
         WHERE purpose = ?1 AND org_id = ?2 AND domain_id = ?3 AND deactivated_at IS NULL",
    )?;
    let found = found.query_row(params![of.purpose, of.org_id, of.domain_id], |row| {
        row.get(0)
    });
    Ok(found.optional()?)
}

fn known(tx: &Tx<'_>, version: u64) -> Result<StoredProfile, StoreError> {
    find(tx, version)?.ok_or_else(|| wording::no_profile(version))
}

fn add_change(
    tx: &Tx<'_>,
    action: ProfileAction,
    profile: &StoredProfile,
    by: &str,
    detail: &str,
) -> Result<(), StoreError> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO llm_profile_changes (at, action, version, purpose, org_id, domain_id, by_id, detail)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    insert.execute(params![
        tx.now,
        action.as_str(),
        profile.version,
        profile.purpose,
        profile.org_id,
        profile.domain_id,
        by,
        detail
    ])?;
    Ok(())
}
