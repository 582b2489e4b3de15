//! Prices of requests, in billionths of a dollar.

use agents_core::{model::Usage, run::Cost, tool::Pattern};
use std::collections::HashMap;

/// Prices of models: the prices that you set, and for other models the table of `genai-prices` (feature `prices`).
///
/// A model without a price is never free: its cost is unknown, and a profile with a cap refuses it. The table prices what a
/// provider bills by default. Costs are estimates, rounded up to a billionth of a dollar.
///
/// ```
/// use agents_control::{Cost, Prices};
/// use agents_core::model::Usage;
///
/// let prices = Prices::default().model("local/*", 0.0, 0.0).model("mine/large", 2.0, 8.0);
/// let usage = Usage { input_tokens: 1_000, output_tokens: 100, ..Usage::default() };
/// assert_eq!(prices.cost("mine", "large", &usage), Some(Cost::of(0.0028)));
/// assert_eq!(prices.cost("local", "qwen3:4b", &usage), Some(Cost::ZERO));
/// assert_eq!(prices.cost("mine", "small", &usage), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Prices {
    own: Vec<Own>,
    /// Names that the table has for providers, by the names that the control plane has for them.
    names: HashMap<String, String>,
}

/// Price of models that the application has set, in billionths of a dollar for a million tokens.
#[derive(Clone, Debug)]
struct Own {
    models: Pattern,
    input: u64,
    output: u64,
}

impl Prices {
    /// Sets the price of these models, in dollars: `input` for a million tokens that they read, and `output` for a
    /// million that they write.
    ///
    /// Models are named with their provider, as in `mine/large`; the first pattern that fits applies. A negative
    /// number, and one that is no number (NaN), becomes the greatest price, so that no mistake makes anything free.
    #[must_use]
    pub fn model(mut self, models: impl Into<Pattern>, input: f64, output: f64) -> Self {
        self.own.push(Own {
            models: models.into(),
            input: Cost::of(input).nanos(),
            output: Cost::of(output).nanos(),
        });
        self
    }

    /// Sets the name that the table has for a provider, such as `google` for `gemini-eu`. By default, it is the
    /// provider's own name, and `google` for `gemini`.
    #[must_use]
    pub fn provider(mut self, name: impl Into<String>, in_table: impl Into<String>) -> Self {
        self.names.insert(name.into(), in_table.into());
        self
    }

    /// Returns the cost of these tokens of a model; `None` if the model has no price.
    pub fn cost(&self, provider: &str, model: &str, usage: &Usage) -> Option<Cost> {
        let name = format!("{provider}/{model}");
        if let Some(own) = self.own.iter().find(|own| own.models.matches(&name)) {
            let input = u128::from(own.input) * u128::from(usage.input_tokens);
            let output = u128::from(own.output) * u128::from(usage.output_tokens);
            let nanos = input.saturating_add(output).div_ceil(1_000_000);
            return Some(Cost::of_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)));
        }
        self.in_table(provider, model, usage)
    }

    /// Returns the largest cost of a request with at most so many tokens; `None` if the model has no price.
    pub(crate) fn largest(
        &self,
        provider: &str,
        model: &str,
        input_tokens: u64,
        output_tokens: u64,
    ) -> Option<Cost> {
        let plain = Usage {
            input_tokens,
            output_tokens,
            requests: 1,
            ..Usage::default()
        };
        // Tokens that are written into a cache may cost more.
        let cached = Usage {
            cache_write_tokens: input_tokens,
            ..plain
        };
        let plain = self.cost(provider, model, &plain)?;
        let cached = self.cost(provider, model, &cached);
        Some(cached.map_or(plain, |cached| cached.max(plain)))
    }

    #[cfg(feature = "prices")]
    fn in_table(&self, provider: &str, model: &str, usage: &Usage) -> Option<Cost> {
        use genai_prices::{PriceRequest, UsageKey};

        let provider = match (self.names.get(provider), provider) {
            (Some(name), _) => name,
            (None, "gemini") => "google",
            (None, name) => name,
        };
        // Cached tokens are a part of those that were read, whatever a provider reports.
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let written = usage.cache_write_tokens.min(usage.input_tokens - cached);
        let mut counts = genai_prices::Usage::from([
            (UsageKey::INPUT_TOKENS, usage.input_tokens as f64),
            (UsageKey::OUTPUT_TOKENS, usage.output_tokens as f64),
        ]);
        if cached > 0 {
            counts.insert(UsageKey::CACHE_READ_TOKENS, cached as f64);
        }
        if written > 0 {
            counts.insert(UsageKey::CACHE_WRITE_TOKENS, written as f64);
        }
        let request = PriceRequest::new(model, &counts).with_provider_id(provider);
        let price = genai_prices::calculate(&request).ok()?;
        nanos(price.total_price).map(Cost::of_nanos)
    }

    #[cfg(not(feature = "prices"))]
    fn in_table(&self, _provider: &str, _model: &str, _usage: &Usage) -> Option<Cost> {
        None
    }
}

