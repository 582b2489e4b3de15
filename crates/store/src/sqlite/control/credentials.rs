//! Credentials, and leases on them.

use crate::{
    CredentialAnswer, CredentialKey, CredentialLease, StoreError, StoredCredential,
    columns::millis, sqlite::Tx,
};
use rusqlite::{Connection, OptionalExtension, params};
use std::time::Duration;

pub(super) fn find(
    db: &Connection,
    key: &CredentialKey,
) -> Result<Option<StoredCredential>, StoreError> {
    let CredentialKey {
        org_id,
        domain_id,
        name,
    } = key;
    let mut select = db.prepare_cached(
        "SELECT version, data_key, contents FROM llm_credentials
         WHERE org_id = ?1 AND domain_id = ?2 AND name = ?3",
    )?;
    let found = select.query_row(params![org_id, domain_id, name], |row| {
        Ok(StoredCredential {
            version: row.get(0)?,
            data_key: row.get(1)?,
            contents: row.get(2)?,
        })
    });
    Ok(found.optional()?)
}

pub(super) fn put(
    tx: &Tx<'_>,
    key: &CredentialKey,
    new: &StoredCredential,
) -> Result<(), StoreError> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO llm_credentials (org_id, domain_id, name, version, data_key, contents)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO UPDATE SET version = ?4, data_key = ?5, contents = ?6, holder = '', held_until = 0",
    )?;
    insert.execute(params![
        key.org_id,
        key.domain_id,
        key.name,
        new.version,
        new.data_key,
        new.contents
    ])?;
    Ok(())
}

pub(super) fn remove(tx: &Tx<'_>, key: &CredentialKey) -> Result<bool, StoreError> {
    let mut delete = tx.prepare_cached(
        "DELETE FROM llm_credentials WHERE org_id = ?1 AND domain_id = ?2 AND name = ?3",
    )?;
    Ok(delete.execute(params![key.org_id, key.domain_id, key.name])? > 0)
}

pub(super) fn lease(
    tx: &Tx<'_>,
    key: &CredentialKey,
    lease: &CredentialLease,
) -> Result<CredentialAnswer, StoreError> {
    let mut guarded = tx.prepare_cached(
        "UPDATE llm_credentials SET holder = ?5, held_until = ?6
         WHERE org_id = ?1 AND domain_id = ?2 AND name = ?3 AND version = ?4 AND held_until <= ?7",
    )?;
    let taken = guarded.execute(params![
        key.org_id,
        key.domain_id,
        key.name,
        lease.version,
        lease.holder,
        tx.now + millis(lease.time),
        tx.now
    ])?;
    if taken > 0 {
        return Ok(CredentialAnswer::Leased);
    }
    let mut select = tx.prepare_cached(
        "SELECT max(held_until - ?5, 0) FROM llm_credentials
         WHERE org_id = ?1 AND domain_id = ?2 AND name = ?3 AND version = ?4",
    )?;
    let of = params![key.org_id, key.domain_id, key.name, lease.version, tx.now];
    let left: Option<u64> = select.query_row(of, |row| row.get(0)).optional()?;
    Ok(
        left.map_or(CredentialAnswer::Changed, |left| CredentialAnswer::Taken {
            wait: Duration::from_millis(left),
        }),
    )
}

pub(super) fn renew(
    tx: &Tx<'_>,
    key: &CredentialKey,
    before: &str,
    new: &StoredCredential,
) -> Result<bool, StoreError> {
    let mut update = tx.prepare_cached(
        "UPDATE llm_credentials SET version = ?5, data_key = ?6, contents = ?7, holder = '', held_until = 0
         WHERE org_id = ?1 AND domain_id = ?2 AND name = ?3 AND version = ?4",
    )?;
    let renewed = update.execute(params![
        key.org_id,
        key.domain_id,
        key.name,
        before,
        new.version,
        new.data_key,
        new.contents
    ])?;
    Ok(renewed > 0)
}

pub(super) fn release(tx: &Tx<'_>, key: &CredentialKey, holder: &str) -> Result<(), StoreError> {
    let mut update = tx.prepare_cached(
        "UPDATE llm_credentials SET holder = '', held_until = 0
         WHERE org_id = ?1 AND domain_id = ?2 AND name = ?3 AND holder = ?4",
    )?;
    update.execute(params![key.org_id, key.domain_id, key.name, holder])?;
    Ok(())
}
