//! Replays of stored runs with other code: which of them would go otherwise, and from which fact on.

use crate::*;
use agents::policy::{confirm_tools, named};
use agents_runtime::{Approval, Replays, RuntimeErrorKind};
use agents_store::RunFilter;

async fn replays(runtime: &Runtime) -> Replays {
    runtime.replays(&RunFilter::default()).await.unwrap()
}

/// Returns a runtime on the same store with another version of the payer, whose till must stay as it is.
fn version(place: &Place, prompt: &'static str, till: &Till) -> Runtime {
    let (runtime, _) = place.runtime([]);
    let payer = AgentBuilder::<String, String>::new("payer")
        .prompt(prompt)
        .tool(till.tool(NeedsApproval::Always));
    runtime.agent(payer.build());
    runtime
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_replayed_as_far_as_they_have_come_and_nothing_is_done() {
    everywhere("replays", async |place| {
        let till = Till::open();
        let (runtime, _) = place.runtime([pays(5), Script::text("paid"), pays(7)]);
        let payer = payer_that_asks(&runtime, &till, NeedsApproval::Always);
        let worker = Worker::start(&runtime);
        let over = start(&payer).await;
        let request = waiting(&over).await;
        let approvals = runtime.as_client().approvals();
        approvals
            .decide(&request.id, Approval::Approve, &grace())
            .await
            .unwrap();
        assert_eq!(done(&over).await.result.unwrap(), "paid");
        let waits = start(&payer).await;
        waiting(&waits).await;
        worker.stop().await;
        let unbegun = start(&payer).await;
        assert_eq!(till.paid(), [5]);

        let same = replays(&runtime).await;
        assert_eq!((same.replayed, same.skipped, &same.changed[..]), (2, 1, &[][..]));

        let none = Till::open();
        let other = version(place, "Pay all bills.", &none);
        let changed = replays(&other).await;
        assert_eq!((changed.replayed, changed.skipped), (2, 1));
        let ids: Vec<_> = changed.changed.iter().map(|run| &*run.run_id).collect();
        assert_eq!(ids, [waits.id(), over.id()], "the newest first");
        for run in &changed.changed {
            assert_eq!((&*run.agent_name, &*run.tenant_id, run.fact), ("payer", "acme", Some(2)));
            let what = "request 1 differs from the recording in message 1: recorded `Pay the bills.`, now `Pay all bills.` (fact 2)";
            assert_eq!(run.what, what);
        }
        // A rule that asks anew, and one that asks no more.
        let lax = version(place, "Pay the bills.", &none);
        assert_eq!(replays(&lax).await.changed, []);
        let (strict, _) = place.runtime([]);
        payer_that_asks(&strict, &none, NeedsApproval::Never);
        let strict = replays(&strict).await;
        let what: Vec<_> = strict.changed.iter().map(|run| &*run.what).collect();
        assert!(what[1].starts_with("the call of `pay` needs no approval now"), "{what:?}");
        assert_eq!(what.len(), 2);
        // Code without the agent.
        let (without, _) = place.runtime([]);
        let without = replays(&without).await;
        assert_eq!(without.changed.len(), 2);
        assert_eq!(without.changed[0].fact, None);
        assert!(without.changed[0].what.ends_with("there is no agent `payer`"));
        // The bounds of the filter hold.
        let one = RunFilter { limit: 2, ..RunFilter::default() };
        assert_eq!(other.replays(&one).await.unwrap().changed.len(), 1);
        assert_eq!((none.paid().len(), till.paid()), (0, vec![5]));
        assert_eq!(status(place, &unbegun).await, RunStatus::Ready);
        assert_eq!(status(place, &waits).await, RunStatus::Waiting);

        let json = serde_json::to_string(&changed).unwrap();
        assert_eq!(Replays::read(&json).unwrap(), changed);
        let later = json.replace("\"agents_replays\":1", "\"agents_replays\":2");
        let later = Replays::read(&later).unwrap_err().to_string();
        assert!(later.contains("use the later program"), "{later}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_of_the_runtime_count_and_runs_that_cannot_be_read_are_told() {
    everywhere("replays-rules", async |place| {
        let till = Till::open();
        let (runtime, _) = place.runtime([pays(5), Script::text("paid")]);
        let payer = payer_that_asks(&runtime, &till, NeedsApproval::Never);
        let worker = Worker::start(&runtime);
        let run = start(&payer).await;
        done(&run).await.result.unwrap();
        worker.stop().await;

        let none = Till::open();
        let (ruled, _) = place.runtime([]);
        let ruled = ruled.policy(named("ask", confirm_tools("pay")));
        payer_that_asks(&ruled, &none, NeedsApproval::Never);
        let changed = replays(&ruled).await.changed;
        assert!(
            changed[0]
                .what
                .starts_with("the call of `pay` needs approval now"),
            "{changed:?}"
        );

        // A recording is for whoever may see the contents, of a run of their own tenant.
        let client = runtime.as_client();
        let recorded = client.recording(run.id(), &grace()).await.unwrap();
        assert_eq!((recorded.agent(), recorded.run_id()), ("payer", run.id()));
        let eve = Principal::new("eve", "other");
        let none = client.recording(run.id(), &eve).await.unwrap_err();
        assert!(none.to_string().contains("no run"), "{none}");
        let roles = agents_runtime::Roles::new()
            .for_action(agents_runtime::Action::ReadArguments, "auditor");
        let strict = place.client().roles(roles);
        let error = strict.recording(run.id(), &grace()).await.unwrap_err();
        assert_eq!(error.kind(), RuntimeErrorKind::Forbidden);

        // Without the keys of the store nothing can be replayed, and it is said.
        let store = place.store.clone();
        let keys = Place::keys("replays-other");
        let keyless = Runtime::open(store).keyring(FileKeyring::open(&keys).unwrap());
        payer_that_asks(&keyless, &till, NeedsApproval::Never);
        let told = keyless.replays(&RunFilter::default()).await.unwrap();
        assert_eq!(
            (told.replayed, told.changed.len(), told.changed[0].fact),
            (0, 1, None)
        );
        let _ = fs::remove_file(&keys);
        assert_eq!(till.paid(), [5]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_of_a_fixed_model_and_messages_of_conversations_are_skipped() {
    everywhere("replays-skipped", async |place| {
        let till = Till::open();
        let (runtime, _) = place.runtime([Script::text("Good morning")]);
        let payer = payer_that_asks(&runtime, &till, NeedsApproval::Never);
        let worker = Worker::start(&runtime);
        let message = payer
            .chat("c1")
            .scope("acme")
            .send("Hello")
            .by(&ada())
            .start()
            .await
            .unwrap();
        done(&message).await.result.unwrap();
        let args = agents::Json::of(&json!({"cents": 3})).unwrap();
        let call = runtime.as_client().call("payer", "pay", "1.0.0", args);
        let call = call.scope("acme").by(&Principal::operator()).await.unwrap();
        worker.stop().await;
        let told = replays(&runtime).await;
        assert_eq!((told.replayed, told.skipped, told.changed.len()), (0, 2, 0));
        let operator = Principal::operator();
        for (run, why) in [(message.id(), "conversation"), (call.id(), "no model")] {
            let error = runtime
                .as_client()
                .recording(run, &operator)
                .await
                .unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
    })
    .await;
}
