//! Undo: gated, journaled, audited, once.

use crate::office::*;
use agents::{
    AgentBuilder, Effects, Error,
    secret::SecretStore,
    testing::{Script, ScriptedModel},
    tool::{FnTool, NeedsApproval, ToolContext, ToolSpec, conflict, undone},
};
use agents_runtime::{
    AgentRef, Approval, AuditKind, ExecutionState, Finding, Principal, RunRef, Runtime,
    RuntimeErrorKind, SqliteStore, UndoOutcome,
};
use agents_store::{AuditFilter, ErrorKind as Kind, Execution, ExecutionFilter, Store};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

/// Status of each lead, and how the next undo behaves.
#[derive(Default)]
struct Crm {
    leads: BTreeMap<u64, String>,
    undone: Vec<u64>,
    /// Error that the next undos end with.
    fails: Option<&'static str>,
    /// Is `true` if the next undo never ends.
    hangs: bool,
    /// Number of undos that have not ended.
    hung: u32,
}

type Shared = Arc<Mutex<Crm>>;

fn set_status(crm: &Shared, version: &'static str, approval: NeedsApproval) -> FnTool {
    let schema = json!({
        "type": "object",
        "properties": {"lead": {"type": "integer"}, "status": {"type": "string"}},
        "required": ["lead", "status"],
    });
    let spec = ToolSpec::new("set_status", "Moves a lead.", Effects::Writes, schema)
        .version(version)
        .approval(approval);
    let (set, unset) = (crm.clone(), crm.clone());
    FnTool::with_spec(spec, move |args: Value, _| {
        let (lead, status) = (
            args["lead"].as_u64().unwrap(),
            args["status"].as_str().unwrap(),
        );
        let previous = set.lock().unwrap().leads.insert(lead, status.to_owned());
        async move { Ok::<_, Error>(json!({"previous": previous})) }
    })
    .undo(move |args: Value, output: Value, _| {
        let crm = unset.clone();
        async move {
            let hangs = {
                let mut crm = crm.lock().unwrap();
                crm.hung += u32::from(crm.hangs);
                crm.hangs
            };
            if hangs {
                std::future::pending::<()>().await;
            }
            let mut crm = crm.lock().unwrap();
            if let Some(why) = crm.fails {
                return Err(std::io::Error::other(why));
            }
            let (lead, status) = (
                args["lead"].as_u64().unwrap(),
                args["status"].as_str().unwrap(),
            );
            if crm.leads.get(&lead).map(String::as_str) != Some(status) {
                return Ok(conflict("the lead was changed since"));
            }
            match output["previous"].as_str() {
                Some(previous) => crm.leads.insert(lead, previous.to_owned()),
                None => crm.leads.remove(&lead),
            };
            crm.undone.push(lead);
            Ok(undone())
        }
    })
}

fn mail() -> FnTool {
    let schema = json!({"type": "object"});
    let spec = ToolSpec::new("send_mail", "Sends a mail.", Effects::Writes, schema)
        .irreversible("a mail cannot be unsent");
    FnTool::with_spec(spec, |_: Value, _| async { Ok::<_, Error>("sent") })
}

fn look() -> FnTool {
    let schema = json!({"type": "object"});
    FnTool::new(
        "look",
        "Looks.",
        Effects::Reads,
        schema,
        |_: Value, _| async { Ok::<_, Error>("seen") },
    )
}

struct Desk {
    runtime: Runtime,
    store: SqliteStore,
    clerk: AgentRef<String, String>,
    crm: Shared,
}

fn desk(
    store: SqliteStore,
    scripts: impl IntoIterator<Item = Script>,
    approval: NeedsApproval,
) -> Desk {
    desk_of(store, scripts, approval, "1.0.0", Shared::default())
}

fn desk_of(
    store: SqliteStore,
    scripts: impl IntoIterator<Item = Script>,
    approval: NeedsApproval,
    version: &'static str,
    crm: Shared,
) -> Desk {
    let (model, _) = ScriptedModel::new(scripts);
    let runtime = Runtime::open(store.clone())
        .model(model)
        .lease(Duration::from_millis(1_500));
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .tool(set_status(&crm, version, approval))
        .tool(mail())
        .tool(look())
        .build();
    let clerk = runtime.agent(clerk);
    Desk {
        runtime,
        store,
        clerk,
        crm,
    }
}

fn sets(lead: u64, status: &str) -> Script {
    Script::call(
        "set_status",
        json!({"lead": lead, "status": status}).to_string(),
    )
}

