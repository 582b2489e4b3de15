//! Rows of tenants: a role that is not the owner has those of its tenant.

use super::{LONG, claimed_run, owner, request, run, step, store};
use agents_needs::postgres::Database;
use agents_store::{
    Answer, ApprovalFilter, AuditFilter, Begin, Commit, Decision, ErrorKind, NewNotification,
    NewRun, NewText, NewTriage, PostgresStore, Risk, RunFilter, Store, Subscription, TriageStatus,
};
use deadpool_postgres::{
    Manager, Pool,
    tokio_postgres::{Client, Config, NoTls},
};

const TABLES: [&str; 10] = [
    "agent_runs",
    "agent_run_commits",
    "agent_run_texts",
    "agent_conversations",
    "agent_approvals",
    "agent_tool_executions",
    "agent_audit_events",
    "agent_notifications",
    "agent_letters",
    "agent_triages",
];

/// Stores a run of the tenant, with a row in each table.
async fn work(store: &PostgresStore, tenant: &str) {
    let new = NewRun {
        conversation: Some("talk".to_owned()),
        ..run(&format!("run-{tenant}"), tenant)
    };
    let lease = claimed_run(store, &new).await;
    let commit = Commit {
        asked: vec![request(&format!("r-{tenant}"))],
        began: vec![Begin {
            id: format!("e-{tenant}"),
            call_id: "call-1".to_owned(),
            attempt: 1,
            agent_name: "payer".to_owned(),
            tool_name: "pay".to_owned(),
            version: "1.0.0".to_owned(),
            input: Vec::new(),
            args_digest: "digest".to_owned(),
            risk_level: Risk::Low,
            needs: None,
        }],
        texts: vec![NewText {
            number: 1,
            contents: Vec::new(),
            keep: LONG,
        }],
        ..step("a", 0)
    };
    store.commit(&lease, &commit).await.unwrap();
    let subscription = Subscription {
        subscriber: "invoices".to_owned(),
        notification: "shipped".to_owned(),
    };
    store.subscribe(&[subscription]).await.unwrap();
    let notification = NewNotification {
        id: format!("n-{tenant}"),
        tenant: tenant.to_owned(),
        name: "shipped".to_owned(),
        ..NewNotification::default()
    };
    store.publish(&notification).await.unwrap();
    let triage = NewTriage {
        cluster: "c1".to_owned(),
        tenant: tenant.to_owned(),
        status: TriageStatus::Wait,
        by: "ada".to_owned(),
        notes: Vec::new(),
    };
    store.triage(&triage).await.unwrap();
}

/// Makes a role that may read, and decide, as the store's page has it; returns its settings.
async fn role(database: &Database, owner: &Client, setting: &str) -> Config {
    let role = format!("{}_role", database.name());
    let tables = TABLES.join(", ");
    owner
        .batch_execute(&format!(
            "CREATE ROLE {role} LOGIN PASSWORD 'secret'; {}
             GRANT SELECT ON {tables}, agent_schema_history TO {role};
             GRANT SELECT ON agent_audit_key, agent_manifests, agent_modes, agent_platform TO {role};
             GRANT UPDATE ON agent_runs, agent_approvals TO {role};
             GRANT INSERT ON agent_audit_events TO {role}",
            setting.replace("NAME", &role),
        ))
        .await
        .unwrap();
    let mut config: Config = database.address().parse().unwrap();
    config.user(role).password("secret");
    config
}

async fn remove(database: &Database, owner: &Client) {
    let role = format!("{}_role", database.name());
    let sql = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    owner.batch_execute(&sql).await.unwrap();
}

