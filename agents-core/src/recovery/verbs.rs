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
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// // `Option<String>`, `String` or `Result<String, _>`: whatever your own repair gives.
/// let cleaned = "json {}".strip_prefix("json ").map(str::to_owned);
/// let decision: Decision<InvalidArgs> = fix(cleaned).or(feedback("send JSON"));
/// assert_eq!(decision.steps()[0], Step::Fix(Some("{}".to_owned())));
/// ```
pub fn fix<K: Kind>(text: impl IntoText) -> Decision<K> {
    Decision::one(Step::Fix(text.into_text()))
}

/// Ask a repair agent; once, unless [`retries`](Decision::retries) says otherwise.
///
/// A run that was stored finds the agent again if it is named in an arm as `fix(agent = ..)`, or listed
/// under the `fixers` of the agent that calls. No compiler sees which agents a helper names: a run that is
/// [stored](crate::agent::Run::on_checkpoint) ends with [`ErrorKind::Build`](crate::ErrorKind::Build) when
/// it is about to ask one that is not listed.
///
/// A repair agent that brings no model is driven by that of the agent whose call it repairs; since a model
/// has made that call, there is one.
///
/// ```
/// # use agents_core as agents;
/// use agents::{AgentBuilder, recovery::*};
///
/// let mender = AgentBuilder::<Repair, String>::new("mender").prompt("Return ONLY the fixed JSON.").build();
/// let decision: Decision<InvalidArgs> = fix_with(mender).retries(3).or(escalate("nobody can read this"));
/// assert_eq!(format!("{decision:?}"), "invalid_args: [Ask { fixer: mender, retries: 3 }, \
///     Escalate { reason: \"nobody can read this\", severity: High }]");
/// ```
pub fn fix_with<K: Kind>(agent: impl Fixer) -> Decision<K> {
    Decision::one(Step::Ask {
        fixer: FixerRef::new(agent),
        retries: 1,
    })
}

/// Put this value where the one at fault is, or supply the missing one. Nothing (`None`, `Err`) falls
/// through.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
/// use serde_json::{Value, json};
///
/// fn lines(value: Option<&Value>, error: &Fault<'_>) -> Option<Decision<Deserialization>> {
///     let words = error.field("lines").then_some(value?.as_str()?)?;
///     Some(sanitize((words == "ten").then_some(10)).or(feedback("numbers are digits")))
/// }
/// let fault = Fault::new("lines", "expected u32");
/// let ten: Decision<Deserialization> = sanitize(10).or(feedback("numbers are digits"));
/// assert_eq!(lines(Some(&json!("ten")), &fault), Some(ten));
/// assert_eq!(lines(None, &fault), None);
/// ```
pub fn sanitize<K: CanSanitize>(value: impl IntoValue) -> Decision<K> {
    Decision::one(Step::Sanitize(value.into_value()))
}

/// Run the same call again: up to 3 executions in all, with exponential back-off, unless
/// [`max_attempts`](Decision::max_attempts) and [`backoff`](Decision::backoff) say otherwise.
///
/// A tool that writes is retried only if it is `idempotent`.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
/// use std::time::Duration;
///
/// let plain: Decision<Execution> = retry();
/// assert_eq!(plain, retry().max_attempts(3).backoff(exponential()));
/// let own: Decision<Execution> = retry().max_attempts(5).backoff(constant(Duration::from_secs(1)));
/// assert_ne!(own, plain);
/// ```
pub fn retry<K: CanRetry>() -> Decision<K> {
    Decision::one(Step::Retry {
        max_attempts: 3,
        backoff: exponential(),
    })
}

/// Tell the model what went wrong, with this hint.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// let decision: Decision<Deserialization> = feedback("dates are written 2026-08-01");
/// assert_eq!(decision.steps(), [Step::Feedback("dates are written 2026-08-01".to_owned())]);
/// ```
pub fn feedback<K: Kind>(hint: impl Into<String>) -> Decision<K> {
    Decision::one(Step::Feedback(hint.into()))
}

/// Hand the failure up to whoever can judge it; [`severity`](Decision::severity) says how bad it
/// is, `High` if nothing is said.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// let decision: Decision<Execution> = escalate("the disk is full");
/// assert_eq!(decision, escalate("the disk is full").severity(Severity::High));
/// ```
pub fn escalate<K: Kind>(reason: impl Into<String>) -> Decision<K> {
    Decision::one(Step::Escalate {
        reason: reason.into(),
        severity: Severity::High,
    })
}

/// End the run, now: nothing may go on.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// let decision: Decision<Execution> = throw("the credentials were refused");
/// assert_eq!(decision.steps(), [Step::Throw { reason: "the credentials were refused".to_owned() }]);
/// ```
pub fn throw<K: Kind>(reason: impl Into<String>) -> Decision<K> {
    Decision::one(Step::Throw {
        reason: reason.into(),
    })
}

/// Ask the next layer: an agent's arm for a tool asks the tool's own, that one the agent's default. What
/// it decides takes the place of this; if it decides nothing, the next step is taken.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// // Two tries here, then whatever the tool itself says.
/// let decision: Decision<Execution> = retry().max_attempts(2).or(inherit());
/// assert_eq!(decision.steps()[1], Step::Inherit);
/// ```
pub fn inherit<K: Kind>() -> Decision<K> {
    Decision::one(Step::Inherit)
}

/// The text, read as leniently as its schema allows; `None` if it cannot be read so.
///
/// Reading does this by itself before any arm is asked; it is for texts that an arm has changed.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::{Raw, lenient};
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
/// let cleaned = "n is 4".replace(" is ", " = ");
/// assert_eq!(lenient(&Raw::new(&cleaned, &schema)).as_deref(), Some(r#"{"n":4}"#));
/// assert_eq!(lenient(&Raw::new("four", &schema)), None);
/// ```
///
#[doc = include_str!("../reader/docs/syntax.md")]
///
#[doc = include_str!("../reader/docs/shape.md")]
pub fn lenient(raw: &Raw<'_>) -> Option<String> {
    reader::read(raw, raw.schema())
        .ok()
        .map(|reading| reading.json.into_owned())
}

/// The value, made to fit the schema; `None` if it cannot be.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::coerce;
/// use serde_json::json;
///
/// assert_eq!(coerce(&json!("1,250"), &json!({"type": "integer"})), Some(json!(1250)));
/// assert_eq!(coerce(&json!("a few"), &json!({"type": "integer"})), None);
/// ```
///
#[doc = include_str!("../reader/docs/shape.md")]
pub fn coerce(value: &Value, schema: &Value) -> Option<Value> {
    let text = value.to_string();
    let reading = reader::coerce(&text, schema).ok()?;
    serde_json::from_str(&reading.json).ok()
}
