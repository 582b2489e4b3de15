//! Runs whose agents have another model when they go on.

use crate::office::*;
use agents::{
    async_trait,
    model::{Model, ModelError, Reply, Request},
    testing::{Script, ScriptedModel},
};
use agents_runtime::{Approval, Principal, Runtime, SqliteStore};

/// A model under another name.
struct Renamed<M>(M, &'static str);

#[async_trait]
impl<M: Model> Model for Renamed<M> {
    fn id(&self) -> &str {
        self.1
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        self.0.chat(request).await
    }
}

/// Starts a run that waits for its approval, approves it, and returns its runtime with this model in place of the first one.
async fn with_model(
    files: &Files,
    model: impl Model,
) -> (Runtime, agents_runtime::RunRef<String>, Ran) {
    let (office, run, request) = stored(files).await;
    office.decide(&request, Approval::Approve).await.unwrap();
    let store = SqliteStore::open(files.db()).await.unwrap();
    let runtime = Runtime::open(store).model(model);
    let ran = Ran::default();
    runtime.agent(payer(pay_of(&ran, "1.0.0")));
    (runtime, run, ran)
}

fn paid() -> ScriptedModel {
    ScriptedModel::new([Script::text("Paid.")]).0
}

#[tokio::test]
async fn a_changed_model_holds_a_run_before_it_pays() {
    let files = Files::new("changed-model");
    let (runtime, run, ran) = with_model(&files, Renamed(paid(), "other/large")).await;
    let worker = Worker::start(&runtime);
    let why = held(&run).await;
    for part in ["`scripted`", "`other/large`", ".allow_model_change(..)"] {
        assert!(why.contains(part), "{why}");
    }
    assert!(
        ran.lock().unwrap().is_empty(),
        "nothing is paid before that"
    );
    // A release with the model that is named lets this run go on; one without it does not.
    let (client, operator) = (runtime.as_client(), Principal::operator());
    client.release(run.id(), &operator).await.unwrap();
    held(&run).await;
    client
        .release_with_model(run.id(), "other/small", &operator)
        .await
        .unwrap();
    held(&run).await;
    assert!(ran.lock().unwrap().is_empty());
    client
        .release_with_model(run.id(), "other/large", &operator)
        .await
        .unwrap();
    assert_eq!(done(&run).await.result.unwrap(), "Paid.");
    assert_eq!(ran.lock().unwrap().len(), 1);
    worker.stop().await;
    let verdict = runtime.audit().verify().await.unwrap();
    assert!(verdict.is_intact(), "{verdict}");
}

#[tokio::test]
async fn a_runtime_may_allow_the_change() {
    let files = Files::new("allowed-model");
    let (runtime, run, ran) = with_model(&files, Renamed(paid(), "other/large")).await;
    let runtime =
        runtime.allow_model_change(|before, now| (before, now) == ("scripted", "other/large"));
    let _worker = Worker::start(&runtime);
    assert_eq!(done(&run).await.result.unwrap(), "Paid.");
    assert_eq!(ran.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_fallback_is_no_other_model() {
    let files = Files::new("with-fallback");
    let (runtime, run, ran) = with_model(&files, paid().or(Renamed(paid(), "other/large"))).await;
    let _worker = Worker::start(&runtime);
    assert_eq!(done(&run).await.result.unwrap(), "Paid.");
    assert_eq!(ran.lock().unwrap().len(), 1);
}
