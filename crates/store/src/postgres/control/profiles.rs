//! Rows of profiles, and of their changes.

use crate::{
    NewProfile, ProfileAction, ProfileChange, StoreError, StoredProfile, Timestamp,
    control::check_replaced,
    postgres::{
        connections::{Params, Transaction, number, row, rows, signed},
        row::{text, time, time_if_any, word},
    },
    wording,
};
use deadpool_postgres::{GenericClient, tokio_postgres::Row};

fn read(row: &Row) -> Result<StoredProfile, StoreError> {
    Ok(StoredProfile {
        version: number(row, "version")?,
        purpose: row.try_get("purpose")?,
        org_id: row.try_get("org_id")?,
        domain_id: row.try_get("domain_id")?,
        profile: row.try_get("profile")?,
        created_by: row.try_get("created_by")?,
        activated_at: time(row, "activated_at")?,
        deactivated_at: time_if_any(row, "deactivated_at")?,
    })
}

pub(super) async fn changed(db: &impl GenericClient) -> Result<u64, StoreError> {
    let sql = "SELECT coalesce(max(number), 0) FROM llm_profile_changes WHERE action <> 'refused'";
    let found = row(db, sql, &[]).await?;
    found.map_or(Ok(0), |row| number(&row, 0))
}

pub(super) async fn active(db: &impl GenericClient) -> Result<Vec<StoredProfile>, StoreError> {
    let sql = "SELECT * FROM llm_profiles WHERE deactivated_at IS NULL ORDER BY version";
    rows(db, sql, &[]).await?.iter().map(read).collect()
}

pub(super) async fn versions(
    db: &impl GenericClient,
    purpose: &str,
) -> Result<Vec<StoredProfile>, StoreError> {
    let sql = "SELECT * FROM llm_profiles WHERE purpose = $1 ORDER BY version";
    rows(db, sql, &[&purpose]).await?.iter().map(read).collect()
}

pub(super) async fn find(
    db: &impl GenericClient,
    version: u64,
) -> Result<Option<StoredProfile>, StoreError> {
    let sql = "SELECT * FROM llm_profiles WHERE version = $1";
    let found = row(db, sql, &[&signed(version)]).await?;
    found.map(|row| read(&row)).transpose()
}

pub(super) async fn activate(
    db: &Transaction<'_>,
    new: &NewProfile,
) -> Result<StoredProfile, StoreError> {
    let new = &NewProfile {
        purpose: text(&new.purpose).into_owned(),
        org_id: text(&new.org_id).into_owned(),
        domain_id: text(&new.domain_id).into_owned(),
        profile: text(&new.profile).into_owned(),
        by: text(&new.by).into_owned(),
        replaces: new.replaces,
    };
    let now = one_at_a_time(db).await?;
    let before = end_activity(db, now, &new.purpose, &new.org_id, &new.domain_id).await?;
    check_replaced(new.replaces, before)?;
    let sql =
        "INSERT INTO llm_profiles (purpose, org_id, domain_id, profile, created_by, activated_at)
         VALUES ($1, $2, $3, $4, $5, $6) RETURNING *";
    let at = signed(now);
    let values: Params<'_> = &[
        &new.purpose,
        &new.org_id,
        &new.domain_id,
        &new.profile,
        &new.by,
        &at,
    ];
    let stored = db.row(sql, values).await?;
    let stored = stored.ok_or_else(|| wording::no_profile(0))?;
    let stored = read(&stored)?;
    let action = ProfileAction::Activated;
    add_change(db, now, action, &stored, &new.by, &new.profile).await?;
    Ok(stored)
}

pub(super) async fn reactivate(
    db: &Transaction<'_>,
    version: u64,
    by: &str,
    replaces: Option<u64>,
) -> Result<StoredProfile, StoreError> {
    let now = one_at_a_time(db).await?;
    let wanted = known(db, version).await?;
    let before = end_activity(db, now, &wanted.purpose, &wanted.org_id, &wanted.domain_id).await?;
    check_replaced(replaces, before)?;
    let sql = "UPDATE llm_profiles SET activated_at = $2, deactivated_at = NULL WHERE version = $1";
    db.execute(sql, &[&signed(version), &signed(now)]).await?;
    let stored = known(db, version).await?;
    let action = ProfileAction::RolledBack;
    add_change(db, now, action, &stored, by, &stored.profile).await?;
    Ok(stored)
}

