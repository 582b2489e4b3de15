//! Circuits that are open.

use crate::{
    StoreError,
    columns::millis,
    postgres::{
        Clock,
        connections::{self, Params, Transaction, number, rows, signed},
        row::text,
    },
};
use deadpool_postgres::GenericClient;
use std::time::Duration;

pub(super) async fn list(
    db: &impl GenericClient,
    clock: &Clock,
) -> Result<Vec<(String, Duration)>, StoreError> {
    let now = connections::now(db, clock).await?;
    let found = rows(db, "SELECT name, until FROM llm_circuits", &[]).await?;
    let read = |row: &_| {
        let left = number(row, "until")?.saturating_sub(now);
        let name = deadpool_postgres::tokio_postgres::Row::try_get(row, "name")?;
        Ok((name, Duration::from_millis(left)))
    };
    found.iter().map(read).collect()
}

pub(super) async fn fail(
    db: &Transaction<'_>,
    name: &str,
    failures: u32,
    time: Duration,
) -> Result<bool, StoreError> {
    let (name, until) = (text(name), signed(db.now().await? + millis(time)));
    // Whether the last requests have failed, and that the circuit opens, is one statement.
    let guarded = "INSERT INTO llm_circuits (name, until)
         SELECT $1::text, $2::bigint WHERE $3::bigint <= (
             SELECT count(*) FILTER (WHERE failed) FROM (
                 SELECT failed FROM llm_usage WHERE circuit = $1 AND failed IS NOT NULL
                 ORDER BY number DESC LIMIT $3) AS last)
         ON CONFLICT DO NOTHING";
    let values: Params<'_> = &[&name, &until, &i64::from(failures)];
    Ok(db.execute(guarded, values).await? > 0)
}

pub(super) async fn open(
    db: &Transaction<'_>,
    name: &str,
    time: Duration,
) -> Result<bool, StoreError> {
    let (name, until) = (text(name), signed(db.now().await? + millis(time)));
    let values: Params<'_> = &[&name, &until];
    let insert = "INSERT INTO llm_circuits (name, until) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    if db.execute(insert, values).await? > 0 {
        return Ok(true);
    }
    let update = "UPDATE llm_circuits SET until = $2 WHERE name = $1";
    db.execute(update, values).await?;
    Ok(false)
}

pub(super) async fn probe(
    db: &Transaction<'_>,
    name: &str,
    time: Duration,
) -> Result<bool, StoreError> {
    let now = db.now().await?;
    let (name, at, until) = (text(name), signed(now), signed(now + millis(time)));
    let guarded = "UPDATE llm_circuits SET until = $3 WHERE name = $1 AND until <= $2";
    Ok(db.execute(guarded, &[&name, &at, &until]).await? > 0)
}

pub(super) async fn close(db: &Transaction<'_>, name: &str) -> Result<bool, StoreError> {
    let sql = "DELETE FROM llm_circuits WHERE name = $1";
    Ok(db.execute(sql, &[&text(name)]).await? > 0)
}
