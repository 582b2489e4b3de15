//! The verbs. Each makes a [`Decision`] and does nothing else.

use super::{
    CanRetry, CanSanitize, Decision, Fixer, FixerRef, IntoText, IntoValue, Kind, Raw, Severity,
    Step, exponential,
};
use crate::reader;
use serde_json::Value;

/// Give the arguments anew, as text: it is read, validated and gated like any other.
///
/// Nothing (`None`, `Err`), and text that was tried for this call already, fall through.
///
/// ```
/// use agents_core::recovery::*;
///
/// let decision: Decision<InvalidArgs> = fix(None).or(feedback("send JSON"));
/// assert_eq!(decision.steps().len(), 2);
/// ```
pub fn fix<K: Kind>(text: impl IntoText) -> Decision<K> {
    Decision::one(Step::Fix(text.into_text()))
}

/// Ask a repair agent; once, unless [`retries`](Decision::retries) says otherwise.
pub fn fix_with<K: Kind>(agent: impl Fixer) -> Decision<K> {
    Decision::one(Step::Ask {
        fixer: FixerRef::new(agent),
        retries: 1,
    })
}

/// Put this value where the one at fault is, or supply the missing one.
pub fn sanitize<K: CanSanitize>(value: impl IntoValue) -> Decision<K> {
    Decision::one(Step::Sanitize(value.into_value()))
}

/// Run the same call again: up to 3 executions in all, with exponential back-off, unless
/// [`max_attempts`](Decision::max_attempts) and [`backoff`](Decision::backoff) say otherwise.
///
/// A tool that writes is retried only if it is `idempotent`.
pub fn retry<K: CanRetry>() -> Decision<K> {
    Decision::one(Step::Retry {
        max_attempts: 3,
        backoff: exponential(),
    })
}

/// Tell the model what went wrong, with this hint.
pub fn feedback<K: Kind>(hint: impl Into<String>) -> Decision<K> {
    Decision::one(Step::Feedback(hint.into()))
}

/// Hand the failure up to whoever can judge it; [`severity`](Decision::severity) says how bad it
/// is, `High` if nothing is said.
pub fn escalate<K: Kind>(reason: impl Into<String>) -> Decision<K> {
    Decision::one(Step::Escalate {
        reason: reason.into(),
        severity: Severity::High,
    })
}

/// End the run, now: nothing may go on.
pub fn throw<K: Kind>(reason: impl Into<String>) -> Decision<K> {
    Decision::one(Step::Throw {
        reason: reason.into(),
    })
}

/// Ask the next layer.
pub fn inherit<K: Kind>() -> Decision<K> {
    Decision::one(Step::Inherit)
}

/// The text, read as leniently as its schema allows; `None` if it cannot be read so.
///
/// Reading does this by itself before any arm is asked; it is for texts that an arm has changed.
pub fn lenient(raw: &Raw<'_>) -> Option<String> {
    reader::read(raw, raw.schema())
        .ok()
        .map(|reading| reading.json.into_owned())
}

/// The value, made to fit the schema; `None` if it cannot be.
pub fn coerce(value: &Value, schema: &Value) -> Option<Value> {
    let text = value.to_string();
    let reading = reader::coerce(&text, schema).ok()?;
    serde_json::from_str(&reading.json).ok()
}
