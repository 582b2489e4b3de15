//! Words of risks in tables.

use agents_core::tool::Risk;

pub(crate) fn risk_word(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
    }
}

pub(crate) fn read_risk(word: &str) -> Option<Risk> {
    [Risk::Low, Risk::Medium, Risk::High]
        .into_iter()
        .find(|risk| risk_word(*risk) == word)
}
