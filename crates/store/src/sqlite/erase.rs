//! Erasure: the contents of a run go, and its audit trail stays.

use super::{
    Tx,
    audit::{append, append_to_platform},
    conversations, letters,
    runs::known,
    triages,
};
use crate::{
    AuditKind, RunStatus, StoreError,
    trail::{About, PEOPLE, of_run, people_of_platform},
    wording,
};
use rusqlite::params;

pub(super) fn erase(tx: &Tx<'_>, run: &str, by: &str) -> Result<(), StoreError> {
    let stored = known(tx, run)?;
    if stored.status != RunStatus::Done {
        return Err(wording::not_over(run, stored.status));
    }
    append(tx, run, AuditKind::Erased, About::by(Some(by)))?;
    conversations::erase(tx, run)?;
    for text in [
        "DELETE FROM agent_run_texts WHERE run_id = ?1",
        "DELETE FROM agent_run_commits WHERE run = (SELECT number FROM agent_runs WHERE id = ?1)",
        "UPDATE agent_runs SET data = x'', data_key = x'', key = NULL, labels = '{}' WHERE id = ?1",
        "UPDATE agent_approvals SET args_summary = '', effect_description = '', note = NULL, detail = x'', edited = NULL
         WHERE run_id = ?1",
        "UPDATE agent_tool_executions SET input = x'', output = NULL, error = NULL, settled_proof = NULL
         WHERE run = (SELECT number FROM agent_runs WHERE id = ?1)",
    ] {
        tx.execute(text, [run])?;
    }
    for (table, id, column) in PEOPLE {
        let own = of_run(id, "?1");
        let select =
            format!("SELECT DISTINCT {column} FROM {table} WHERE {own} AND {column} IS NOT NULL");
        let mut names = tx.prepare_cached(&select)?;
        let names: Vec<String> = names
            .query_map([run], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let update = format!("UPDATE {table} SET {column} = ?3 WHERE {own} AND {column} = ?2");
        for name in names {
            let pseudonym = tx.key.pseudonym(&stored.tenant, &name);
            tx.execute(&update, params![run, name, pseudonym])?;
        }
    }
    Ok(())
}

pub(super) fn erase_tenant(tx: &Tx<'_>, tenant: &str, by: &str) -> Result<(), StoreError> {
    append_to_platform(tx, Some(tenant), AuditKind::Erased, About::by(Some(by)))?;
    tx.execute("DELETE FROM llm_credentials WHERE org_id = ?1", [tenant])?;
    letters::erase_tenant(tx, tenant)?;
    triages::erase_tenant(tx, tenant)?;
    let (select, update) = people_of_platform('?');
    let mut names = tx.prepare_cached(&select)?;
    let names: Vec<String> = names
        .query_map([tenant], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for name in names {
        let pseudonym = tx.key.pseudonym(tenant, &name);
        tx.execute(&update, params![tenant, name, pseudonym])?;
    }
    Ok(())
}
