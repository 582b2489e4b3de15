//! Two planes on one store, as two processes have them: retries and failures count together.

use super::{activate, ask, scoring};
use agents_control::{ControlPlane, ControlStore, PurposeKey::Scoring, SqliteStore};
use agents_core::{
    model::{ModelError, ModelErrorKind as Kind},
    testing::{Script, ScriptedModel},
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// Time after which a process looks at the circuits again.
const LOOK: Duration = Duration::from_millis(600);

type Told = Arc<Mutex<Vec<&'static str>>>;

/// Creates two planes whose models fail with this error, and may be asked again at once.
async fn two_planes(
    store: &(impl ControlStore + Clone),
    kind: Kind,
    status: u16,
) -> ([(ControlPlane, ScriptedModel); 2], Told) {
    let told = Told::default();
    let planes = [0, 1].map(|_| {
        let error = ModelError::new(kind, "busy").with_status(status);
        let error = error.with_retry_after(Duration::from_millis(1));
        let (model, handle) = ScriptedModel::always(Script::Fail(error));
        let seen = told.clone();
        let control = ControlPlane::open(store)
            .provider("p", move |_| model.clone())
            .on_event(move |event| seen.lock().unwrap().push(event.name()));
        (control, handle)
    });
    activate(&planes[0].0, scoring()).await;
    (planes, told)
}

async fn retries_are_shared(store: &(impl ControlStore + Clone)) {
    const CALLS: u32 = 40;
    // It is worth another try, and is no failure that opens a circuit.
    let (planes, told) = two_planes(store, Kind::Refused, 408).await;
    for call in 0..CALLS {
        let (control, _) = &planes[call as usize % 2];
        ask(&control.model(Scoring, "noisy")).await.unwrap_err();
    }
    let sent: usize = planes.iter().map(|(_, handle)| handle.count()).sum();
    let retries = sent - CALLS as usize;
    // 20 in all, and a fifth of the calls. Each plane may have earned a part of a retry.
    assert!((26..=28).contains(&retries), "{retries}");
    for (control, handle) in &planes {
        let before = handle.count();
        ask(&control.model(Scoring, "quiet")).await.unwrap_err();
        assert_eq!(handle.count() - before, 4, "a request and three retries");
    }
    assert_eq!(told.lock().unwrap().len(), 0);
}

async fn failures_are_shared(store: &(impl ControlStore + Clone)) {
    let ([(one, of_one), (other, of_other)], told) = two_planes(store, Kind::Overloaded, 503).await;
    ask(&one.model(Scoring, "acme")).await.unwrap_err();
    assert_eq!((of_one.count(), told.lock().unwrap().len()), (4, 0));
    // The fifth failure, of another process and another tenant.
    ask(&other.model(Scoring, "globex")).await.unwrap_err();
    assert_eq!(of_other.count(), 1);
    tokio::time::sleep(LOOK).await;
    for control in [&one, &other] {
        let error = ask(&control.model(Scoring, "acme")).await.unwrap_err();
        assert!(error.to_string().contains("again and again"), "{error}");
    }
    assert_eq!((of_one.count(), of_other.count()), (4, 1));
    assert_eq!(*told.lock().unwrap(), ["llm.circuit.opened"]);
}

#[tokio::test]
async fn l17_two_processes_share_the_retries_of_a_tenant_in_memory() {
    retries_are_shared(&SqliteStore::in_memory().await.unwrap()).await;
}

#[tokio::test]
async fn l19_two_processes_share_the_failures_of_a_model_in_memory() {
    failures_are_shared(&SqliteStore::in_memory().await.unwrap()).await;
}

#[cfg(unix)]
#[tokio::test]
async fn l17_l19_two_processes_share_retries_and_failures_in_postgresql() {
    let Some(server) = agents_needs::postgres::Server::shared() else {
        return;
    };
    let (first, second) = (server.database().await, server.database().await);
    let store = agents_control::PostgresStore::connect(first.address()).await;
    retries_are_shared(&store.unwrap()).await;
    let store = agents_control::PostgresStore::connect(second.address()).await;
    failures_are_shared(&store.unwrap()).await;
}
