//! The PostgreSQL store: the conformance suite, and what only a server can do.
//!
//! The tests use the server that `AGENTS_TEST_POSTGRES` names, or start one of their own from Debian's packages.
//! Without either they are skipped, or fail: see `agents_needs`.

#![cfg(unix)]
// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

#[path = "shared/disk.rs"]
mod disk;
#[path = "postgres/faults.rs"]
mod faults;
#[path = "postgres/fleets.rs"]
mod fleets;
#[path = "postgres/tenants.rs"]
mod tenants;

use agents_needs::postgres::{Database, Server};
use agents_store::{
    AuditFilter, BudgetKey, Claim, Commit, ControlStore, ErrorKind, Hold, Lease, NewApproval,
    NewProfile, NewRun, PostgresStore, Risk, RunFilter, RunStatus, Settlement, Store, StoreError,
    Timestamp, UsageFilter,
    conformance::{CASES, CONTROL_CASES},
};
use deadpool_postgres::{
    Manager, Pool,
    tokio_postgres::{self, Client, NoTls},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

const LONG: Duration = Duration::from_secs(60);

/// Returns an empty database and a store in it; `None` if there is no server.
async fn store() -> Option<(Database, PostgresStore)> {
    let database = Server::shared()?.database().await;
    let store = PostgresStore::connect(database.address()).await.unwrap();
    Some((database, store))
}

/// Returns a connection of the owner.
async fn owner(database: &Database) -> Client {
    let connected = tokio_postgres::connect(database.address(), NoTls).await;
    let (client, connection) = connected.unwrap();
    tokio::spawn(connection);
    client
}

fn run(id: &str, tenant: &str) -> NewRun {
    NewRun {
        id: id.to_owned(),
        tenant: tenant.to_owned(),
        agent: "payer".to_owned(),
        ..NewRun::default()
    }
}

fn claim(worker: &str) -> Claim {
    Claim {
        worker: worker.to_owned(),
        agents: vec!["payer".to_owned()],
        run: None,
        time: LONG,
        per_tenant: 0,
        most_claims: 3,
        alone: true,
    }
}

/// Stores a run, and claims it.
async fn claimed(store: &PostgresStore, id: &str, tenant: &str) -> Lease {
    claimed_run(store, &run(id, tenant)).await
}

async fn claimed_run(store: &PostgresStore, new: &NewRun) -> Lease {
    store.create(new).await.unwrap();
    let wanted = Claim {
        run: Some(new.id.clone()),
        ..claim("w")
    };
    store.claim(&wanted).await.unwrap().unwrap()
}

fn step(id: &str, after: u64) -> Commit {
    Commit {
        id: id.to_owned(),
        after,
        last: after + 1,
        entries: id.as_bytes().to_vec(),
        ..Commit::default()
    }
}

fn request(id: &str) -> NewApproval {
    NewApproval {
        id: id.to_owned(),
        request: id.to_owned(),
        place: "payer".to_owned(),
        agent_name: "payer".to_owned(),
        tool_name: "pay".to_owned(),
        version: "1.0.0".to_owned(),
        args_summary: "cents 100".to_owned(),
        effect_description: "Pays.".to_owned(),
        risk_level: Risk::High,
        user_id: None,
        args_digest: "digest".to_owned(),
        expires_after: LONG,
        detail: b"detail".to_vec(),
        reasons: None,
        follows: None,
        by_mode: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_in_a_database_keeps_all_promises() {
    let Some((database, _)) = store().await else {
        return;
    };
    let owner = owner(&database).await;
    for case in CASES {
        println!("{}", case.name);
        // A new database for each case would take most of the time.
        owner
            .batch_execute(
                "TRUNCATE agent_runs, agent_audit_events, agent_audit_key, agent_modes, agent_manifests, agent_webhooks, agent_deliveries,
                     agent_subscriptions, agent_notifications, agent_letters, agent_triages RESTART IDENTITY CASCADE;
                 UPDATE agent_platform SET audit_seq = 0, audit_digest = ''",
            )
            .await
            .unwrap();
        let store = PostgresStore::connect(database.address()).await.unwrap();
        case.check(Arc::new(store)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_with_one_connection_keeps_its_promises_to_many() {
    let Some(server) = Server::shared() else {
        return;
    };
    let cases = CASES.iter().filter(|case| case.name.contains("of_many"));
    assert_eq!(cases.clone().count(), 5);
    for case in cases {
        let database = server.database().await;
        let manager = Manager::new(database.address().parse().unwrap(), NoTls);
        let pool = Pool::builder(manager).max_size(1).build().unwrap();
        case.check(Arc::new(PostgresStore::of(pool).await.unwrap()))
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_processes_may_create_the_tables_at_once() {
    let Some(server) = Server::shared() else {
        return;
    };
    let database = server.database().await;
    let opening: Vec<_> = (0..8)
        .map(|_| {
            let address = database.address().to_owned();
            tokio::spawn(async move { PostgresStore::connect(&address).await })
        })
        .collect();
    for opened in opening {
        let store = opened.await.unwrap().unwrap();
        store.runs(&Default::default()).await.unwrap();
    }
}

#[tokio::test]
async fn a_store_of_the_seventh_version_is_brought_up_to_date() {
    let Some(server) = Server::shared() else {
        return;
    };
    let database = server.database().await;
    let frozen = include_str!("frozen/v7.postgres.sql");
    owner(&database).await.batch_execute(frozen).await.unwrap();
    let store = PostgresStore::connect(database.address()).await.unwrap();
    let runs = store.runs(&RunFilter::default()).await.unwrap();
    let states: Vec<_> = runs.iter().map(|run| (run.last_seq, run.status)).collect();
    assert_eq!(states, [(22, RunStatus::Running), (79, RunStatus::Done)]);
    for run in &runs {
        let commits = store.commits(&run.id, 0).await.unwrap();
        assert_eq!(commits.last().unwrap().last, run.last_seq);
        let own = AuditFilter {
            run: Some(run.id.clone()),
            ..AuditFilter::default()
        };
        let trail = store.audit(&own).await.unwrap();
        assert!(trail.iter().map(|event| event.seq).eq(1..=run.audit_seq));
        assert_eq!(trail.last().unwrap().digest, run.audit_digest);
    }
}

#[tokio::test]
async fn l11_a_counter_that_is_lost_is_made_anew_from_the_log() {
    let Some((database, store)) = store().await else {
        return;
    };
    for (id, org) in [("1", "acme"), ("2", "acme"), ("3", "globex")] {
        let hold = Hold {
            id: id.to_owned(),
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
            input_tokens: 3,
            outcome: "answered".to_owned(),
            ..Settlement::default()
        };
        store.settle_hold(&settlement).await.unwrap();
    }
    let sums = async || {
        let days = store.usage_daily(&UsageFilter::default()).await.unwrap();
        (store.budgets(None).await.unwrap(), days)
    };
    let before = sums().await;
    assert_eq!(before.0.len(), 2);
    let lost = "DELETE FROM llm_budget_state; DELETE FROM llm_usage_daily";
    owner(&database).await.batch_execute(lost).await.unwrap();
    assert_eq!(sums().await, (vec![], vec![]));
    store.rebuild_budgets().await.unwrap();
    assert_eq!(sums().await, before);
}

#[tokio::test]
async fn a_store_of_a_later_version_is_refused() {
    let Some((database, _)) = store().await else {
        return;
    };
    owner(&database)
        .await
        .batch_execute("INSERT INTO agent_schema_history (version, name, applied_on, checksum) VALUES (99, 'later', '', '0')")
        .await
        .unwrap();
    let error = PostgresStore::connect(database.address()).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Newer);
    assert!(error.to_string().contains("version 99"), "{error}");
}

#[tokio::test]
async fn a_clock_that_goes_back_does_not_bring_a_lease_back() {
    let Some((_database, store)) = store().await else {
        return;
    };
    let now = Arc::new(AtomicU64::new(10_000_000));
    let clock = now.clone();
    let store = store.clock(move || Timestamp::from_millis(clock.load(SeqCst)));
    claimed(&store, "run-1", "").await;
    now.fetch_add(61_000, SeqCst);
    assert!(store.now().await.unwrap().as_millis() > 10_060_000);
    now.fetch_sub(3_600_000, SeqCst);
    assert!(store.claim(&claim("w2")).await.unwrap().is_some());
}

#[tokio::test]
async fn times_are_those_of_the_server() {
    let Some((database, store)) = store().await else {
        return;
    };
    let owner = owner(&database).await;
    let clock = async || {
        let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        let row = owner.query_one(sql, &[]).await.unwrap();
        u64::try_from(row.get::<_, i64>(0)).unwrap()
    };
    let before = clock().await;
    let run = store.create(&run("run-1", "")).await.unwrap();
    let now = store.now().await.unwrap().as_millis();
    let after = clock().await;
    assert!(before - 1 <= run.created_at.as_millis() && run.created_at.as_millis() <= now);
    assert!(now <= after + 1);
}

#[tokio::test]
async fn u1_executions_have_their_columns_and_are_found_by_an_index() {
    let Some((database, store)) = store().await else {
        return;
    };
    let owner = owner(&database).await;
    let sql = "SELECT column_name::text FROM information_schema.columns WHERE table_name = 'agent_tool_executions'";
    let rows = owner.query(sql, &[]).await.unwrap();
    let columns: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    for column in [
        "id",
        "tenant_id",
        "agent_name",
        "tool_name",
        "input",
        "output",
        "approved",
        "approved_by",
        "risk_level",
        "executed_at",
        "duration_ms",
        "error",
        "run_id",
        "call_id",
        "version",
        "rolled_back",
        "rolled_back_at",
    ] {
        assert!(
            columns.iter().any(|other| other == column),
            "{column} in {columns:?}"
        );
    }
    store.create(&run("run-1", "acme")).await.unwrap();
    // The rows are many and evenly spread, so that the planner has no better way than an index.
    owner
        .batch_execute(
            "INSERT INTO agent_tool_executions
                 (id, tenant_id, run_id, call_id, attempt, agent_name, tool_name, version, input, risk_level, executed_at)
             SELECT n::text, 't' || n % 100, 'run-1', 'call', 1, 'payer', 'tool' || n % 100, '1.0.0', '', 'low', n
                 FROM generate_series(1, 20000) AS n;
             ANALYZE agent_tool_executions",
        )
        .await
        .unwrap();
    for (column, index) in [
        ("tenant_id = 't7'", "idx_tool_executions_tenant"),
        ("tool_name = 'tool7'", "idx_tool_executions_tool"),
    ] {
        let sql = format!(
            "EXPLAIN SELECT id FROM agent_tool_executions WHERE {column} ORDER BY executed_at DESC LIMIT 50"
        );
        let plan = owner.query(&sql, &[]).await.unwrap();
        let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
        let plan = plan.join("\n");
        assert!(plan.contains(index) && !plan.contains("Seq Scan"), "{plan}");
    }
}

/// A worker renews its leases from a thread that knows no sockets, while tools keep all other threads busy.
#[test]
fn a_lease_is_renewed_from_a_thread_of_its_own_while_all_others_are_busy() {
    let program = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let Some((_database, store, lease)) = program.block_on(async {
        let (database, store) = store().await?;
        let lease = claimed(&store, "run-1", "").await;
        Some((database, store, lease))
    }) else {
        return;
    };
    // Nobody drives the program's runtime now.
    let renewing = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let renewed = store.renew(&lease, LONG);
            tokio::time::timeout(LONG, renewed).await
        })
    });
    renewing.join().unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn texts_for_people_may_have_any_character() {
    let Some((_database, store)) = store().await else {
        return;
    };
    let lease = claimed(&store, "run-1", "").await;
    let commit = Commit {
        asked: vec![NewApproval {
            args_summary: "a\0b \u{1f980}".to_owned(),
            ..request("r1")
        }],
        ..step("a", 0)
    };
    store.commit(&lease, &commit).await.unwrap();
    let found = store.approval("r1").await.unwrap().unwrap();
    assert_eq!(found.args_summary, "a\u{fffd}b \u{1f980}");
    // A name is never changed into another one.
    let refused = store.create(&run("run-2", "acme\0")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Failed);
}

/// Waits until a statement of the store waits for a lock, and does this with its server process.
async fn with_waiting(owner: &Client, what: &str) {
    let sql = format!(
        "SELECT {what}(pid) FROM pg_stat_activity
         WHERE application_name = 'agents' AND wait_event_type = 'Lock' AND datname = current_database()"
    );
    // A transaction sees what it saw first, until it is told to look again.
    let look = "SELECT pg_stat_clear_snapshot()";
    while owner.query(&sql, &[]).await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
        owner.batch_execute(look).await.unwrap();
    }
}

#[track_caller]
fn may_pass<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    let error = result.expect_err("this fails");
    assert!(error.may_pass(), "{error}");
}

#[tokio::test]
async fn a_change_of_a_profile_with_an_unknown_action_is_not_taken_for_a_refusal() {
    let Some((database, store)) = store().await else {
        return;
    };
    store
        .refuse_profile(&NewProfile::default(), "no")
        .await
        .unwrap();
    assert_eq!(store.profile_changes(0).await.unwrap().len(), 1);
    let unknown = "UPDATE llm_profile_changes SET action = 'approved'";
    owner(&database).await.batch_execute(unknown).await.unwrap();
    let error = store.profile_changes(0).await.unwrap_err();
    assert!(error.to_string().contains("`approved`"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_keeps_the_promises_to_a_control_plane() {
    for case in CONTROL_CASES {
        let Some((_database, store)) = store().await else {
            return;
        };
        println!("{}", case.name);
        case.check(Arc::new(store)).await;
    }
}
