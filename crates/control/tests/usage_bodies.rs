//! Prices beside those that `genai-prices` expects of real usage, by hand: `AGENTS_FIXTURES=DIR cargo test -p agents-control
//! --test usage_bodies -- --nocapture`, where `DIR/genai-prices/usages.json` is `tests/dataset/usages.json` of
//! pydantic/genai-prices. Without it, a line says that nothing was compared.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]
#![cfg(feature = "prices")]

use agents_control::Prices;
use agents_core::model::Usage;
use agents_needs::Need;
use serde_json::Value;

/// Counts of tokens that a usage of ours has. A usage with others costs more than tokens.
const KNOWN: [&str; 4] = [
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
];

fn usage(counts: &Value) -> Option<Usage> {
    let counts = counts.as_object()?;
    if counts.keys().any(|key| !KNOWN.contains(&&**key)) {
        return None;
    }
    let count = |key: &str| counts.get(key).and_then(Value::as_u64).unwrap_or(0);
    Some(Usage {
        input_tokens: count("input_tokens"),
        cached_tokens: count("cache_read_tokens"),
        cache_write_tokens: count("cache_write_tokens"),
        output_tokens: count("output_tokens"),
        requests: 1,
    })
}

/// Returns a decimal number of dollars in billionths, with its fractions.
fn nanos(price: &Value) -> Option<f64> {
    Some(price.as_str()?.parse::<f64>().ok()? * 1e9)
}

#[test]
fn l14_prices_of_real_usage() {
    let Ok(folder) = std::env::var("AGENTS_FIXTURES") else {
        return Need::Fixtures.missing("AGENTS_FIXTURES names no folder");
    };
    let file = std::fs::read(format!("{folder}/genai-prices/usages.json")).unwrap();
    let bodies: Vec<Value> = serde_json::from_slice(&file).unwrap();
    let prices = Prices::default();
    let (mut same, mut other, mut unknown, mut more) = (0, Vec::new(), 0, 0);
    for body in &bodies {
        let model = body["model"].as_str().unwrap_or_default();
        for extracted in body["extracted"].as_array().into_iter().flatten() {
            let Some(usage) = usage(&extracted["usage"]) else {
                more += 1;
                continue;
            };
            for by in extracted["extractors"].as_array().into_iter().flatten() {
                let provider = by["provider_id"].as_str().unwrap();
                let Some((input, output)) =
                    nanos(&by["input_price"]).zip(nanos(&by["output_price"]))
                else {
                    continue;
                };
                let Some(cost) = prices.cost(provider, model, &usage) else {
                    unknown += 1;
                    continue;
                };
                // Rounded up, and by less than a billionth.
                let difference = cost.nanos() as f64 - (input + output);
                match (-1e-3..1.0).contains(&difference) {
                    true => same += 1,
                    false => other.push((provider, model, difference)),
                }
            }
        }
    }
    println!(
        "{} bodies: {same} prices are the same, {} differ, {unknown} are unknown, {more} usages have other counts",
        bodies.len(),
        other.len()
    );
    let mut models: Vec<_> = other
        .iter()
        .map(|(provider, model, _)| (provider, model))
        .collect();
    models.sort_unstable();
    models.dedup();
    println!("{models:?}");
    assert!(same > 20 * other.len(), "{models:?}");
}
