//! Erasure: the contents of a run go, and its audit trail stays.

use super::{
    audit::{append, append_to_platform},
    connections::Transaction,
    conversations, letters,
    row::lock,
    runs::known,
    triages,
};
use crate::{
    AuditKind, RunStatus, StoreError,
    trail::{About, PEOPLE, of_run, people_of_platform},
    wording,
};

pub(super) async fn erase(db: &Transaction<'_>, run: &str, by: &str) -> Result<(), StoreError> {
    lock(db, run).await?;
    let stored = known(&db.db, run).await?;
    if stored.status != RunStatus::Done {
        return Err(wording::not_over(run, stored.status));
    }
    let now = db.now().await?;
    append(db, now, run, AuditKind::Erased, About::by(Some(by))).await?;
    conversations::erase(db, now, run).await?;
    for text in [
        "DELETE FROM agent_run_texts WHERE run_id = $1",
        "DELETE FROM agent_run_commits WHERE run = (SELECT number FROM agent_runs WHERE id = $1)",
        "UPDATE agent_runs SET data = '', data_key = '', key = NULL, labels = '{}' WHERE id = $1",
        "UPDATE agent_approvals SET args_summary = '', effect_description = '', note = NULL, detail = '', edited = NULL
         WHERE run_id = $1",
        "UPDATE agent_tool_executions SET input = '', output = NULL, error = NULL, settled_proof = NULL
         WHERE run = (SELECT number FROM agent_runs WHERE id = $1)",
    ] {
        db.execute(text, &[&run]).await?;
    }
    for (table, id, column) in PEOPLE {
        let own = of_run(id, "$1");
        let select =
            format!("SELECT DISTINCT {column} FROM {table} WHERE {own} AND {column} IS NOT NULL");
        let update = format!("UPDATE {table} SET {column} = $3 WHERE {own} AND {column} = $2");
        for row in db.rows(&select, &[&run]).await? {
            let name: String = row.try_get(0)?;
            let pseudonym = db.key.pseudonym(&stored.tenant, &name);
            db.execute(&update, &[&run, &name, &pseudonym]).await?;
        }
    }
    Ok(())
}

pub(super) async fn erase_tenant(
    db: &Transaction<'_>,
    tenant: &str,
    by: &str,
) -> Result<(), StoreError> {
    let now = db.now().await?;
    let about = About::by(Some(by));
    append_to_platform(db, now, Some(tenant), AuditKind::Erased, about).await?;
    let credentials = "DELETE FROM llm_credentials WHERE org_id = $1";
    db.execute(credentials, &[&tenant]).await?;
    letters::erase_tenant(db, tenant).await?;
    triages::erase_tenant(db, tenant).await?;
    let (select, update) = people_of_platform('$');
    for row in db.rows(&select, &[&tenant]).await? {
        let name: String = row.try_get(0)?;
        let pseudonym = db.key.pseudonym(tenant, &name);
        db.execute(&update, &[&tenant, &name, &pseudonym]).await?;
    }
    Ok(())
}
