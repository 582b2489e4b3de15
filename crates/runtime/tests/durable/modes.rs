//! Modes: which calls run without a question.

use crate::office::*;
use agents::{
    AgentBuilder, Effects, Error,
    policy::confirm_writes,
    run::ApprovalReason,
    testing::{Script, ScriptedModel},
    tool::{FnTool, NeedsApproval, Risk, ToolSpec},
};
use agents_runtime::{
    Approval, AuditKind, Mode, Principal, Runtime, RuntimeErrorKind, SqliteStore,
};
use agents_store::{ApprovalFilter, ApprovalStatus, AuditFilter};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Returns a tool that notes that it ran.
fn tool(ran: &Ran, name: &'static str, set: impl FnOnce(ToolSpec) -> ToolSpec) -> FnTool {
    let spec = ToolSpec::new(name, "Does it.", Effects::Writes, json!({"type": "object"}));
    let ran = ran.clone();
    FnTool::with_spec(set(spec), move |_: Value, _| {
        ran.lock().unwrap().push(json!(name));
        async { Ok::<_, Error>("done") }
    })
}

/// Names of all tools of the clerk, in the order of the calls.
const ALL: [&str; 6] = ["note", "update", "mail", "wipe", "fax", "read"];

/// Returns a runtime under which every tool that writes needs approval, and a clerk who calls each of its tools once.
fn clerk(runtime: Runtime, ran: &Ran) -> (Runtime, agents_runtime::AgentRef<String, String>) {
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.results().is_empty() {
        true => Script::calls(ALL.map(|name| (name, "{}".to_owned()))),
        false => Script::text("All is done."),
    });
    let runtime = runtime.model(model).policy(confirm_writes());
    let agent = AgentBuilder::<String, String>::new("clerk")
        .prompt("Do it.")
        .tool(tool(ran, "note", |spec| spec.risk(Risk::Low)))
        .tool(tool(ran, "update", |spec| spec))
        .tool(tool(ran, "mail", ToolSpec::external))
        .tool(tool(ran, "wipe", |spec| {
            spec.risk(Risk::Low).approval(NeedsApproval::Always)
        }))
        .tool(tool(ran, "fax", |spec| {
            spec.external().irreversible("a fax cannot be unsent")
        }))
        .tool({
            let read = ToolSpec::new("read", "Reads.", Effects::Reads, json!({"type": "object"}));
            FnTool::with_spec(read, |_: Value, _| async { Ok::<_, Error>("read") })
        })
        .build();
    let clerk = runtime.agent(agent);
    (runtime, clerk)
}