pub(super) async fn deactivate(
    db: &Transaction<'_>,
    version: u64,
    by: &str,
    replaces: Option<u64>,
) -> Result<StoredProfile, StoreError> {
    let now = one_at_a_time(db).await?;
    let wanted = known(db, version).await?;
    check_replaced(replaces, active_of(db, &wanted).await?)?;
    let sql =
        "UPDATE llm_profiles SET deactivated_at = $2 WHERE version = $1 AND deactivated_at IS NULL";
    let ended = db.execute(sql, &[&signed(version), &signed(now)]).await?;
    let stored = known(db, version).await?;
    if ended > 0 {
        let action = ProfileAction::Deactivated;
        add_change(db, now, action, &stored, by, &stored.profile).await?;
    }
    Ok(stored)
}

pub(super) async fn refuse(
    db: &Transaction<'_>,
    new: &NewProfile,
    why: &str,
) -> Result<(), StoreError> {
    let now = one_at_a_time(db).await?;
    let refused = StoredProfile {
        version: 0,
        purpose: text(&new.purpose).into_owned(),
        org_id: text(&new.org_id).into_owned(),
        domain_id: text(&new.domain_id).into_owned(),
        profile: String::new(),
        created_by: String::new(),
        activated_at: Timestamp::from_millis(now),
        deactivated_at: None,
    };
    add_change(db, now, ProfileAction::Refused, &refused, &new.by, why).await
}

pub(super) async fn changes(
    db: &impl GenericClient,
    after: u64,
) -> Result<Vec<ProfileChange>, StoreError> {
    let sql = "SELECT * FROM llm_profile_changes WHERE number > $1 ORDER BY number";
    let found = rows(db, sql, &[&signed(after)]).await?;
    let read = |row: &Row| {
        Ok(ProfileChange {
            number: number(row, "number")?,
            at: time(row, "at")?,
            action: word(row, "action", ProfileAction::read)?,
            version: number(row, "version")?,
            purpose: row.try_get("purpose")?,
            org_id: row.try_get("org_id")?,
            domain_id: row.try_get("domain_id")?,
            by: row.try_get("by_id")?,
            detail: row.try_get("detail")?,
        })
    };
    found.iter().map(read).collect()
}

/// Lets one transaction at a time change model profiles: waits for the others, and returns the time in milliseconds.
/// Numbers of changes thus become visible in their order, and whoever reads them misses none.
async fn one_at_a_time(db: &Transaction<'_>) -> Result<u64, StoreError> {
    db.execute(
        "LOCK TABLE llm_profile_changes IN SHARE ROW EXCLUSIVE MODE",
        &[],
    )
    .await?;
    db.now().await
}

/// Deactivates the active profile of a tier and purpose, and returns its version; `None` if none was active.
async fn end_activity(
    db: &Transaction<'_>,
    now: u64,
    purpose: &str,
    org_id: &str,
    domain_id: &str,
) -> Result<Option<u64>, StoreError> {
    let sql = "UPDATE llm_profiles SET deactivated_at = $4
         WHERE purpose = $1 AND org_id = $2 AND domain_id = $3 AND deactivated_at IS NULL RETURNING version";
    let values: Params<'_> = &[&purpose, &org_id, &domain_id, &signed(now)];
    let ended = db.row(sql, values).await?;
    ended.map(|row| number(&row, 0)).transpose()
}

/// Returns the version that is active in the same tier and for the same purpose as a profile; `None` if none is.
async fn active_of(db: &Transaction<'_>, of: &StoredProfile) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT version FROM llm_profiles
         WHERE purpose = $1 AND org_id = $2 AND domain_id = $3 AND deactivated_at IS NULL";
    let values: Params<'_> = &[&of.purpose, &of.org_id, &of.domain_id];
    let found = db.row(sql, values).await?;
    found.map(|row| number(&row, 0)).transpose()
}

async fn known(db: &Transaction<'_>, version: u64) -> Result<StoredProfile, StoreError> {
    let found = find(&db.db, version).await?;
    found.ok_or_else(|| wording::no_profile(version))
}

async fn add_change(
    db: &Transaction<'_>,
    now: u64,
    action: ProfileAction,
    profile: &StoredProfile,
    by: &str,
    detail: &str,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO llm_profile_changes (at, action, version, purpose, org_id, domain_id, by_id, detail)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let (at, version) = (signed(now), signed(profile.version));
    let action = action.as_str();
    let (by, detail) = (text(by), text(detail));
    let values: Params<'_> = &[
        &at,
        &action,
        &version,
        &profile.purpose,
        &profile.org_id,
        &profile.domain_id,
        &by,
        &detail,
    ];
    db.execute(sql, values).await.map(drop)
}
