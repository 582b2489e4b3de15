//! Measures what a control plane adds to a call, beside the same model without one.
//!
//! ```console
//! $ cargo run --release -p agents-control --example overhead [CALLS] [FILE]
//! ```
//!
//! The model answers at once, in this process. Each call goes through the whole path: the profile, the circuit, the rate, the
//! hold, and the settlement with its row of usage. The store is in memory, or in a SQLite file.

use agents_control::{
    ControlPlane, ModelProfile, Prices, Principal, PurposeKey, SqliteStore, per_second, usd,
};
use agents_core::{
    async_trait,
    model::{History, Message, Model, ModelError, Reply, Request, Usage},
};
use std::time::{Duration, Instant};

/// Model that answers at once.
#[derive(Clone)]
struct Instantly;

#[async_trait]
impl Model for Instantly {
    fn id(&self) -> &str {
        "instant/one"
    }

    async fn chat(&self, _request: Request<'_>) -> Result<Reply, ModelError> {
        Ok(Reply {
            content: "Oslo".to_owned(),
            usage: Usage {
                input_tokens: 10,
                output_tokens: 1,
                requests: 1,
                ..Usage::default()
            },
            ..Reply::default()
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let calls = args.next().map_or(Ok(10_000), |calls| calls.parse())?;
    let store = match args.next() {
        Some(path) => SqliteStore::open(path).await?,
        None => SqliteStore::in_memory().await?,
    };
    let control = ControlPlane::open(&store)
        .provider("instant", |_| Instantly)
        .prices(Prices::default().model("instant/*", 1.0, 5.0));
    let profile = ModelProfile::global(PurposeKey::Scoring)
        .model("instant", "one")
        .max_output_tokens(100)
        .daily_cap(usd(1_000))
        .rate(per_second(1_000_000));
    control.activate(profile).by(&Principal::operator()).await?;
    let bare = measure(&Instantly, calls).await?;
    let through = measure(&control.model(PurposeKey::Scoring, "acme"), calls).await?;
    println!("bare: {bare:?} a call (median)");
    println!("through the control plane: {through:?} a call (median)");
    Ok(())
}

/// Returns the median time of a call.
async fn measure(model: &impl Model, calls: usize) -> Result<Duration, ModelError> {
    let mut history = History::new();
    history.push(Message::User {
        content: "Norway".into(),
    });
    let mut times = Vec::with_capacity(calls);
    for _ in 0..calls {
        let begun = Instant::now();
        model.chat(Request::new(&history)).await?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}
