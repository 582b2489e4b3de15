//! The tables, and their version.

use super::{
    connections::{Connections, row},
    wording,
};
use crate::{ErrorKind, StoreError};
use deadpool_postgres::{Object, tokio_postgres::Client};

mod embedded {
    refinery::embed_migrations!("migrations/postgres");
}

/// Name of the table that records which migrations were applied. A program may have migrations of its own in the same
/// database.
const VERSIONS: &str = "agent_schema_history";

/// Key of the advisory lock under which tables are changed.
const LOCK: i64 = 0x6167_656e_7473; // "agents"

/// Brings the tables up to date. If several processes start together, one of them does it and the others wait.
pub(super) async fn migrate(connections: &Connections) -> Result<(), StoreError> {
    if connections.read(|db| Box::pin(is_up_to_date(db))).await? {
        return Ok(());
    }
    // The lock ends with its connection, also if this process ends in the middle.
    connections.once(|db| Box::pin(migrate_alone(db))).await
}

async fn migrate_alone(db: &mut Object) -> Result<(), StoreError> {
    db.batch_execute("SET lock_timeout = '60s'; SET synchronous_commit = 'on'")
        .await?;
    db.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).await?;
    if is_up_to_date(db).await? {
        return Ok(());
    }
    has_all_text(db).await?;
    let client: &mut Client = db;
    // In one transaction: a process that ends in the middle leaves nothing behind.
    let mut runner = embedded::migrations::runner().set_grouped(true);
    let migrated = runner.set_migration_table_name(VERSIONS).run_async(client);
    migrated
        .await
        .map(drop)
        .map_err(|error| crate::wording::not_migrated(ErrorKind::Failed, &error))
}

/// Returns an error for a database whose encoding cannot store every text.
async fn has_all_text(db: &Object) -> Result<(), StoreError> {
    let found = db.query_one("SHOW server_encoding", &[]).await?;
    let encoding: String = found.try_get(0)?;
    match &*encoding {
        "UTF8" => Ok(()),
        _ => Err(wording::not_utf8(&encoding)),
    }
}

/// Returns `true` if the tables have the layout of this version of the crate. Tables of a later version are refused.
async fn is_up_to_date(db: &Object) -> Result<bool, StoreError> {
    let runner = embedded::migrations::runner();
    let known = runner.get_migrations().iter();
    let known = known.map(refinery::Migration::version).max();
    let sql = "SELECT 1 WHERE to_regclass($1) IS NOT NULL";
    if row(db, sql, &[&VERSIONS]).await?.is_none() {
        return Ok(false);
    }
    let sql = format!("SELECT max(version) FROM {VERSIONS}");
    let found: Option<i32> = db.query_one(&sql, &[]).await?.try_get(0)?;
    match found.filter(|found| Some(*found) > known) {
        Some(found) => {
            let known = known.unwrap_or(0);
            Err(crate::wording::newer(found, known))
        }
        None => Ok(found == known),
    }
}