#[tokio::test(flavor = "multi_thread")]
async fn a10_each_mode_skips_the_questions_that_it_says_and_no_others() {
    let cases: [(Mode, &[&str]); 6] = [
        (Mode::Ask, &[]),
        (Mode::UpTo(Risk::Low), &["note"]),
        (Mode::UpTo(Risk::Medium), &["note", "update"]),
        (Mode::UpTo(Risk::High), &["note", "update", "mail"]),
        (Mode::ExternalOnly, &["note", "update"]),
        (Mode::Off, &["note", "update", "mail"]),
    ];
    on_each_store("modes", async |runtime, _| {
        let ran = Ran::default();
        let (runtime, clerk) = clerk(runtime, &ran);
        let _worker = Worker::start(&runtime);
        let modes = runtime.modes();
        for (mode, skipped) in cases {
            modes.set(None, mode, &Principal::operator()).await.unwrap();
            ran.lock().unwrap().clear();
            let start = clerk.run("Do it.").scope("acme").by(&ada());
            let run = start.start().await.unwrap();
            let open = asked(&run, 5 - skipped.len()).await;
            let names = |values: Vec<Value>| {
                let names = values
                    .into_iter()
                    .map(|value| value.as_str().unwrap().to_owned());
                names.collect::<BTreeSet<_>>()
            };
            let expected: BTreeSet<_> = skipped.iter().map(|name| (*name).to_owned()).collect();
            // A call that runs without a question does not wait for the others.
            while names(ran.lock().unwrap().clone()) != expected {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
            // Whatever ran without a question has a request that says by which policy.
            let filter = ApprovalFilter {
                run: Some(run.id().to_owned()),
                ..ApprovalFilter::default()
            };
            let all = runtime
                .approvals()
                .list(&filter, &Principal::operator())
                .await
                .unwrap();
            assert_eq!(all.len(), 5, "{mode}");
            let by = format!("policy:{mode}");
            for request in &all {
                let is_skipped = skipped.contains(&&*request.tool_name);
                assert!(
                    request.reasons.contains(&ApprovalReason::Policy),
                    "{request:?}"
                );
                assert_eq!(open.contains(request), !is_skipped, "{mode}: {request:?}");
                if is_skipped {
                    assert_eq!(request.status, ApprovalStatus::Consumed);
                    assert_eq!(request.decided_by.as_deref(), Some(&*by));
                }
            }
            let approvals = runtime.approvals();
            let ids = open.iter().map(|request| &request.id);
            for decided in approvals
                .decide_all(ids, &Approval::Approve, &grace())
                .await
            {
                decided.unwrap();
            }
            let outcome = done(&run).await;
            for receipt in outcome.outputs.receipts().filter(|one| one.name != "read") {
                let by_mode = receipt.attempts[0].approved_by.as_ref() == Some(&by);
                assert_eq!(by_mode, skipped.contains(&&*receipt.name), "{mode}");
            }
            // The trail tells of each skipped question as of any other.
            let filter = AuditFilter {
                run: Some(run.id().to_owned()),
                ..AuditFilter::default()
            };
            let trail = runtime.audit().events(&filter).await.unwrap();
            let told = |kind: AuditKind, by: Option<&str>| {
                let of_kind = trail.iter().filter(|event| event.kind == kind);
                of_kind
                    .filter(|event| by.is_none() || event.actor.as_deref() == by)
                    .count()
            };
            assert_eq!(told(AuditKind::Requested, None), 5);
            assert_eq!(told(AuditKind::Approved, Some(&by)), skipped.len());
            assert_eq!(told(AuditKind::Began, Some(&by)), skipped.len());
            assert_eq!(told(AuditKind::Approved, Some("grace")), open.len());
        }
        let verdict = runtime.audit().verify().await.unwrap();
        assert!(verdict.is_intact(), "{verdict}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a10_a_tenants_own_mode_goes_before_that_of_all_and_workers_of_other_processes_see_it() {
    let files = Files::new("modes-of-tenants");
    let ran = Ran::default();
    let store = SqliteStore::open(files.db()).await.unwrap();
    let (runtime, clerk) = clerk(Runtime::open(store), &ran);
    let _worker = Worker::start(&runtime);
    // Another process has a connection of its own, and no agents.
    let client = Runtime::client(SqliteStore::open(files.db()).await.unwrap());
    let (modes, operator) = (client.modes(), Principal::operator());
    modes.set(None, Mode::Off, &operator).await.unwrap();
    modes
        .set(Some("acme"), Mode::UpTo(Risk::Low), &operator)
        .await
        .unwrap();
    let open = async |tenant: &str, many: usize| {
        let run = clerk.run("Do it.").scope(tenant).start().await.unwrap();
        asked(&run, many).await
    };
    open("acme", 4).await;
    let earlier = open("beta", 2).await;
    modes.remove(Some("acme"), &operator).await.unwrap();
    open("acme", 2).await;
    modes.remove(None, &operator).await.unwrap();
    open("acme", 5).await;
    // A question that was asked before stays open.
    modes.set(None, Mode::Off, &operator).await.unwrap();
    for request in earlier {
        let found = ApprovalFilter {
            run: Some(request.run_id.clone()),
            status: Some(ApprovalStatus::Pending),
            ..ApprovalFilter::default()
        };
        let found = client
            .approvals()
            .list(&found, &Principal::operator())
            .await
            .unwrap();
        assert!(found.iter().any(|one| one.id == request.id));
    }
    let listed = modes.list(&operator).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (listed[0].mode, &listed[0].tenant_id, &*listed[0].set_by),
        (Mode::Off, &None, "operator")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a10_modes_belong_to_operators_and_each_change_and_refusal_is_audited() {
    on_each_store("operators", async |runtime, _| {
        let (modes, operator) = (runtime.modes(), Principal::operator());
        let admin = Principal::new("ada", "acme").role("operator").role("admin");
        let refused = [
            modes.set(Some("acme"), Mode::Off, &admin).await,
            modes.set(None, Mode::Off, &admin).await,
            modes.remove(Some("acme"), &admin).await,
            modes.list(&admin).await.map(drop),
        ];
        for refused in refused {
            assert_eq!(refused.unwrap_err().kind(), RuntimeErrorKind::Forbidden);
        }
        let of_all = modes.set(Some("*"), Mode::Off, &operator).await;
        assert_eq!(of_all.unwrap_err().kind(), RuntimeErrorKind::Invalid);
        modes.set(Some("acme"), Mode::Off, &operator).await.unwrap();
        modes.remove(Some("acme"), &operator).await.unwrap();
        assert!(modes.list(&operator).await.unwrap().is_empty());
        let audit = runtime.audit();
        let trail = audit.events(&AuditFilter::default()).await.unwrap();
        let told: Vec<_> = trail
            .iter()
            .map(|event| {
                let (actor, subject) = (event.actor.as_deref(), event.subject.as_deref());
                assert_eq!((&*event.run_id, &*event.tenant_id), ("platform", "acme"));
                (event.kind, actor.unwrap(), subject)
            })
            .collect();
        let no = AuditKind::Refused;
        let expected = [
            (no, "ada", Some("off")),
            (no, "ada", Some("off")),
            (no, "ada", None),
            (no, "ada", None),
            (AuditKind::Mode, "operator", Some("off")),
            (AuditKind::Mode, "operator", None),
        ];
        assert_eq!(told, expected);
        let heads = audit.heads().await.unwrap();
        assert_eq!((&*heads[0].run_id, heads[0].events), ("platform", 6));
        let verdict = audit.verify_from(&heads).await.unwrap();
        assert!(verdict.is_intact() && verdict.events == 6, "{verdict}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a10_a_mode_that_was_written_by_hand_counts_for_nothing() {
    let proof = "zeroblob(32)";
    for (name, sql, flaw) in [
        (
            "inserted",
            format!("INSERT INTO agent_modes VALUES ('acme', 'off', 'operator', 1, 1, {proof})"),
            "row acme of agent_modes was inserted by hand",
        ),
        (
            "loosened",
            "UPDATE agent_modes SET mode = 'off'".to_owned(),
            "row * of agent_modes was edited",
        ),
        (
            "moved",
            "UPDATE agent_modes SET tenant_id = 'acme', mode = 'off'".to_owned(),
            "of agent_modes was",
        ),
    ] {
        let files = Files::new(&format!("modes-{name}"));
        let ran = Ran::default();
        let store = SqliteStore::open(files.db()).await.unwrap();
        let (runtime, clerk) = clerk(Runtime::open(store), &ran);
        let (modes, operator) = (runtime.modes(), Principal::operator());
        modes.set(None, Mode::Ask, &operator).await.unwrap();
        files.sql(&sql);
        let _worker = Worker::start(&runtime);
        let run = clerk.run("Do it.").scope("acme").start().await.unwrap();
        asked(&run, 5).await;
        assert!(ran.lock().unwrap().is_empty(), "{name}");
        let filter = AuditFilter {
            run: Some(run.id().to_owned()),
            ..AuditFilter::default()
        };
        let trail = runtime.audit().events(&filter).await.unwrap();
        let refused = trail.iter().find(|event| event.kind == AuditKind::Refused);
        let why = refused.unwrap().reason.clone().unwrap();
        assert!(why.contains("was altered by hand"), "{name}: {why}");
        let error = modes.list(&operator).await.unwrap_err();
        assert_eq!(error.kind(), RuntimeErrorKind::Sealed, "{name}");
        let verdict = runtime.audit().verify().await.unwrap().to_string();
        assert!(verdict.contains(flaw), "{name}: {verdict}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a10_the_trail_of_modes_cannot_be_changed_unnoticed() {
    for (name, sql, flaw) in [
        (
            "edited",
            "UPDATE agent_audit_events SET actor = 'eve' WHERE run = 0 AND seq = 1",
            "row 1 of agent_audit_events was edited",
        ),
        (
            "removed",
            "DELETE FROM agent_audit_events WHERE run = 0 AND seq = 1",
            "row 1 of agent_audit_events was removed",
        ),
        (
            "row-gone",
            "DELETE FROM agent_modes",
            "row * of agent_modes was removed",
        ),
    ] {
        let files = Files::new(&format!("modes-{name}"));
        let modes = Runtime::client(SqliteStore::open(files.db()).await.unwrap()).modes();
        for mode in [Mode::Off, Mode::Ask] {
            modes.set(None, mode, &Principal::operator()).await.unwrap();
        }
        files.sql(sql);
        let verdict = files.audit().await.verify().await.unwrap().to_string();
        assert!(verdict.contains(flaw), "{name}: {verdict}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a10_an_earlier_mode_that_was_put_back_is_noticed_with_heads() {
    let files = Files::new("modes-put-back");
    let modes = Runtime::client(SqliteStore::open(files.db()).await.unwrap()).modes();
    let operator = Principal::operator();
    modes.set(None, Mode::Off, &operator).await.unwrap();
    for table in ["agent_modes", "agent_platform"] {
        files.sql(&format!(
            "CREATE TABLE old_{table} AS SELECT * FROM {table}"
        ));
    }
    modes.set(None, Mode::Ask, &operator).await.unwrap();
    let heads = files.audit().await.heads().await.unwrap();
    files.sql("DELETE FROM agent_audit_events WHERE run = 0 AND seq = 2");
    for table in ["agent_modes", "agent_platform"] {
        files.sql(&format!("DELETE FROM {table}"));
        files.sql(&format!("INSERT INTO {table} SELECT * FROM old_{table}"));
    }
    let audit = files.audit().await;
    let verdict = audit.verify().await.unwrap().to_string();
    assert!(verdict.contains("not compared with heads"), "{verdict}");
    let verdict = audit.verify_from(&heads).await.unwrap().to_string();
    let flaw = "run platform: row 2 of agent_audit_events was removed since its head was kept";
    assert!(verdict.contains(flaw), "{verdict}");
}
