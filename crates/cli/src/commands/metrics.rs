//! `agents metrics`.

use crate::{failure::Failure, out::Out, session::Session};
use serde_json::json;
use std::time::Duration;

pub(crate) async fn print(session: &Session, out: &mut Out) -> Result<(), Failure> {
    let metrics = session.client().metrics(session.tenant.as_deref()).await?;
    if !out.is_json() {
        let text = metrics.to_string();
        return text.lines().try_for_each(|line| out.line(line));
    }
    let store = &metrics.store;
    let age = |age: Option<Duration>| age.map(|age| age.as_secs_f64());
    out.object(&json!({
        "runs": store.runs,
        "runs_paused": store.paused,
        "oldest_claimable_seconds": age(store.oldest_claimable),
        "requests_pending": store.pending,
        "oldest_pending_seconds": age(store.oldest_pending),
        "executions_in_doubt": store.in_doubt,
        "deliveries_pending": store.undelivered,
        "deliveries_given_up": store.given_up,
    }))
}
