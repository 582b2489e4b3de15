use crate::{Error, ErrorKind, model::Usage, tool::Pattern};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, ops::AddAssign};

/// Number of parts of one unit of money: costs are counted in billionths.
const PARTS: u64 = 1_000_000_000;

/// An amount of money in the currency of the prices, such as dollars: an integer number of billionths of a unit.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::Cost;
///
/// let cost = Cost::of(0.25);
/// assert_eq!(cost.to_string(), "0.25");
/// assert!(cost < Cost::of(1.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(u64);

impl Cost {
    /// Amount of zero.
    pub const ZERO: Cost = Cost(0);

    /// Creates an amount from units of the currency. A negative number, NaN and a number beyond the range become the
    /// greatest amount, so that no mistake makes anything free; as a bound, the greatest amount is refused. The amount
    /// is rounded to a billionth.
    pub fn of(amount: f64) -> Cost {
        match amount >= 0.0 {
            // The conversion saturates: beyond the range the amount is the greatest one.
            true => Cost((amount * PARTS as f64).round() as u64),
            false => Cost(u64::MAX),
        }
    }

    /// Returns the message about an amount that is no valid bound; `None` if the amount is valid. `of` names what has
    /// the bound, for the message.
    pub(crate) fn defect_as_bound(self, of: &str) -> Option<String> {
        // The number behind the greatest amount is unknown, and the amount would bound nothing.
        (self == Cost(u64::MAX)).then(|| {
            format!("the `cost` of {of} is not a valid bound; give a number of 0 or more, such as `cost(0.50)`")
        })
    }

    /// Creates an amount of billionths of a unit of the currency in which the prices are given, such as dollars.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::run::Cost;
    ///
    /// assert_eq!(Cost::of_nanos(250_000_000), Cost::of(0.25));
    /// ```
    pub const fn of_nanos(nanos: u64) -> Cost {
        Cost(nanos)
    }

    /// Returns the amount in billionths of a unit of the currency in which the prices are given, such as dollars.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Returns the amount in units of the currency in which the prices are given, such as dollars.
    ///
    /// An amount is kept in whole billionths of a unit. The number is exact up to about nine million units.
    ///
    /// ```
    /// # use agents_core as agents;
    /// assert_eq!(agents::run::Cost::of(0.25).amount(), 0.25);
    /// ```
    pub fn amount(self) -> f64 {
        self.0 as f64 / PARTS as f64
    }
}

impl From<f64> for Cost {
    fn from(amount: f64) -> Cost {
        Cost::of(amount)
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:09}", self.0 % PARTS);
        match digits.trim_end_matches('0') {
            "" => write!(f, "{}", self.0 / PARTS),
            digits => write!(f, "{}.{digits}", self.0 / PARTS),
        }
    }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.amount())
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Cost::of)
    }
}

/// Serialization of a cost as a number of billionths, which is how facts hold it.
pub(crate) mod nanos {
    use super::Cost;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        cost: &Option<Cost>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        cost.map(Cost::nanos).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Cost>, D::Error> {
        let nanos = Option::<u64>::deserialize(deserializer)?;
        Ok(nanos.map(Cost))
    }
}

/// Sum of the costs at a place in a run so far.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Paid {
    parts: u64,
    /// Is `true` if a model without a price was asked, so that the sum is not the whole cost.
    unpriced: bool,
}

impl Paid {
    pub(crate) fn add(&mut self, cost: Option<Cost>) {
        match cost {
            Some(Cost(parts)) => self.parts = self.parts.saturating_add(parts),
            None => self.unpriced = true,
        }
    }

    /// Adds the costs that `other` has summed up to this sum.
    pub(crate) fn join(&mut self, other: Paid) {
        self.parts = self.parts.saturating_add(other.parts);
        self.unpriced |= other.unpriced;
    }

    /// Returns the sum of the costs that are known, without those of models that have no price.
    pub(crate) fn known(self) -> Cost {
        Cost(self.parts)
    }

    /// Returns the sum, or `None` if a model without a price was asked.
    pub(crate) fn total(self) -> Option<Cost> {
        (!self.unpriced).then_some(self.known())
    }
}

/// Price of the models that match a pattern, in billionths for a million tokens.
#[derive(Clone, Debug)]
struct Price {
    models: Pattern,
    input: u64,
    output: u64,
}

/// Prices of models, by which the cost of a run is counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prices {
    known: Vec<Price>,
    /// Text of the first defect among the prices that were added: a price that is negative, infinite or not a number.
    defect: Option<String>,
}

impl Prices {
    /// Adds a price for a million tokens. If several prices match a model, the first one applies.
    pub(crate) fn add(&mut self, models: Pattern, input: f64, output: f64) {
        for (price, tokens) in [(input, "input"), (output, "output")] {
            if !(price.is_finite() && price >= 0.0) {
                self.defect.get_or_insert_with(|| {
                    format!("a million {tokens} tokens of the model `{models}` cannot cost {price}; a price is a number that is not negative")
                });
            }
        }
        self.known.push(Price {
            models,
            input: Cost::of(input).0,
            output: Cost::of(output).0,
        });
    }

    /// Adds the prices of the run around this one; they apply where the run's own prices say nothing.
    pub(crate) fn inherit(&mut self, outer: &Prices) {
        self.known.extend(outer.known.iter().cloned());
    }

    /// Returns an error if a price that was set for this run itself is negative, infinite or not a number.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match &self.defect {
            None => Ok(()),
            Some(defect) => Err(Error::new(ErrorKind::Build, defect)),
        }
    }

    /// Returns the cost of the usage, rounded up to a billionth; `None` if the model has no price.
    pub(crate) fn of(&self, model: &str, usage: &Usage) -> Option<Cost> {
        let price = self
            .known
            .iter()
            .find(|price| price.models.matches(model))?;
        let input = u128::from(price.input) * u128::from(usage.input_tokens);
        let output = u128::from(price.output) * u128::from(usage.output_tokens);
        let nanos = input.saturating_add(output).div_ceil(1_000_000);
        Some(Cost(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_without_loss() {
        for (amount, text) in [
            (0.0, "0"),
            (1.5, "1.5"),
            (0.000_000_15, "0.00000015"),
            (0.000_000_001, "0.000000001"),
            (12_345.0, "12345"),
        ] {
            let cost = Cost::of(amount);
            assert_eq!(cost.to_string(), text);
            let wire = serde_json::to_string(&cost).unwrap();
            assert_eq!(serde_json::from_str::<Cost>(&wire).unwrap(), cost);
        }
    }

    #[test]
    fn no_mistake_makes_anything_free() {
        for amount in [-1.0, f64::NAN, f64::INFINITY, 1e30] {
            assert_eq!(Cost::of(amount), Cost(u64::MAX));
        }
    }

    #[test]
    fn a_token_costs_a_millionth_of_a_million() {
        let mut prices = Prices::default();
        prices.add("gpt-mini*".into(), 0.15, 0.6);
        prices.add("gpt-*".into(), 2.5, 10.0);
        let usage = Usage {
            input_tokens: 1_000,
            output_tokens: 100,
            requests: 1,
            ..Usage::default()
        };
        assert_eq!(prices.of("gpt-mini-4", &usage), Some(Cost::of(0.00021)));
        assert_eq!(prices.of("gpt-4", &usage), Some(Cost::of(0.0035)));
        assert_eq!(prices.of("other", &usage), None);
        let endless = Usage {
            input_tokens: u64::MAX,
            ..usage
        };
        assert_eq!(prices.of("gpt-4", &endless), Some(Cost(u64::MAX)));
    }
}
