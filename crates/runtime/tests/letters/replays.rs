//! Replays: once, audited, and only by those who may.

use crate::{
    OrderShipped, Taken, Working, dead, died, grace, shipped,
    stores::{Place, each},
    subscriber, until,
};
use agents::{
    AgentBuilder,
    testing::{Script, ScriptedModel},
};
use agents_runtime::{
    Action, AuditKind, DeadLetter, DeadLetterKind, DeliveryError, LetterQuery, Notification,
    Principal, Roles, Runtime, Told,
};
use agents_store::{AuditFilter, LetterFilter, RunFilter, RunStatus, Subscription};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

/// Runtime whose subscriber fails until the flag is set.
async fn broken(place: &Place, taken: &Taken) -> (Runtime, Arc<AtomicBool>) {
    let works = Arc::new(AtomicBool::new(false));
    let flag = works.clone();
    let fails = move |_: &OrderShipped, _: &Told| match flag.load(SeqCst) {
        true => None,
        false => Some(DeliveryError::new("the printer is off")),
    };
    let runtime = place.runtime().await;
    (
        runtime.subscriber(subscriber("invoices", taken, fails)),
        works,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_that_never_died_is_not_said_to_be_replayed() {
    each(async |place| {
        let taken = Taken::default();
        let (runtime, _) = broken(place, &taken).await;
        let client = runtime.as_client();
        let store = client.store().await.unwrap().clone();
        let subscription = Subscription {
            subscriber: "invoices".to_owned(),
            notification: OrderShipped::NAME.to_owned(),
        };
        store.subscribe(&[subscription]).await.unwrap();
        runtime.publish(&shipped(7)).scope("acme").await.unwrap();
        let alive = store.letters(&LetterFilter::default()).await.unwrap();
        let letters = client.letters();
        let by = grace();
        let error = letters.replay(&alive[0].id, "the printer is on", &by);
        let error = error.await.unwrap_err().to_string();
        assert!(error.contains("on its way, not dead"), "{error}");
    })
    .await;
}

/// Makes a dead letter.
async fn dead_letter(runtime: &Runtime) -> DeadLetter {
    runtime.publish(&shipped(7)).scope("acme").await.unwrap();
    let working = Working::on(runtime);
    let letter = died(runtime.as_client(), 1).await.remove(0);
    working.stop().await;
    letter
}

#[tokio::test(flavor = "multi_thread")]
async fn d4_concurrent_replays_of_two_processes_make_one_and_it_is_audited() {
    each(async |place| {
        let taken = Taken::default();
        let (runtime, works) = broken(place, &taken).await;
        let letter = dead_letter(&runtime).await;
        works.store(true, SeqCst);
        let mut tries = Vec::new();
        for number in 0..8 {
            // Each has connections of its own, as another process has.
            let client = place.client().await;
            let id = letter.event_id.clone();
            tries.push(tokio::spawn(async move {
                let by = Principal::new(format!("grace-{number}"), "acme");
                client.letters().replay(&id, "the printer is on", &by).await
            }));
        }
        let mut won = 0;
        for one in tries {
            match one.await.unwrap() {
                Ok(()) => won += 1,
                Err(error) => assert!(error.to_string().contains("already"), "{error}"),
            }
        }
        assert_eq!(won, 1);
        let working = Working::on(&runtime);
        until(async || !taken.lock().unwrap().is_empty()).await;
        working.stop().await;
        assert_eq!(taken.lock().unwrap().len(), 1);
        assert!(dead(runtime.as_client()).await.is_empty());
        let filter = AuditFilter {
            kind: Some(AuditKind::Replayed),
            ..AuditFilter::default()
        };
        let events = runtime.audit().events(&filter).await.unwrap();
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].reason.as_deref(), Some("the printer is on"));
        assert_eq!(events[0].tenant_id, "acme");
        assert_eq!(events[0].subject.as_deref(), Some(&*letter.event_id));
        assert!(events[0].actor.as_deref().unwrap().starts_with("grace-"));
        let verdict = runtime.audit().verify().await.unwrap();
        assert!(verdict.is_intact(), "{verdict}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d4_dead_letters_are_found_by_handler_age_and_tenant() {
    each(async |place| {
        let (runtime, _) = broken(place, &Taken::default()).await;
        let letter = dead_letter(&runtime).await;
        let letters = runtime.as_client().letters();
        let found = async |query: LetterQuery, by: &Principal| {
            letters.list(&query, by).await.unwrap().len()
        };
        let all = LetterQuery::default;
        assert_eq!(found(all(), &grace()).await, 1);
        let handler = |name: &str| LetterQuery {
            handler_name: Some(name.to_owned()),
            ..all()
        };
        assert_eq!(found(handler("invoices"), &grace()).await, 1);
        assert_eq!(found(handler("mails"), &grace()).await, 0);
        let older = |time| LetterQuery {
            older_than: Some(time),
            ..all()
        };
        assert_eq!(found(older(Duration::ZERO), &grace()).await, 1);
        assert_eq!(found(older(Duration::from_secs(600)), &grace()).await, 0);
        let younger = LetterQuery {
            younger_than: Some(Duration::from_secs(600)),
            ..all()
        };
        assert_eq!(found(younger, &grace()).await, 1);
        let eve = Principal::new("eve", "other");
        assert_eq!(found(all(), &eve).await, 0);
        let of_acme = LetterQuery {
            tenant: Some("acme".to_owned()),
            ..all()
        };
        assert_eq!(found(of_acme, &eve).await, 0);
        let id = &letter.event_id;
        let unknown = letters.get("nothing", &eve).await.unwrap_err().to_string();
        let foreign = letters.get(id, &eve).await.unwrap_err().to_string();
        assert_eq!(foreign, unknown.replace("nothing", id));
        let foreign = letters.replay(id, "mine now", &eve).await.unwrap_err();
        assert_eq!(foreign.to_string(), unknown.replace("nothing", id));
        assert_eq!(found(all(), &grace()).await, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_needs_a_reason_and_the_role_if_there_is_one() {
    each(async |place| {
        let (runtime, _) = broken(place, &Taken::default()).await;
        let letter = dead_letter(&runtime).await;
        let roles = Roles::new()
            .for_action(Action::Replay, "mechanic")
            .for_action(Action::ReadArguments, "reader");
        let client = place.client().await.roles(roles);
        let id = &letter.event_id;
        let mechanic = grace().role("mechanic");
        let letters = client.letters();
        let nothing = letters.replay(id, " ", &mechanic).await.unwrap_err();
        assert!(nothing.to_string().contains("needs a reason"), "{nothing}");
        let refused = letters.replay(id, "please", &grace()).await.unwrap_err();
        assert!(refused.to_string().contains("`mechanic`"), "{refused}");
        let detail = letters.get(id, &mechanic).await.unwrap();
        assert!(detail.payload.is_none());
        assert!(detail.payload_missing.unwrap().contains("role"));
        let reader = grace().role("reader");
        assert!(letters.get(id, &reader).await.unwrap().payload.is_some());
        letters.replay(id, "please", &mechanic).await.unwrap();
        let filter = AuditFilter {
            kind: Some(AuditKind::Refused),
            ..AuditFilter::default()
        };
        let refusals = client.audit().events(&filter).await.unwrap();
        assert_eq!(refusals.len(), 1);
        assert_eq!(refusals[0].subject.as_deref(), Some("replay"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_removes_a_subscriber_and_nobody_else_does() {
    each(async |place| {
        let (runtime, _) = broken(place, &Taken::default()).await;
        let dead_one = dead_letter(&runtime).await;
        let letters = runtime.as_client().letters();
        let refused = letters.unsubscribe("invoices", &grace()).await.unwrap_err();
        assert!(refused.to_string().contains("operator"), "{refused}");
        runtime.publish(&shipped(8)).scope("acme").await.unwrap();
        let operator = Principal::operator();
        letters.unsubscribe("invoices", &operator).await.unwrap();
        let store = place.store().await;
        let left = store.letters(&LetterFilter::default()).await.unwrap();
        let left: Vec<_> = left.into_iter().map(|letter| letter.id).collect();
        assert_eq!(left, [dead_one.event_id]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_cannot_go_on_is_a_dead_letter_and_a_paused_one_is_none() {
    each(async |place| {
        // The worker lacks a model, so that the run is held.
        let agent = || AgentBuilder::<String, String>::new("payer").build();
        let lacking = place.runtime().await;
        let payer = lacking.agent(agent());
        let run = payer.run("Pay.").scope("acme").start().await.unwrap();
        let working = Working::on(&lacking);
        let letter = died(lacking.as_client(), 1).await.remove(0);
        working.stop().await;
        assert_eq!(letter.kind, DeadLetterKind::Run);
        assert_eq!(
            (&*letter.event_id, &*letter.handler_name),
            (run.id(), "payer")
        );
        assert_eq!(letter.failure, "incompatible");
        let letters = lacking.as_client().letters();
        let detail = letters.get(run.id(), &grace()).await.unwrap();
        assert_eq!(detail.payload.unwrap().to::<String>().unwrap(), "Pay.");
        assert!(detail.failure_history[0].error.contains("model"));

        let paused = payer.run("Later.").scope("acme").start().await.unwrap();
        paused.pause(&grace()).await.unwrap();
        assert_eq!(dead(lacking.as_client()).await.len(), 1);
        let refused = letters.replay(paused.id(), "go on", &grace()).await;
        assert!(refused.unwrap_err().to_string().contains("no dead letter"));

        let (model, _) = ScriptedModel::new([Script::text("Paid.")]);
        let mended = place.runtime().await.model(model);
        mended.agent(agent());
        letters
            .replay(run.id(), "there is a model", &grace())
            .await
            .unwrap();
        let again = letters.replay(run.id(), "again", &grace()).await;
        let again = again.unwrap_err().to_string();
        assert!(again.contains("is ready, not held"), "{again}");
        let working = Working::on(&mended);
        let done = RunFilter {
            status: Some(RunStatus::Done),
            ..RunFilter::default()
        };
        let client = mended.as_client();
        until(async || client.runs(&done).await.unwrap().len() == 1).await;
        working.stop().await;
        let filter = AuditFilter {
            run: Some(run.id().to_owned()),
            kind: Some(AuditKind::Replayed),
            ..AuditFilter::default()
        };
        let told = client.audit().events(&filter).await.unwrap();
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].reason.as_deref(), Some("there is a model"));
        let verdict = client.audit().verify().await.unwrap();
        assert!(verdict.is_intact(), "{verdict}");
    })
    .await;
}
