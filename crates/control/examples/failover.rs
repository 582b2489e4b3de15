//! Asks a model with a fallback, and shows who answered.
//!
//! ```console
//! $ cargo run -p agents-control --example failover -- \
//!     --primary http://localhost:8000/v1 --primary-model large \
//!     --fallback http://localhost:8001/v1 --fallback-model small --requests 3 --interval 1
//! ```
//!
//! Prints a line of JSON for each request. `--probe MODEL` sends one more request to another model of the primary.

use agents_control::{
    Answer, ControlPlane, Controlled, ModelProfile, Principal, PurposeKey, SqliteStore, Target,
};
use agents_core::model::{Delta, History, Message, Request};
use agents_openai::openai;
use serde_json::{Value, json};
use std::{process::ExitCode, time::Duration};
use tokio::time::{Instant, sleep_until};

const USAGE: &str = "usage: failover --primary URL --primary-model M --fallback URL --fallback-model M \
    [--requests N] [--interval S] [--probe MODEL]";

/// Arguments of the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) primary: String,
    pub(crate) primary_model: String,
    pub(crate) fallback: String,
    pub(crate) fallback_model: String,
    pub(crate) requests: u32,
    pub(crate) interval: Duration,
    pub(crate) probe: Option<String>,
}

impl Options {
    fn parse(args: impl IntoIterator<Item = String>) -> Option<Self> {
        let mut options = Options {
            requests: 1,
            ..Options::default()
        };
        let mut args = args.into_iter();
        while let Some(name) = args.next() {
            let value = args.next()?;
            match name.as_str() {
                "--primary" => options.primary = value,
                "--primary-model" => options.primary_model = value,
                "--fallback" => options.fallback = value,
                "--fallback-model" => options.fallback_model = value,
                "--requests" => options.requests = value.parse().ok()?,
                "--interval" => {
                    options.interval = Duration::try_from_secs_f64(value.parse().ok()?).ok()?;
                }
                "--probe" => options.probe = Some(value),
                _ => return None,
            }
        }
        let needed = [
            &options.primary,
            &options.primary_model,
            &options.fallback,
            &options.fallback_model,
        ];
        needed
            .iter()
            .all(|value| !value.is_empty())
            .then_some(options)
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let Some(options) = Options::parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    run(&options, |line| println!("{line}")).await;
    ExitCode::SUCCESS
}

/// Sends the requests, and shows a line for each, in order.
pub(crate) async fn run(options: &Options, mut show: impl FnMut(Value)) {
    let store = SqliteStore::in_memory().await.expect("there is memory");
    let (primary, fallback) = (options.primary.clone(), options.fallback.clone());
    let control = ControlPlane::open(&store)
        .provider("primary", move |target: &Target<'_>| {
            openai(target.model).base_url(&primary)
        })
        .provider("fallback", move |target: &Target<'_>| {
            openai(target.model).base_url(&fallback)
        })
        .purpose("probe");
    let profile = ModelProfile::global(PurposeKey::Reasoning)
        .model("primary", &options.primary_model)
        .fallback("fallback", &options.fallback_model)
        .across_providers();
    let operator = Principal::operator();
    let activated = control.activate(profile).by(&operator).await;
    activated.expect("the profile is valid");
    let model = control.model(PurposeKey::Reasoning, "example");

    // Each request starts at its own time, also if those before are still under way.
    let begin = Instant::now();
    let requests = (0..options.requests).map(|index| {
        let (model, at) = (model.clone(), begin + options.interval * index);
        tokio::spawn(async move {
            sleep_until(at).await;
            ask(&model).await
        })
    });
    for request in requests.collect::<Vec<_>>() {
        show(request.await.expect("the request has not panicked"));
    }
    if let Some(probe) = &options.probe {
        let profile =
            ModelProfile::global(PurposeKey::extra("probe")).model("primary", probe.as_str());
        let activated = control.activate(profile).by(&operator).await;
        activated.expect("the profile is valid");
        show(ask(&control.model("probe", "example")).await);
    }
}

/// Sends one streaming request, and returns the line about it.
async fn ask(model: &Controlled) -> Value {
    let mut history = History::new();
    history.push(Message::User {
        content: "Why does a second model help when the first one is down?".into(),
    });
    let begun = Instant::now();
    let sink = |_: Delta<'_>| {};
    let answer = model.answer(Request::new(&history).with_sink(&sink)).await;
    line(&answer, begun.elapsed())
}

fn line(answer: &Answer, took: Duration) -> Value {
    let sent = |provider: &str| {
        let sends = answer.sends.iter();
        sends.filter(|sent| sent.to.provider == provider).count()
    };
    let reply = answer.result.as_ref().ok();
    json!({
        "ok": reply.is_some(),
        "text": reply.map(|reply| &reply.content),
        "model": answer.answered().map(|candidate| &candidate.model),
        "usage": reply.map(|reply| json!({
            "input": reply.usage.input_tokens,
            "output": reply.usage.output_tokens,
        })),
        "attempts": {"primary": sent("primary"), "fallback": sent("fallback")},
        "ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "error": answer.result.as_ref().err().map(ToString::to_string),
    })
}