/// Returns dollars as billionths, rounded up; `None` if the number is no amount. A millionth part of a billionth is an
/// error of the arithmetic, and is no reason to round up.
#[cfg(feature = "prices")]
fn nanos(dollars: f64) -> Option<u64> {
    if !(dollars.is_finite() && dollars >= 0.0) {
        return None;
    }
    let nanos = dollars * 1e9;
    let near = nanos.round();
    let is_near = (nanos - near).abs() <= 1e-6_f64.max(nanos * 1e-12);
    Some(if is_near { near } else { nanos.ceil() } as u64)
}

#[cfg(all(test, feature = "prices"))]
mod tests {
    use super::*;

    fn usage(input: u64, cached: u64, output: u64) -> Usage {
        Usage {
            input_tokens: input,
            cached_tokens: cached,
            output_tokens: output,
            ..Usage::default()
        }
    }

    #[test]
    fn dollars_are_rounded_up_to_billionths() {
        for (dollars, expect) in [
            (0.0, Some(0)),
            (0.000_010_5, Some(10_500)),
            (0.000_000_000_2, Some(1)),
            (0.3, Some(300_000_000)),
            (1.000_000_000_1, Some(1_000_000_001)),
            (-0.1, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
        ] {
            assert_eq!(nanos(dollars), expect, "{dollars}");
        }
    }

    #[test]
    fn l14_prices_of_the_table() {
        let prices = Prices::default();
        // 2.50 and 10 dollars for a million tokens; half of the first for cached ones.
        let cost = |usage: &Usage| prices.cost("openai", "gpt-4o", usage).unwrap();
        assert_eq!(cost(&usage(1_000, 0, 100)), Cost::of(0.0035));
        assert_eq!(cost(&usage(1_000, 1_000, 0)), Cost::of(0.00125));
        assert_eq!(cost(&usage(1_000, 5_000, 0)), Cost::of(0.00125));
    }

    #[test]
    fn l14_an_unknown_price_is_not_zero() {
        let prices = Prices::default();
        let usage = usage(1_000, 0, 100);
        assert_eq!(prices.cost("openai", "no-such-model", &usage), None);
        assert_eq!(prices.cost("my-own", "gpt-4o", &usage), None);
        let named = prices.provider("my-own", "openai");
        assert!(named.cost("my-own", "gpt-4o", &usage).is_some());
    }

    #[test]
    fn the_largest_cost_counts_the_writing_into_a_cache() {
        let prices = Prices::default();
        let model = ("anthropic", "claude-sonnet-4-20250514");
        let plain = prices.cost(model.0, model.1, &usage(1_000, 0, 0)).unwrap();
        let largest = prices.largest(model.0, model.1, 1_000, 0).unwrap();
        assert!(largest > plain, "{largest} {plain}");
    }
}