impl Desk {
    async fn over(&self) -> RunRef<String> {
        let start = self.clerk.run("Go.").scope("acme").by(&ada());
        let run = start.start().await.unwrap();
        let worker = Worker::start(&self.runtime);
        done(&run).await;
        worker.stop().await;
        run
    }

    /// Runs a call that Grace approves.
    async fn approved(&self) -> RunRef<String> {
        let start = self.clerk.run("Go.").scope("acme").by(&ada());
        let run = start.start().await.unwrap();
        let worker = Worker::start(&self.runtime);
        let request = waiting(&run).await.remove(0);
        let approvals = self.runtime.approvals();
        approvals
            .decide(&request.id, Approval::Approve, &grace())
            .await
            .unwrap();
        done(&run).await;
        worker.stop().await;
        run
    }

    async fn executions(&self, run: &RunRef<String>) -> Vec<Execution> {
        let filter = ExecutionFilter {
            run: Some(run.id().to_owned()),
            ..ExecutionFilter::default()
        };
        self.store.executions(&filter).await.unwrap()
    }

    async fn undo(&self, execution: &Execution) -> UndoOutcome {
        self.runtime.undo(&execution.id).by(&grace()).await.unwrap()
    }

    fn lead(&self, lead: u64) -> Option<String> {
        self.crm.lock().unwrap().leads.get(&lead).cloned()
    }

    async fn trail(&self, run: &RunRef<String>) -> Vec<AuditKind> {
        let filter = AuditFilter {
            run: Some(run.id().to_owned()),
            ..AuditFilter::default()
        };
        let events = self.runtime.audit().events(&filter).await.unwrap();
        events.iter().map(|event| event.kind).collect()
    }
}

