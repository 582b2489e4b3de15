//! Scores, and what a scorer sees.

use super::{Case, wording};
use agents_core::{Outcome, reader::Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Case that was tried, with its output, for a [predicate](super::Eval::predicate).
#[derive(Debug)]
#[non_exhaustive]
pub struct Tried<'t, I, O, E> {
    /// The case that was tried.
    pub case: &'t Case<I, E>,
    /// Answer that the agent gave.
    pub output: &'t O,
    /// Everything else that the run left behind: receipts, usage, trace.
    pub outcome: &'t Outcome<O>,
}

/// Result of one scorer for one case.
///
/// ```
/// use agents::evals::Score;
///
/// assert_eq!(Score::from(true), Score::pass());
/// assert!(!Score::fail("it is too long").passed);
/// assert!(Score::graded(0.8, 0.7).passed); // 0.8 reached, 0.7 needed
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Value from 0, the worst, to 1, the best.
    pub value: f64,
    /// Is `true` if the value is good enough, so that the case may pass.
    pub passed: bool,
    /// Explanation of the score for people, if the scorer gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Score {
    /// Creates the score 1, which passes.
    pub fn pass() -> Self {
        Score::graded(1.0, 1.0)
    }

    /// Creates the score 0, which does not pass, with a reason.
    pub fn fail(why: impl Into<String>) -> Self {
        Score {
            note: Some(why.into()),
            ..Score::graded(0.0, 1.0)
        }
    }

    /// Creates a score that passes if the value is at least `needed`. A value below 0 counts as 0, a value above 1 as
    /// 1, and `NaN` as 0.
    pub fn graded(value: f64, needed: f64) -> Self {
        let value = match value.is_nan() {
            true => 0.0,
            false => value.clamp(0.0, 1.0),
        };
        Score {
            value,
            passed: value >= needed,
            note: None,
        }
    }

    /// Sets the explanation of the score for people.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

impl From<bool> for Score {
    fn from(passed: bool) -> Self {
        Score::graded(if passed { 1.0 } else { 0.0 }, 1.0)
    }
}

/// Score in a report, with the name of its scorer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CaseScore {
    /// Name of the scorer that gave the score.
    pub by: String,
    /// The score that the scorer gave.
    #[serde(flatten)]
    pub score: Score,
}

/// Scores an output by whether it equals the expected one, both as JSON.
pub(super) fn exact(expected: &Value, output: &Value) -> Score {
    match expected == output {
        true => Score::pass(),
        false => Score::fail(wording::differs(&expected.to_string(), &output.to_string())),
    }
}

/// Scores an output by whether it fits a schema. A text may also be JSON that fits.
pub(super) fn fits(schema: &Schema, output: &Value) -> Score {
    let whole = schema.fits(&output.to_string());
    let fit = match (&whole, output) {
        (Err(_), Value::String(text)) => schema.fits(text),
        _ => whole,
    };
    match fit {
        Ok(()) => Score::pass(),
        Err(misfit) => Score::fail(misfit.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Score, exact, fits};
    use agents_core::reader::Schema;
    use serde_json::json;

    #[test]
    fn a_value_beyond_its_range_is_brought_back() {
        for (value, kept) in [(7.0, 1.0), (-1.0, 0.0), (f64::NAN, 0.0), (0.5, 0.5)] {
            assert_eq!(Score::graded(value, 0.5).value, kept);
        }
        assert!(!Score::graded(f64::NAN, 0.5).passed);
        assert!(!Score::graded(1.0, f64::NAN).passed);
    }

    #[test]
    fn equal_values_may_be_written_differently() {
        assert!(exact(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})).passed);
        assert!(!exact(&json!("1"), &json!(1)).passed);
    }

    #[test]
    fn a_text_fits_as_a_text_or_as_what_it_holds() {
        let object = Schema::new(&json!({"type": "object", "required": ["a"]}));
        assert!(fits(&object, &json!({"a": 1})).passed);
        assert!(fits(&object, &json!("{\"a\": 1}")).passed);
        assert!(!fits(&object, &json!("{}")).passed);
        assert!(!fits(&object, &json!("Sure! {\"a\": 1}")).passed);
        assert!(fits(&Schema::new(&json!({"type": "string"})), &json!("a word")).passed);
    }
}
