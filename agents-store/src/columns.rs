//! Values as the columns of tables have them.

use agents_core::tool::Risk;
use std::time::Duration;

/// Returns a time in milliseconds.
pub(crate) fn millis(time: Duration) -> u64 {
    // Integers of databases have a sign; a thousand years are as good as for ever.
    const AGES: u64 = 1000 * 60 * 60 * 24 * 365 * 1000;
    u64::try_from(time.as_millis()).unwrap_or(AGES).min(AGES)
}

/// Returns the maximum number of rows of a list.
pub(crate) fn limit(asked: u32) -> u32 {
    match asked {
        0 => 100,
        asked => asked,
    }
}

/// Returns the word for a risk.
pub(crate) fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
    }
}

/// Reads the word for a risk.
pub(crate) fn read_risk(word: &str) -> Option<Risk> {
    [Risk::Low, Risk::Medium, Risk::High]
        .into_iter()
        .find(|one| risk(*one) == word)
}