async fn memory() -> SqliteStore {
    SqliteStore::in_memory().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn u3_an_execution_is_undone_once_and_audited() {
    let scripts = [sets(1, "won"), Script::text("Done.")];
    let desk = desk(memory().await, scripts, NeedsApproval::Never);
    desk.crm.lock().unwrap().leads.insert(1, "open".to_owned());
    let run = desk.over().await;
    assert_eq!(desk.lead(1).as_deref(), Some("won"));
    let ran = desk.executions(&run).await.remove(0);
    assert_eq!(desk.undo(&ran).await, UndoOutcome::Undone);
    assert_eq!(desk.lead(1).as_deref(), Some("open"));
    assert_eq!(desk.undo(&ran).await, UndoOutcome::AlreadyUndone);
    assert_eq!(desk.crm.lock().unwrap().undone, [1]);
    let ran = desk.executions(&run).await.remove(0);
    assert!(ran.rolled_back && ran.rolled_back_at.is_some());
    let trail = desk.trail(&run).await;
    assert!(
        trail.ends_with(&[AuditKind::UndoAsked, AuditKind::Undone]),
        "{trail:?}"
    );
    let verdict = desk.runtime.audit().verify().await.unwrap();
    assert!(verdict.is_intact(), "{verdict}");
}

#[tokio::test(flavor = "multi_thread")]
async fn people_see_what_may_be_undone() {
    let scripts = [
        sets(1, "won"),
        Script::call("send_mail", "{}"),
        Script::call("look", "{}"),
        Script::text("Done."),
    ];
    let desk = desk(memory().await, scripts, NeedsApproval::Never);
    let run = desk.over().await;
    let client = desk.runtime.as_client();
    let seen = async || {
        let seen = client.executions(run.id(), &grace()).await.unwrap();
        let told = seen.into_iter().map(|one| {
            let may_be_undone = one.may_be_undone();
            (one.tool_name, one.state, one.irreversible, may_be_undone)
        });
        told.collect::<Vec<_>>()
    };
    let row = |tool: &str, state, irreversible, may_be_undone| {
        (tool.to_owned(), state, Some(irreversible), may_be_undone)
    };
    let mail = row("send_mail", ExecutionState::Done, true, false);
    let look = row("look", ExecutionState::Done, false, false);
    let won = row("set_status", ExecutionState::Done, false, true);
    assert_eq!(seen().await, [won, mail.clone(), look.clone()]);
    let first = client.executions(run.id(), &grace()).await.unwrap();
    let summary = first[0].args_summary.as_deref();
    assert_eq!(summary, Some("lead: 1, status: won"));
    let ran = desk.executions(&run).await.remove(0);
    assert_eq!(desk.undo(&ran).await, UndoOutcome::Undone);
    let undone = row("set_status", ExecutionState::Undone, false, false);
    assert_eq!(seen().await, [undone, mail, look]);
    let eve = Principal::new("eve", "other");
    let error = client.executions(run.id(), &eve).await.unwrap_err();
    assert_eq!(error.kind(), RuntimeErrorKind::Store(Kind::NotFound));
}

#[tokio::test(flavor = "multi_thread")]
async fn s5_5_a_conflict_and_a_failure_change_nothing_and_may_be_tried_again() {
    let scripts = [sets(1, "won"), Script::text("Done.")];
    let desk = desk(memory().await, scripts, NeedsApproval::Never);
    let run = desk.over().await;
    let ran = desk.executions(&run).await.remove(0);
    desk.crm.lock().unwrap().leads.insert(1, "lost".to_owned());
    let conflict = UndoOutcome::Conflict {
        what: "the lead was changed since".to_owned(),
    };
    assert_eq!(desk.undo(&ran).await, conflict);
    assert_eq!(desk.lead(1).as_deref(), Some("lost"));
    assert!(!desk.executions(&run).await[0].rolled_back);
    {
        let mut crm = desk.crm.lock().unwrap();
        crm.leads.insert(1, "won".to_owned());
        crm.fails = Some("the CRM is away");
    }
    match desk.undo(&ran).await {
        UndoOutcome::Failed { error } => assert!(error.contains("the CRM is away"), "{error}"),
        other => panic!("{other}"),
    }
    desk.crm.lock().unwrap().fails = None;
    assert_eq!(desk.undo(&ran).await, UndoOutcome::Undone);
    assert_eq!(desk.lead(1), None);
    let trail = desk.trail(&run).await;
    let not = trail.iter().filter(|kind| **kind == AuditKind::NotUndone);
    assert_eq!(not.count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn u5_what_cannot_be_undone_says_why_and_the_attempt_is_audited() {
    let scripts = [
        Script::call("send_mail", "{}"),
        Script::call("look", "{}"),
        Script::text("Done."),
    ];
    let desk = desk(memory().await, scripts, NeedsApproval::Never);
    let run = desk.over().await;
    let ran = desk.executions(&run).await;
    let why = |why: &str| UndoOutcome::Irreversible {
        why: why.to_owned(),
    };
    assert_eq!(desk.undo(&ran[0]).await, why("a mail cannot be unsent"));
    assert_eq!(desk.undo(&ran[1]).await, why("`look` changes nothing"));
    assert!(
        desk.executions(&run)
            .await
            .iter()
            .all(|ran| !ran.rolled_back)
    );
    let trail = desk.trail(&run).await;
    assert!(trail.ends_with(&[
        AuditKind::UndoAsked,
        AuditKind::NotUndone,
        AuditKind::UndoAsked,
        AuditKind::NotUndone
    ]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_asks_if_the_calls_ask_and_whoever_wants_it_may_not_decide() {
    let scripts = [sets(1, "won"), Script::text("Done.")];
    let desk = desk(memory().await, scripts, NeedsApproval::Always);
    let run = desk.approved().await;
    let approvals = desk.runtime.approvals();
    let ran = desk.executions(&run).await.remove(0);
    let UndoOutcome::Pending(requests) = desk.undo(&ran).await else {
        panic!("it does not ask")
    };
    assert_eq!(requests[0].tool_name, "undo_set_status");
    let own = approvals
        .decide(&requests[0].id, Approval::Approve, &grace())
        .await;
    assert_eq!(own.unwrap_err().kind(), RuntimeErrorKind::Forbidden);
    let again = desk.undo(&ran).await;
    assert_eq!(
        again,
        UndoOutcome::Pending(requests.clone()),
        "the same request"
    );
    approvals
        .decide(&requests[0].id, Approval::Approve, &ada())
        .await
        .unwrap();
    assert_eq!(desk.undo(&ran).await, UndoOutcome::Undone);
    assert_eq!(desk.lead(1), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_undo_changes_nothing() {
    let scripts = [sets(1, "won"), Script::text("Done.")];
    let desk = desk(memory().await, scripts, NeedsApproval::Always);
    let run = desk.approved().await;
    let approvals = desk.runtime.approvals();
    let ran = desk.executions(&run).await.remove(0);
    let UndoOutcome::Pending(requests) = desk.undo(&ran).await else {
        panic!("it does not ask")
    };
    approvals
        .decide(&requests[0].id, Approval::deny("it stays"), &ada())
        .await
        .unwrap();
    let worker = Worker::start(&desk.runtime);
    let undo = desk.runtime.as_client().run::<String>(&requests[0].run_id);
    done(&undo).await;
    worker.stop().await;
    assert_eq!(desk.lead(1).as_deref(), Some("won"));
    let trail = desk.trail(&run).await;
    assert!(trail.ends_with(&[AuditKind::NotUndone]), "{trail:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn u6_a_whole_run_is_undone_backwards_and_goes_on_after_a_conflict() {
    let scripts = [
        sets(1, "won"),
        Script::call("send_mail", "{}"),
        sets(2, "won"),
        Script::call("look", "{}"),
        sets(3, "won"),
        Script::text("Done."),
    ];
    let desk = desk(memory().await, scripts, NeedsApproval::Never);
    let run = desk.over().await;
    desk.crm.lock().unwrap().leads.insert(2, "lost".to_owned());
    let first = desk.runtime.undo_run(run.id()).by(&grace()).await.unwrap();
    let results: Vec<_> = first.iter().map(|(_, undone)| undone.to_string()).collect();
    assert_eq!(
        results,
        ["undone", "not undone, conflict: the lead was changed since"]
    );
    desk.crm.lock().unwrap().leads.insert(2, "won".to_owned());
    let second = desk.runtime.undo_run(run.id()).by(&grace()).await.unwrap();
    let results: Vec<_> = second
        .iter()
        .map(|(_, undone)| undone.to_string())
        .collect();
    assert_eq!(
        results,
        [
            "already undone",
            "undone",
            "irreversible: a mail cannot be unsent",
            "undone"
        ]
    );
    assert_eq!(desk.crm.lock().unwrap().undone, [3, 2, 1]);
    assert!(desk.crm.lock().unwrap().leads.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn u3_strangers_other_versions_and_unknown_ids_are_refused() {
    let scripts = [sets(1, "won"), Script::text("Done.")];
    let store = memory().await;
    let desk = desk(store.clone(), scripts, NeedsApproval::Never);
    let run = desk.over().await;
    let ran = desk.executions(&run).await.remove(0);
    let stranger = Principal::new("mallory", "beta");
    for (id, by) in [(&*ran.id, &stranger), ("nowhere", &grace())] {
        let refused = desk.runtime.undo(id).by(by).await.unwrap_err();
        assert_eq!(refused.kind(), RuntimeErrorKind::Store(Kind::NotFound));
    }
    let newer = desk_of(store, [], NeedsApproval::Never, "2.0.0", desk.crm.clone());
    let refused = newer.runtime.undo(&ran.id).by(&grace()).await.unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("version 1.0.0 of the tool `set_status`"),
        "{refused}"
    );
    assert_eq!(desk.lead(1).as_deref(), Some("won"));
}

#[tokio::test(flavor = "multi_thread")]
async fn u6_s5_5_an_undo_that_was_cut_off_is_in_doubt_and_is_not_repeated() {
    let scripts = [sets(1, "won"), Script::text("Done.")];
    let desk = desk(memory().await, scripts, NeedsApproval::Never);
    let run = desk.over().await;
    let ran = desk.executions(&run).await.remove(0);
    desk.crm.lock().unwrap().hangs = true;
    let by = grace();
    let has_begun = async {
        while desk.crm.lock().unwrap().hung == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        undone = desk.runtime.undo(&ran.id).by(&by) => panic!("{undone:?}"),
        () = has_begun => {}
    }
    desk.crm.lock().unwrap().hangs = false;
    let undone = desk.undo(&ran).await;
    assert!(matches!(undone, UndoOutcome::InDoubt { .. }), "{undone}");
    let undone = desk.undo(&ran).await;
    assert!(matches!(undone, UndoOutcome::InDoubt { .. }), "{undone}");
    assert!(desk.crm.lock().unwrap().undone.is_empty());
    assert!(!desk.executions(&run).await[0].rolled_back);
    // An operator finds out that the undo had no effect. So it may be tried again.
    let (doubts, operator) = (desk.runtime.as_client().doubts(), Principal::operator());
    let open = doubts.open(&operator).await.unwrap();
    let (doubt, finding) = (&open[0].execution_id, Finding::had_no_effect());
    doubts.settle(doubt, finding, &operator).await.unwrap();
    assert_eq!(desk.undo(&ran).await, UndoOutcome::Undone);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_execution_in_doubt_that_had_no_effect_is_nothing_to_undo() {
    let schema = json!({"type": "object"});
    let spec = ToolSpec::new("transmit", "Transmits.", Effects::Writes, schema)
        .approval(NeedsApproval::Never);
    let transmit = FnTool::with_spec(spec, |_: Value, _| async {
        tokio::task::yield_now().await;
        assert!(std::hint::black_box(false), "the line is cut");
        Ok::<_, Error>("transmitted")
    });
    let transmits = || Script::call("transmit", "{}");
    let (store, crm) = (memory().await, Shared::default());
    let (model, _) = ScriptedModel::new([sets(1, "won"), transmits(), Script::text("Done.")]);
    let runtime = Runtime::open(store.clone()).model(model);
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .tool(set_status(&crm, "1.0.0", NeedsApproval::Never))
        .tool(transmit)
        .build();
    let clerk = runtime.agent(clerk);
    let desk = Desk {
        runtime,
        store,
        clerk,
        crm,
    };
    let run = desk.over().await;
    let ran = desk.executions(&run).await;
    let in_doubt = desk.undo(&ran[1]).await;
    assert!(
        matches!(in_doubt, UndoOutcome::InDoubt { .. }),
        "{in_doubt}"
    );
    let doubts = desk.runtime.as_client().doubts();
    let finding = Finding::had_no_effect();
    doubts.settle(&ran[1].id, finding, &grace()).await.unwrap();
    let refused = desk.runtime.undo(&ran[1].id).by(&grace()).await;
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("there is nothing to undo"), "{why}");
    let undone = desk.runtime.undo_run(run.id()).by(&grace()).await.unwrap();
    assert_eq!(undone, [(ran[0].id.clone(), UndoOutcome::Undone)]);
    assert_eq!(desk.lead(1), None);
}

/// A locksmith, whose tool gives out the code of a door, and takes back what it has given.
fn locksmith(undone: &Arc<Mutex<Vec<Value>>>) -> FnTool {
    let schema = json!({"type": "object", "properties": {"door": {"type": "string"}}});
    let spec =
        ToolSpec::new("open_door", "Opens a door.", Effects::Writes, schema).version("1.0.0");
    let undone = undone.clone();
    FnTool::with_spec(spec, |_: Value, cx: ToolContext| async move {
        let code = cx.secret("door").await.unwrap();
        let log = "x".repeat(50_000);
        Ok::<_, Error>(json!({"log": log, "code": code.expose_secret()}))
    })
    .undo(move |args: Value, output: Value, _| {
        undone
            .lock()
            .unwrap()
            .push(json!([args["door"], output["code"], output["log"]]));
        async { Ok::<_, Error>(agents::tool::undone()) }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_gets_the_whole_output_with_its_secrets_and_shows_none() {
    let files = Files::new("undo-secret");
    let store = SqliteStore::open(files.db()).await.unwrap();
    let open = |secrets: Option<SecretStore>| {
        let scripts = [
            Script::call("open_door", r#"{"door": "north"}"#),
            Script::text("It is open."),
        ];
        let (model, _) = ScriptedModel::new(scripts);
        let runtime = Runtime::open(store.clone()).model(model);
        let runtime = match secrets {
            Some(secrets) => runtime.secrets(secrets),
            None => runtime,
        };
        let undone = Arc::default();
        let clerk = AgentBuilder::<String, String>::new("clerk").tool(locksmith(&undone));
        let clerk = runtime.agent(clerk.build());
        (runtime, clerk, undone)
    };
    let known = || SecretStore::new().org("acme", "door", "hunter-22-north");
    let (runtime, clerk, _) = open(Some(known()));
    let start = clerk.run("Go.").scope("acme").by(&ada());
    let run = start.start().await.unwrap();
    let worker = Worker::start(&runtime);
    done(&run).await.result.unwrap();
    worker.stop().await;
    let ran = store.executions(&ExecutionFilter::default()).await.unwrap();

    // Whoever has not the secret cannot undo what needs it.
    let (without, _, undone) = open(None);
    let outcome = without.undo(&ran[0].id).by(&grace()).await.unwrap();
    let UndoOutcome::Failed { error } = outcome else {
        panic!("{outcome}");
    };
    assert!(error.contains("`door`"), "{error}");
    assert!(undone.lock().unwrap().is_empty());

    let (with, _, undone) = open(Some(known()));
    let outcome = with.undo(&ran[0].id).by(&grace()).await.unwrap();
    assert_eq!(outcome, UndoOutcome::Undone);
    let expected = json!(["north", "hunter-22-north", "x".repeat(50_000)]);
    assert_eq!(*undone.lock().unwrap(), [expected]);
    // People see its name, and not its value.
    let client = with.as_client();
    for run in store.runs(&Default::default()).await.unwrap() {
        let recorded = client.recorded(&run.id).await.unwrap().unwrap();
        let shown = serde_json::to_string(recorded.entries()).unwrap();
        assert!(!shown.contains("hunter-22-north"), "{shown}");
    }
}
