//! Rows of conversations.

use super::{
    connections::{Params, Transaction, row, signed},
    row::time,
};
use crate::{Conversation, NewRun, Run, StoreError, wording};
use deadpool_postgres::{GenericClient, tokio_postgres::Row};

/// SQL condition of a run that need not wait for an earlier one of its conversation; the run's row is `this`. Runs that
/// are not over become over, and never the other way round, so that what a claim has seen earlier is no less strict.
pub(super) const IS_NEXT: &str = "(this.conversation IS NULL OR NOT EXISTS (
    SELECT 1 FROM agent_runs AS earlier
    WHERE earlier.tenant_id = this.tenant_id AND earlier.conversation = this.conversation
      AND earlier.status <> 'done' AND earlier.number < this.number))";

fn read(row: &Row) -> Result<Conversation, StoreError> {
    let contents: Option<Vec<u8>> = row.try_get("contents")?;
    Ok(Conversation {
        tenant: row.try_get("tenant_id")?,
        id: row.try_get("id")?,
        agent: row.try_get("agent_name")?,
        run: row.try_get("run_id")?,
        contents: contents.unwrap_or_default(),
        created_at: time(row, "created_at")?,
        updated_at: time(row, "updated_at")?,
    })
}

pub(super) async fn find(
    db: &impl GenericClient,
    tenant: &str,
    id: &str,
) -> Result<Option<Conversation>, StoreError> {
    let sql = "SELECT tenant_id, id, agent_name, run_id, contents, created_at, updated_at FROM agent_conversations
         WHERE tenant_id = $1 AND id = $2";
    let found = row(db, sql, &[&tenant, &id]).await?;
    found.as_ref().map(read).transpose()
}

/// Creates the conversation of a run that is about to be stored, or notes that it gets a new run. A conversation with
/// another agent is an error. The row of the conversation is locked until the transaction ends: so the runs of a
/// conversation are stored in the order of their numbers.
pub(super) async fn add(db: &Transaction<'_>, now: u64, run: &NewRun) -> Result<(), StoreError> {
    let Some(id) = &run.conversation else {
        return Ok(());
    };
    let sql = "INSERT INTO agent_conversations (tenant_id, id, agent_name, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $4)
         ON CONFLICT (tenant_id, id) DO UPDATE SET updated_at = excluded.updated_at
         RETURNING agent_name";
    let values: Params<'_> = &[&run.tenant, id, &run.agent, &signed(now)];
    let Some(opened) = db.row(sql, values).await? else {
        return Ok(());
    };
    let agent: &str = opened.try_get(0)?;
    match *agent == run.agent {
        true => Ok(()),
        false => Err(wording::conversation_of_another(id, agent)),
    }
}

/// Stores the messages of a conversation as this run leaves them.
pub(super) async fn leave(
    db: &Transaction<'_>,
    now: u64,
    run: &Run,
    contents: &[u8],
) -> Result<(), StoreError> {
    let sql = "UPDATE agent_conversations SET run_id = $3, contents = $4, updated_at = $5
         WHERE tenant_id = $1 AND id = $2";
    let values: Params<'_> = &[
        &run.tenant,
        &run.conversation,
        &run.id,
        &contents,
        &signed(now),
    ];
    match db.execute(sql, values).await? {
        0 => Err(wording::no_conversation_of(&run.id)),
        _ => Ok(()),
    }
}

/// Removes the messages that a run has stored in its conversation, because the key that encrypts them is destroyed.
pub(super) async fn erase(db: &Transaction<'_>, now: u64, run: &str) -> Result<(), StoreError> {
    let sql = "UPDATE agent_conversations SET run_id = NULL, contents = NULL, updated_at = $2 WHERE run_id = $1";
    db.execute(sql, &[&run, &signed(now)]).await.map(drop)
}