#[tokio::test]
async fn s5_11_a_role_sees_the_rows_of_its_tenant_alone() {
    let Some((database, store)) = store().await else {
        return;
    };
    work(&store, "acme").await;
    work(&store, "other").await;
    work(&store, "").await;
    let owner = owner(&database).await;
    let setting = "ALTER ROLE NAME SET agents.tenant = 'acme';";
    let config = role(&database, &owner, setting).await;
    let (client, connection) = config.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    let count = async |client: &Client, table: &str| {
        // A run has several events in its audit trail.
        let what = match table {
            "agent_audit_events" => "DISTINCT nullif(run, 0)",
            _ => "*",
        };
        let sql = format!("SELECT count({what}) FROM {table}");
        client.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0)
    };
    for table in TABLES {
        assert_eq!(count(&owner, table).await, 3, "{table} as the owner");
        assert_eq!(count(&client, table).await, 1, "{table} as the role");
    }
    let changed = "UPDATE agent_approvals SET status = 'approved' WHERE tenant_id <> 'acme'";
    assert_eq!(client.execute(changed, &[]).await.unwrap(), 0);
    let stolen = "UPDATE agent_runs SET tenant_id = 'other'";
    assert!(client.execute(stolen, &[]).await.is_err());

    // The store itself works under the role.
    let pool = Pool::builder(Manager::new(config, NoTls)).build().unwrap();
    let own = PostgresStore::of(pool).await.unwrap();
    let runs = own.runs(&RunFilter::default()).await.unwrap();
    let ids: Vec<_> = runs.iter().map(|run| &*run.id).collect();
    assert_eq!(ids, ["run-acme"]);
    assert_eq!(own.run("run-other").await.unwrap(), None);
    assert!(own.commits("run-other", 0).await.unwrap().is_empty());
    let all = own.approvals(&ApprovalFilter::default()).await.unwrap();
    assert_eq!(all.len(), 1);
    let no = |id: &str| Decision {
        id: id.to_owned(),
        tenant: None,
        by: "grace".to_owned(),
        answer: Answer::Deny("no".to_owned()),
        proof: Vec::new(),
    };
    let trail = own.audit(&AuditFilter::default()).await.unwrap();
    assert!(!trail.is_empty() && trail.iter().all(|event| event.tenant_id == "acme"));
    let foreign = own.decide(&no("r-other")).await.unwrap_err();
    assert_eq!(foreign.kind(), ErrorKind::NotFound);
    own.decide(&no("r-acme")).await.unwrap();
    let refused = own.create(&super::run("run-2", "acme")).await.unwrap_err();
    assert!(
        refused.to_string().contains("connect as the owner"),
        "{refused}"
    );
    remove(&database, &owner).await;
}

#[tokio::test]
async fn s5_11_a_role_without_a_tenant_sees_nothing() {
    let Some((database, store)) = store().await else {
        return;
    };
    work(&store, "acme").await;
    work(&store, "").await;
    let owner = owner(&database).await;
    let config = role(&database, &owner, "").await;
    let (client, connection) = config.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    for sql in [
        "SELECT 1",
        "BEGIN; SET LOCAL agents.tenant = 'acme'; COMMIT",
    ] {
        client.batch_execute(sql).await.unwrap();
        for table in TABLES {
            let sql = format!("SELECT 1 FROM {table}");
            assert!(client.query(&sql, &[]).await.unwrap().is_empty(), "{table}");
        }
    }
    remove(&database, &owner).await;
}

#[tokio::test]
async fn l15_a_tenant_reads_its_own_usage_and_no_other() {
    use agents_store::{
        BudgetKey, ControlStore, Hold, NewProfile, Settlement, UsageBy, UsageFilter,
    };

    let Some((database, store)) = store().await else {
        return;
    };
    for org in ["acme", "other"] {
        let hold = Hold {
            id: format!("call-{org}"),
            key: BudgetKey {
                org_id: org.to_owned(),
                domain_id: String::new(),
                purpose: "scoring".to_owned(),
            },
            amount_nanos: Some(10),
            cap_nanos: Some(100),
            expires_in: LONG,
            ..Hold::default()
        };
        store.hold(&hold).await.unwrap();
        let settlement = Settlement {
            id: hold.id,
            cost_nanos: Some(7),
            outcome: "answered".to_owned(),
            ..Settlement::default()
        };
        store.settle_hold(&settlement).await.unwrap();
    }
    for org in ["", "acme", "other"] {
        let new = NewProfile {
            purpose: "scoring".to_owned(),
            org_id: org.to_owned(),
            by: "ada".to_owned(),
            ..NewProfile::default()
        };
        store.activate_profile(&new).await.unwrap();
    }
    let owner = owner(&database).await;
    let config = role(
        &database,
        &owner,
        "ALTER ROLE NAME SET agents.tenant = 'acme';",
    )
    .await;
    let role = format!("{}_role", database.name());
    let tables = "llm_usage, llm_usage_daily, llm_budget_state, llm_profiles, llm_profile_changes";
    let grant = format!("GRANT SELECT ON {tables} TO {role}");
    owner.batch_execute(&grant).await.unwrap();
    let pool = Pool::builder(Manager::new(config, NoTls)).build().unwrap();
    let tenant = PostgresStore::of(pool).await.unwrap();
    let all = UsageFilter::default();
    let ids = |rows: Vec<agents_store::UsageRow>| rows.into_iter().map(|row| row.id);
    let own: Vec<_> = ids(tenant.usage(&all).await.unwrap()).collect();
    assert_eq!(own, ["call-acme"]);
    assert_eq!(tenant.usage_daily(&all).await.unwrap().len(), 1);
    assert_eq!(
        tenant.usage_sums(&all, UsageBy::Org).await.unwrap().len(),
        1
    );
    let (_, profiles) = tenant.active_profiles().await.unwrap();
    let orgs: Vec<_> = profiles.iter().map(|row| &*row.org_id).collect();
    assert_eq!(orgs, ["", "acme"], "its own, and the one of all");
    // Operators have the sums of all.
    assert_eq!(store.usage_sums(&all, UsageBy::Org).await.unwrap().len(), 2);
    drop(tenant);
    remove(&database, &owner).await;
}
