//! Rows of conversations.

use super::{Tx, row::time};
use crate::{Conversation, NewRun, Run, StoreError, wording};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// SQL condition of a run that need not wait for an earlier one of its conversation; the run's row is `this`.
pub(super) const IS_NEXT: &str = "(this.conversation IS NULL OR NOT EXISTS (
    SELECT 1 FROM agent_runs AS earlier
    WHERE earlier.tenant_id = this.tenant_id AND earlier.conversation = this.conversation
      AND earlier.status <> 'done' AND earlier.number < this.number))";

fn read(row: &Row<'_>) -> rusqlite::Result<Conversation> {
    let contents: Option<Vec<u8>> = row.get("contents")?;
    Ok(Conversation {
        tenant: row.get("tenant_id")?,
        id: row.get("id")?,
        agent: row.get("agent_name")?,
        run: row.get("run_id")?,
        contents: contents.unwrap_or_default(),
        created_at: time(row, "created_at")?,
        updated_at: time(row, "updated_at")?,
    })
}

pub(super) fn find(
    db: &Connection,
    tenant: &str,
    id: &str,
) -> Result<Option<Conversation>, StoreError> {
    let mut found = db.prepare_cached(
        "SELECT tenant_id, id, agent_name, run_id, contents, created_at, updated_at FROM agent_conversations
         WHERE tenant_id = ?1 AND id = ?2",
    )?;
    Ok(found.query_row([tenant, id], read).optional()?)
}

/// Creates the conversation of a run that is about to be stored, or notes that it gets a new run. A conversation with
/// another agent is an error.
pub(super) fn add(tx: &Tx<'_>, run: &NewRun) -> Result<(), StoreError> {
    let Some(id) = &run.conversation else {
        return Ok(());
    };
    let mut opened = tx.prepare_cached(
        "INSERT INTO agent_conversations (tenant_id, id, agent_name, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)
         ON CONFLICT (tenant_id, id) DO UPDATE SET updated_at = excluded.updated_at
         RETURNING agent_name",
    )?;
    let values = params![run.tenant, id, run.agent, tx.now];
    let agent: String = opened.query_row(values, |row| row.get(0))?;
    match agent == run.agent {
        true => Ok(()),
        false => Err(wording::conversation_of_another(id, &agent)),
    }
}

/// Stores the messages of a conversation as this run leaves them.
pub(super) fn leave(tx: &Tx<'_>, run: &Run, contents: &[u8]) -> Result<(), StoreError> {
    let mut left = tx.prepare_cached(
        "UPDATE agent_conversations SET run_id = ?3, contents = ?4, updated_at = ?5 WHERE tenant_id = ?1 AND id = ?2",
    )?;
    let values = params![run.tenant, run.conversation, run.id, contents, tx.now];
    match left.execute(values)? {
        0 => Err(wording::no_conversation_of(&run.id)),
        _ => Ok(()),
    }
}

/// Removes the messages that a run has stored in its conversation, because the key that encrypts them is destroyed.
pub(super) fn erase(tx: &Tx<'_>, run: &str) -> Result<(), StoreError> {
    let mut erased = tx.prepare_cached(
        "UPDATE agent_conversations SET run_id = NULL, contents = NULL, updated_at = ?2 WHERE run_id = ?1",
    )?;
    erased.execute(params![run, tx.now])?;
    Ok(())
}
