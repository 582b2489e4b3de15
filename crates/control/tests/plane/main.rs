//! A control plane from outside: profiles, limits, credentials, and what happens when something is amiss.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod amiss;
mod credentials;
mod limits;
mod processes;
mod profiles;
mod providers;
mod rules;
mod runtime;
mod shared;
mod tokens;
mod traces;
mod usage;

use agents_control::{
    ControlPlane, Controlled, ModelProfile, Prices, Principal, PurposeKey, SqliteStore,
};
use agents_core::{
    model::{Content, History, Message, ModelError, Reply, Request, Usage},
    testing::{Script, ScriptedModel},
};

/// Creates a reply with this usage.
fn reply(input_tokens: u64, output_tokens: u64) -> Reply {
    Reply {
        content: "Oslo".to_owned(),
        usage: Usage {
            input_tokens,
            output_tokens,
            requests: 1,
            ..Usage::default()
        },
        ..Reply::default()
    }
}

/// Creates a control plane with the provider `p`, whose models answer with this reply, and the handle of the model. A
/// token that is written costs a thousandth of a dollar, and one that is read nothing.
async fn plane(answer: Reply) -> (ControlPlane, ScriptedModel) {
    let store = SqliteStore::in_memory().await.unwrap();
    let (model, handle) = ScriptedModel::always(Script::Reply(answer));
    let control = ControlPlane::open(&store)
        .provider("p", move |_| model.clone())
        .prices(prices());
    (control, handle)
}

fn prices() -> Prices {
    Prices::default().model("p/*", 0.0, 1_000.0)
}

fn operator() -> Principal {
    Principal::operator()
}

/// Returns a global profile of scores.
fn scoring() -> ModelProfile {
    ModelProfile::global(PurposeKey::Scoring).model("p", "m")
}

/// Activates a profile as the operator, and returns its version.
async fn activate(control: &ControlPlane, profile: ModelProfile) -> u64 {
    let activated = control.activate(profile).by(&operator()).await;
    activated.unwrap().version
}

async fn ask(model: &Controlled) -> Result<Reply, ModelError> {
    ask_about(model, "Norway".into()).await
}

async fn ask_about(model: &Controlled, content: Content) -> Result<Reply, ModelError> {
    let mut history = History::new();
    history.push(Message::User { content });
    model.answer(Request::new(&history)).await.result
}
