use agents::{prelude::*, tool};
use std::time::Duration;

/// Looks.
#[tool(reads)]
async fn look() -> std::io::Result<String> {
    Ok(String::new())
}

on_error!(Look, match error {
    invalid_args(_, _) => feedback("one"),
    deserialization_error(None, _) => sanitize(None),
    deserialization_error(_, _) => sanitize(()).or(feedback("null")),
    execution_error(Returned(_)) => retry(backoff = exponential(Duration::from_secs(1))),
    execution_error(TimedOut(_)) => {
        retry(backoff = exponential(base = Duration::from_secs(1), cap = Duration::from_secs(9)))
    }
    execution_error(Panicked("")) => retry(max_attempts = 2).backoff(exponential(100)),
    execution_error(_) => retry(backoff = Duration::from_millis(20)),
});

fn main() {}
