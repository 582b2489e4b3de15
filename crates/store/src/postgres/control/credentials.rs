//! Credentials, and leases on them.

use crate::{
    CredentialAnswer, CredentialKey, CredentialLease, StoreError, StoredCredential,
    columns::millis,
    postgres::{
        connections::{Transaction, number, rows, signed},
        row::text,
    },
};
use deadpool_postgres::GenericClient;
use std::time::Duration;

pub(super) async fn find(
    db: &impl GenericClient,
    key: &CredentialKey,
) -> Result<Option<StoredCredential>, StoreError> {
    let sql = "SELECT version, data_key, contents FROM llm_credentials
        WHERE org_id = $1 AND domain_id = $2 AND name = $3";
    let [org, domain, name] = texts(key);
    let found = rows(db, sql, &[&org, &domain, &name]).await?;
    let Some(row) = found.first() else {
        return Ok(None);
    };
    Ok(Some(StoredCredential {
        version: row.try_get("version")?,
        data_key: row.try_get("data_key")?,
        contents: row.try_get("contents")?,
    }))
}

pub(super) async fn put(
    db: &Transaction<'_>,
    key: &CredentialKey,
    new: &StoredCredential,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO llm_credentials (org_id, domain_id, name, version, data_key, contents)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (org_id, domain_id, name)
        DO UPDATE SET version = $4, data_key = $5, contents = $6, holder = '', held_until = 0";
    let [org, domain, name] = texts(key);
    let version = text(&new.version);
    db.execute(
        sql,
        &[&org, &domain, &name, &version, &new.data_key, &new.contents],
    )
    .await?;
    Ok(())
}

pub(super) async fn remove(db: &Transaction<'_>, key: &CredentialKey) -> Result<bool, StoreError> {
    let sql = "DELETE FROM llm_credentials WHERE org_id = $1 AND domain_id = $2 AND name = $3";
    let [org, domain, name] = texts(key);
    Ok(db.execute(sql, &[&org, &domain, &name]).await? > 0)
}

pub(super) async fn lease(
    db: &Transaction<'_>,
    key: &CredentialKey,
    lease: &CredentialLease,
) -> Result<CredentialAnswer, StoreError> {
    let now = db.now().await?;
    let [org, domain, name] = texts(key);
    let (version, holder) = (text(&lease.version), text(&lease.holder));
    let (until, at) = (signed(now + millis(lease.time)), signed(now));
    let guarded = "UPDATE llm_credentials SET holder = $5, held_until = $6
        WHERE org_id = $1 AND domain_id = $2 AND name = $3 AND version = $4 AND held_until <= $7";
    let taken = db
        .execute(
            guarded,
            &[&org, &domain, &name, &version, &holder, &until, &at],
        )
        .await?;
    if taken > 0 {
        return Ok(CredentialAnswer::Leased);
    }
    let sql = "SELECT held_until FROM llm_credentials
        WHERE org_id = $1 AND domain_id = $2 AND name = $3 AND version = $4";
    let found = db.rows(sql, &[&org, &domain, &name, &version]).await?;
    let Some(row) = found.first() else {
        return Ok(CredentialAnswer::Changed);
    };
    let left = number(row, "held_until")?.saturating_sub(now);
    Ok(CredentialAnswer::Taken {
        wait: Duration::from_millis(left),
    })
}

pub(super) async fn renew(
    db: &Transaction<'_>,
    key: &CredentialKey,
    before: &str,
    new: &StoredCredential,
) -> Result<bool, StoreError> {
    let sql = "UPDATE llm_credentials
        SET version = $5, data_key = $6, contents = $7, holder = '', held_until = 0
        WHERE org_id = $1 AND domain_id = $2 AND name = $3 AND version = $4";
    let [org, domain, name] = texts(key);
    let (before, version) = (text(before), text(&new.version));
    let renewed = db
        .execute(
            sql,
            &[
                &org,
                &domain,
                &name,
                &before,
                &version,
                &new.data_key,
                &new.contents,
            ],
        )
        .await?;
    Ok(renewed > 0)
}

pub(super) async fn release(
    db: &Transaction<'_>,
    key: &CredentialKey,
    holder: &str,
) -> Result<(), StoreError> {
    let sql = "UPDATE llm_credentials SET holder = '', held_until = 0
        WHERE org_id = $1 AND domain_id = $2 AND name = $3 AND holder = $4";
    let [org, domain, name] = texts(key);
    db.execute(sql, &[&org, &domain, &name, &text(holder)])
        .await?;
    Ok(())
}

fn texts(key: &CredentialKey) -> [std::borrow::Cow<'_, str>; 3] {
    [text(&key.org_id), text(&key.domain_id), text(&key.name)]
}
