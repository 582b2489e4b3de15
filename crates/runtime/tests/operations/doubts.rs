//! Doubts: settled by a person, and told to the run.

use crate::*;
use agents_runtime::{Approval, AuditKind, ExecutionState, Finding, Roles, RuntimeErrorKind};
use agents_store::{AuditFilter, ErrorKind as Kind};

/// Starts a run whose worker ends in the middle of a payment.
async fn doubtful(place: &Place) -> RunRef<String> {
    let (runtime, _) = place.runtime([pays(1)]);
    let runtime = runtime.grace(Duration::ZERO);
    let till = Till::closed();
    let payer = payer(&runtime, &till);
    let worker = Worker::start(&runtime);
    let run = start(&payer).await;
    till.begun(1).await;
    worker.stop().await;
    run
}

#[tokio::test(flavor = "multi_thread")]
async fn a_settled_doubt_is_told_and_asks_no_more() {
    everywhere("settled", async |place| {
        let run = doubtful(place).await;
        let scripts = [pays(2), pays(3), Script::text("Paid.")];
        let (runtime, model) = place.runtime(scripts);
        let till = Till::open();
        payer(&runtime, &till);
        let _worker = Worker::start(&runtime);
        // The next call of the tool asks, since nobody knows about the first one.
        let request = waiting(&run).await;
        let client = place.client();
        let doubts = client.doubts().open(&grace()).await.unwrap();
        let [doubt] = &doubts[..] else {
            panic!("{doubts:?}")
        };
        assert_eq!((&*doubt.tool_name, &*doubt.run_id), ("pay", run.id()));
        let summary = doubt.args_summary.as_deref();
        assert_eq!(summary, Some("cents: 1, to: [email]"));

        let executions = async || client.executions(run.id(), &grace()).await.unwrap();
        let in_doubt = executions().await.remove(0);
        assert_eq!(in_doubt.state, ExecutionState::InDoubt);
        assert_eq!(in_doubt.execution_id, doubt.execution_id);
        assert!(!in_doubt.may_be_undone());

        let finding = Finding::had_no_effect().note("The bank knows nothing of it.");
        let settle = async |finding| {
            let doubts = client.doubts();
            doubts.settle(&doubt.execution_id, finding, &grace()).await
        };
        settle(finding.clone()).await.unwrap();
        assert!(client.doubts().open(&grace()).await.unwrap().is_empty());
        let found_out = executions().await.remove(0);
        assert_eq!(found_out.state, ExecutionState::HadNoEffect);
        assert_eq!(found_out.settled_by.as_deref(), Some("grace"));
        let again = settle(finding).await.unwrap_err();
        assert_eq!(again.kind(), RuntimeErrorKind::Store(Kind::Settled));

        let approvals = client.approvals();
        approvals.decide(&request.id, Approval::Approve, &grace()).await.unwrap();
        let outcome = done(&run).await;
        assert_eq!(outcome.result.unwrap(), "Paid.");
        assert_eq!(till.paid(), [2, 3], "the third call asks nobody");
        let requests = model.requests();
        let told = format!("{:?}", requests.last().unwrap().messages);
        let news = "grace has found out that it had no effect: it may be made again. The bank knows nothing of it.";
        assert!(told.contains(news), "{told}");

        let trail = place.store.audit(&AuditFilter::default()).await.unwrap();
        let settled = trail.iter().find(|one| one.kind == AuditKind::Settled);
        let settled = settled.unwrap();
        assert_eq!(settled.actor.as_deref(), Some("grace"));
        assert_eq!(settled.subject.as_ref(), Some(&doubt.execution_id));
        let verdict = client.audit().verify().await.unwrap();
        assert!(verdict.is_intact(), "{verdict}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_under_way_is_told_as_well() {
    everywhere("under-way", async |place| {
        let run = doubtful(place).await;
        // A tool that reads takes its time, and meanwhile the doubt is settled.
        let scripts = [Script::call("look", "{}"), pays(2), Script::text("Paid.")];
        let (runtime, model) = place.runtime(scripts);
        let (till, looks) = (Till::open(), Arc::new(Semaphore::new(0)));
        let permits = looks.clone();
        let schema = json!({"type": "object"});
        let look = FnTool::new(
            "look",
            "Looks.",
            Effects::Reads,
            schema,
            move |_: Value, _| {
                let permits = permits.clone();
                async move {
                    permits.acquire().await.unwrap().forget();
                    Ok::<_, Error>("nothing")
                }
            },
        );
        let payer = AgentBuilder::<String, String>::new("payer")
            .prompt("Pay the bills.")
            .tool(till.tool(NeedsApproval::Never))
            .tool(look);
        runtime.agent(payer.build());
        let _worker = Worker::start(&runtime);
        let client = place.client();
        until("there is a doubt", async || {
            !client.doubts().open(&grace()).await.unwrap().is_empty()
        })
        .await;
        until("the model has replied", async || {
            !model.requests().is_empty()
        })
        .await;
        let doubt = client.doubts().open(&grace()).await.unwrap().remove(0);
        let finding = Finding::took_effect();
        client
            .doubts()
            .settle(&doubt.execution_id, finding, &grace())
            .await
            .unwrap();
        // Longer than a worker takes to look.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        looks.add_permits(1);
        done(&run).await.result.unwrap();
        assert_eq!(till.paid(), [2], "nobody was asked");
        let told = format!("{:?}", model.requests()[1].messages);
        assert!(
            told.contains("grace has found out that it took effect"),
            "{told}"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_started_the_run_settles_none_of_its_doubts() {
    everywhere("who", async |place| {
        let run = doubtful(place).await;
        let (runtime, _) = place.runtime([Script::text("It may be paid.")]);
        payer(&runtime, &Till::open());
        let _worker = Worker::start(&runtime);
        done(&run).await.result.unwrap();
        let roles = Roles::new().for_risk(Risk::High, "treasurer");
        let client = place.client().roles(roles);
        let doubt = client.doubts().open(&grace()).await.unwrap().remove(0);
        let settle = async |by: &Principal| {
            let (doubts, id) = (client.doubts(), &doubt.execution_id);
            let known = doubts.refusal(id, by).await;
            let settled = doubts.settle(id, Finding::took_effect(), by).await;
            let error = settled.as_ref().err().map(ToString::to_string);
            let known = known.map_or_else(
                |none| Some(none.to_string()),
                |why| why.map(|why| why.to_string()),
            );
            assert_eq!(known, error, "it is known before");
            settled.map_err(|error| error.kind())
        };
        let treasurer = |id: &str, tenant: &str| Principal::new(id, tenant).role("treasurer");
        let forbidden = Err(RuntimeErrorKind::Forbidden);
        assert_eq!(
            settle(&treasurer("ada", "acme")).await,
            forbidden,
            "she started it"
        );
        assert_eq!(settle(&grace()).await, forbidden, "she has not the role");
        let none = Err(RuntimeErrorKind::Store(Kind::NotFound));
        assert_eq!(settle(&treasurer("grace", "other")).await, none);
        let trail = place.store.audit(&AuditFilter::default()).await.unwrap();
        let refused = trail.iter().filter(|one| one.kind == AuditKind::Refused);
        assert_eq!(refused.count(), 2);
        settle(&treasurer("grace", "acme")).await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finding_that_was_written_by_hand_holds_the_run() {
    let file = std::env::temp_dir().join(format!("agents-forged-{}.db", std::process::id()));
    let _ = fs::remove_file(&file);
    let place = Place {
        store: Arc::new(SqliteStore::open(&file).await.unwrap()),
        keys: Place::keys("forged"),
        #[cfg(unix)]
        _database: None,
    };
    let run = doubtful(&place).await;
    let (runtime, _) = place.runtime([pays(2), Script::text("Paid.")]);
    let till = Till::open();
    payer(&runtime, &till);
    let worker = Worker::start(&runtime);
    waiting(&run).await;
    worker.stop().await;
    let db = rusqlite::Connection::open(&file).unwrap();
    db.busy_timeout(LONG).unwrap();
    db.execute_batch(
        "UPDATE agent_tool_executions SET had_effect = 0, settled_by = 'grace', settled_at = 1, settled_proof = x'00'
         WHERE effect_unknown;
         UPDATE agent_runs SET status = 'ready', messages = messages + 1",
    )
    .unwrap();
    let _worker = Worker::start(&runtime);
    let why = held(&run).await;
    assert!(why.contains("written by hand"), "{why}");
    assert!(till.paid().is_empty());
    let verdict = place.client().audit().verify().await.unwrap();
    assert_eq!(verdict.flaws[0].table, "agent_tool_executions");
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", file.display()));
    }
}
