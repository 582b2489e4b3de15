//! Pauses: no effect is interrupted, and nothing is done twice.

use crate::*;
use agents::Agent as _;
use agents::model::{Message, ModelError, Reply, Request, ToolCall};
use agents::team::Member;
use agents_runtime::{AuditKind, RuntimeErrorKind};
use agents_store::{AuditFilter, ErrorKind as Kind};

/// A model that pays these amounts, one after the other. A request that comes twice has the same reply.
pub(crate) struct Pays<const N: usize>(pub(crate) [i64; N]);

#[agents::async_trait]
impl<const N: usize> Model for Pays<N> {
    fn id(&self) -> &str {
        "pays"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let told = request.messages().iter();
        let told = told.filter(|message| matches!(message, Message::Tool { .. }));
        let mut reply = Reply::default();
        match self.0.get(told.count()) {
            None => reply.content = "All is paid.".to_owned(),
            Some(cents) => reply.calls.push(ToolCall {
                id: cents.to_string(),
                name: "pay".to_owned(),
                arguments: json!({ "cents": cents }).to_string(),
            }),
        }
        Ok(reply)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_nobody_works_on_is_held_until_it_is_released() {
    everywhere("idle", async |place| {
        let (runtime, _) = place.runtime([Script::text("Nothing to pay.")]);
        let payer = payer(&runtime, &Till::open());
        let run = start(&payer).await;
        run.pause(&grace()).await.unwrap();
        let why = held(&run).await;
        assert!(why.contains("paused by `grace`"), "{why}");
        let _worker = Worker::start(&runtime);
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(status(place, &run).await, RunStatus::Held);
        place.client().release(run.id(), &ada()).await.unwrap();
        assert_eq!(done(&run).await.result.unwrap(), "Nothing to pay.");
        let late = run.pause(&grace()).await.unwrap_err();
        assert_eq!(late.kind(), RuntimeErrorKind::Store(Kind::Over));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_under_way_ends_before_its_run_is_put_down() {
    everywhere("effect", async |place| {
        let runtime = place.runtime_on(Pays([1, 2]));
        let till = Till::closed();
        let payer = payer(&runtime, &till);
        let _worker = Worker::start(&runtime);
        let run = start(&payer).await;
        till.begun(1).await;
        run.pause(&grace()).await.unwrap();
        // Longer than a worker takes to look.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(status(place, &run).await, RunStatus::Running, "it pays");
        till.may_end.add_permits(1);
        let why = held(&run).await;
        assert!(why.contains("paused by `grace`"), "{why}");
        assert_eq!(till.paid(), [1]);
        assert!(
            place
                .client()
                .doubts()
                .open(&grace())
                .await
                .unwrap()
                .is_empty()
        );

        till.may_end.add_permits(1);
        place.client().release(run.id(), &grace()).await.unwrap();
        let outcome = done(&run).await;
        assert_eq!(outcome.result.as_ref().unwrap(), "All is paid.");
        assert_eq!(till.paid(), [1, 2], "each once");
        let attempts = outcome.outputs.receipts().map(|one| one.attempts.len());
        assert_eq!(attempts.collect::<Vec<_>>(), [1, 1]);
        let trail = place.store.audit(&AuditFilter::default()).await.unwrap();
        let paused = trail.iter().find(|one| one.kind == AuditKind::Paused);
        assert_eq!(paused.unwrap().actor.as_deref(), Some("grace"));
        let verdict = place.client().audit().verify().await.unwrap();
        assert!(verdict.is_intact(), "{verdict}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_effects_at_once_both_end_first() {
    everywhere("effects", async |place| {
        let calls = [1, 2].map(|cents| ("pay", json!({ "cents": cents }).to_string()));
        let (runtime, _) = place.runtime([Script::calls(calls), Script::text("Paid.")]);
        let till = Till::closed();
        let payer = payer(&runtime, &till);
        let _worker = Worker::start(&runtime);
        let run = start(&payer).await;
        till.begun(1).await;
        run.pause(&grace()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1500)).await;
        till.may_end.add_permits(2);
        held(&run).await;
        let before = till.paid().len();
        assert_eq!(
            before,
            usize::try_from(*till.begun.lock().unwrap()).unwrap()
        );
        till.may_end.add_permits(2);
        place.client().release(run.id(), &grace()).await.unwrap();
        done(&run).await.result.unwrap();
        let mut paid = till.paid();
        paid.sort_unstable();
        assert_eq!(paid, [1, 2], "each once");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_effect_begins_beside_one_that_is_under_way() {
    everywhere("beside", async |place| {
        let calls = [("pay", r#"{"cents": 1}"#), ("refund", "{}")];
        let (runtime, _) = place.runtime([Script::calls(calls), Script::text("Paid.")]);
        let (till, refunds) = (Till::closed(), Arc::new(Mutex::new(0)));
        let schema = json!({"type": "object"});
        let spec = ToolSpec::new("refund", "Refunds.", Effects::Writes, schema)
            .approval(NeedsApproval::Always);
        let refunded = refunds.clone();
        let refund = FnTool::with_spec(spec, move |_: Value, _| {
            *refunded.lock().unwrap() += 1;
            async { Ok::<_, Error>("refunded") }
        });
        let payer = AgentBuilder::<String, String>::new("payer")
            .tool(till.tool(NeedsApproval::Never))
            .tool(refund);
        let payer = runtime.agent(payer.build());
        let _worker = Worker::start(&runtime);
        let run = start(&payer).await;
        till.begun(1).await;
        let approvals = place.client().approvals();
        until("a refund is asked for", async || {
            !approvals.pending(&grace()).await.unwrap().is_empty()
        })
        .await;
        let asked = approvals.pending(&grace()).await.unwrap();
        run.pause(&grace()).await.unwrap();
        // Longer than a worker takes to look.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let yes = agents_runtime::Approval::Approve;
        approvals.decide(&asked[0].id, yes, &grace()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(status(place, &run).await, RunStatus::Running, "it pays");
        assert_eq!(*refunds.lock().unwrap(), 0, "nothing begins");
        till.may_end.add_permits(1);
        held(&run).await;
        assert_eq!((till.paid(), *refunds.lock().unwrap()), (vec![1], 0));
        place.client().release(run.id(), &grace()).await.unwrap();
        assert_eq!(done(&run).await.result.unwrap(), "Paid.");
        assert_eq!((till.paid(), *refunds.lock().unwrap()), (vec![1], 1));
    })
    .await;
}

/// A tool that writes, and whose body runs an agent that writes, ends with that agent's work before its run is put down.
#[tokio::test(flavor = "multi_thread")]
async fn an_effect_within_one_that_is_under_way_begins_all_the_same() {
    everywhere("within", async |place| {
        let till = Till::closed();
        let clerk = AgentBuilder::<String, String>::new("clerk")
            .tool(till.tool(NeedsApproval::Never))
            .model(Pays([1, 2]))
            .build();
        let clerk = Arc::new(clerk);
        let schema = json!({"type": "object"});
        let settle = ToolSpec::new("settle", "Settles.", Effects::Writes, schema);
        let settle = FnTool::with_spec(settle, move |_: Value, _| {
            let clerk = clerk.clone();
            // A run of its own.
            async move { clerk.run("Pay.").max_parallel(1).await }
        });
        let (runtime, _) = place.runtime([Script::call("settle", "{}"), Script::text("Settled.")]);
        let payer = AgentBuilder::<String, String>::new("payer").tool(settle);
        let payer = runtime.agent(payer.build());
        let _worker = Worker::start(&runtime);
        let run = start(&payer).await;
        till.begun(1).await;
        run.pause(&grace()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1500)).await;
        till.may_end.add_permits(2);
        held(&run).await;
        assert_eq!(till.paid(), [1, 2]);
        place.client().release(run.id(), &grace()).await.unwrap();
        assert_eq!(done(&run).await.result.unwrap(), "Settled.");
        assert_eq!(till.paid(), [1, 2], "each once");
    })
    .await;
}

/// A delegate is a part of the run, and no effect: its calls are.
#[tokio::test(flavor = "multi_thread")]
async fn a_delegate_that_writes_is_put_down_between_two_of_its_calls() {
    everywhere("delegate", async |place| {
        let till = Till::closed();
        let clerk = AgentBuilder::<String, String>::new("clerk")
            .tool(till.tool(NeedsApproval::Never))
            .model(Pays([1, 2, 3]));
        let clerk = Member::new(clerk.build()).grant_named("pay");
        let (runtime, _) = place.runtime([
            Script::call("clerk", r#"{"input": "Pay."}"#),
            Script::text("Settled."),
        ]);
        let payer = AgentBuilder::<String, String>::new("payer").build();
        let payer = runtime.agent(Member::new(payer).delegate(clerk).build());
        let _worker = Worker::start(&runtime);
        let run = start(&payer).await;
        till.begun(1).await;
        run.pause(&grace()).await.unwrap();
        // Longer than a worker takes to look.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(status(place, &run).await, RunStatus::Running, "it pays");
        till.may_end.add_permits(10);
        held(&run).await;
        assert_eq!(till.paid(), [1], "no other payment begins");

        place.client().release(run.id(), &grace()).await.unwrap();
        let outcome = done(&run).await;
        assert_eq!(outcome.result.as_ref().unwrap(), "Settled.");
        assert_eq!(till.paid(), [1, 2, 3], "each once");
        assert!(
            outcome
                .outputs
                .receipts()
                .all(|one| one.attempts.len() == 1)
        );
        let doubts = place.client().doubts();
        assert!(doubts.open(&grace()).await.unwrap().is_empty());
        let verdict = place.client().audit().verify().await.unwrap();
        assert!(verdict.is_intact(), "{verdict}");
    })
    .await;
}

/// A delegate whose call a person has approved ends before its run is put down: the approval was for all of its work.
#[tokio::test(flavor = "multi_thread")]
async fn a_delegate_that_was_approved_ends_before_its_run_is_put_down() {
    everywhere("approved", async |place| {
        let till = Till::closed();
        let clerk = AgentBuilder::<String, String>::new("clerk")
            .tool(till.tool(NeedsApproval::Never))
            .model(Pays([1, 2]));
        let clerk = Member::new(clerk.build()).grant_named("pay");
        let (runtime, _) = place.runtime([
            Script::call("clerk", r#"{"input": "Pay."}"#),
            Script::text("Settled."),
        ]);
        let payer = AgentBuilder::<String, String>::new("payer").build();
        let payer = Member::new(payer).confirm_named("clerk").delegate(clerk);
        let payer = runtime.agent(payer.build());
        let _worker = Worker::start(&runtime);
        let run = start(&payer).await;
        let request = waiting(&run).await;
        let approvals = place.client().approvals();
        let yes = agents_runtime::Approval::Approve;
        approvals.decide(&request.id, yes, &grace()).await.unwrap();
        till.begun(1).await;
        run.pause(&grace()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1500)).await;
        till.may_end.add_permits(10);
        held(&run).await;
        assert_eq!(till.paid(), [1, 2]);
        place.client().release(run.id(), &grace()).await.unwrap();
        assert_eq!(done(&run).await.result.unwrap(), "Settled.");
        assert_eq!(till.paid(), [1, 2], "each once");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_run_can_be_decided_about_and_cancelled() {
    everywhere("decided", async |place| {
        let (runtime, _) = place.runtime([pays(1), Script::text("Paid.")]);
        let till = Till::open();
        let payer = payer_that_asks(&runtime, &till, NeedsApproval::Always);
        let _worker = Worker::start(&runtime);
        let run = start(&payer).await;
        let request = waiting(&run).await;
        run.pause(&ada()).await.unwrap();
        let approvals = place.client().approvals();
        let yes = agents_runtime::Approval::Approve;
        approvals.decide(&request.id, yes, &grace()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(status(place, &run).await, RunStatus::Held);
        assert!(till.paid().is_empty());
        run.cancel(&ada()).await.unwrap();
        done(&run).await.result.unwrap_err();
        assert!(till.paid().is_empty());
    })
    .await;
}

/// Half of the grace is for runs to end. Then a payment that is under way ends, and no other one begins.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_stopped_puts_its_runs_down_between_two_effects() {
    everywhere("stopped", async |place| {
        // What a run that is put down has asked the model last is asked again.
        let (model, _) = ScriptedModel::from_fn(|asked| match asked.results()[..] {
            [] => pays(1),
            [(_, "paid 1")] => pays(2),
            _ => Script::text("Paid."),
        });
        let runtime = place.runtime_on(model);
        let grace = Duration::from_secs(4);
        let runtime = runtime.grace(grace);
        let till = Till::closed();
        let payer = payer(&runtime, &till);
        let worker = Worker::start(&runtime);
        let run = start(&payer).await;
        till.begun(1).await;
        let stopping = tokio::spawn(worker.stop());
        tokio::time::sleep(grace * 5 / 8).await;
        assert!(!stopping.is_finished(), "the payment is waited for");
        till.may_end.add_permits(10);
        stopping.await.unwrap();
        assert_eq!(till.paid(), [1], "the second one has not begun");
        assert_eq!(status(place, &run).await, RunStatus::Ready);
        let _worker = Worker::start(&runtime);
        assert_eq!(done(&run).await.result.unwrap(), "Paid.");
        assert_eq!(till.paid(), [1, 2]);
        let doubts = place.client().doubts();
        assert!(doubts.open(&super::grace()).await.unwrap().is_empty());
    })
    .await;
}
