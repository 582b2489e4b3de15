//! Verbs of arms. Each function makes a [`Decision`] and does nothing else.

use super::{
    CanRetry, CanSanitize, Decision, Fixer, IntoText, IntoValue, IntoWords, Kind, PlanStep, Raw,
    RepairAgentRef, Severity, exponential,
};
use crate::reader;
use serde_json::Value;

/// Replaces the arguments of the call, or the final answer, by new text, which is read and checked like the model's own
/// text.
///
/// If there is no text (`None`, `Err`), or this text has failed before, the next step of the decision is taken. The
/// step is also skipped after eight tries of all kinds for one call or answer, and if a tool that writes may have taken
/// effect already.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// // `Option<String>`, `String` or `Result<String, _>`: whatever your own repair gives.
/// let cleaned = "json {}".strip_prefix("json ").map(str::to_owned);
/// let decision: Decision<InvalidArgs> = fix(cleaned).or(feedback("send JSON"));
/// assert_eq!(decision.steps()[0], PlanStep::Fix(Some("{}".to_owned())));
/// ```
pub fn fix<K: Kind>(text: impl IntoText) -> Decision<K> {
    Decision::one(PlanStep::Fix(text.into_text()))
}

/// Asks a repair agent for new text in place of the arguments or the final answer: once, or as often as
/// [`retries`](Decision::retries) allows. After eight tries of all kinds for one call or answer, and if a tool that
/// writes may have taken effect already, the next step of the decision is taken.
///
/// A stored run finds the repair agent again if an arm names it as `fix(agent = ..)`, or if it is listed under the
/// `fixers` of the agent that calls, or of the tool. The compiler cannot check repair agents that a helper function
/// names. So a run that is [stored](crate::agent::Run::journal) ends with [`ErrorKind::Build`](crate::ErrorKind::Build)
/// when it is about to ask a repair agent that is not listed.
///
/// A repair agent without a model of its own is driven by the model of the agent whose call or answer it repairs.
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
    Decision::one(PlanStep::Ask {
        fixer: RepairAgentRef::new(agent),
        retries: 1,
    })
}

/// Replaces the value at fault in the arguments by `value`, or adds `value` if the field is missing. If the error names
/// no field, `value` has to be an object, which replaces all arguments.
///
/// With `None` or `Err`, the next step of the decision is taken. The step is also skipped if `value` cannot stand in
/// that place, if the arguments with `value` have failed before, and in the other cases in which a [`fix`] is skipped.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
/// use serde_json::{Value, json};
///
/// fn lines(value: Option<&Value>, error: &ReadError) -> Option<Decision<Deserialization>> {
///     let words = error.field("lines").then_some(value?.as_str()?)?;
///     Some(sanitize((words == "ten").then_some(10)).or(feedback("numbers are digits")))
/// }
/// let fault = ReadError::new("lines", "expected u32");
/// let ten: Decision<Deserialization> = sanitize(10).or(feedback("numbers are digits"));
/// assert_eq!(lines(Some(&json!("ten")), &fault), Some(ten));
/// assert_eq!(lines(None, &fault), None);
/// ```
pub fn sanitize<K: CanSanitize>(value: impl IntoValue) -> Decision<K> {
    Decision::one(PlanStep::Sanitize(value.into_value()))
}

/// Executes the call again with the same arguments: up to 3 executions in all, with exponential back-off.
///
/// [`max_attempts`](Decision::max_attempts) and [`backoff`](Decision::backoff) change these defaults.
///
/// A tool that writes is executed again only if it is `idempotent`, or if a rate limit held the call back. A failure
/// with the code [`AuthRequired`](crate::Code::AuthRequired) is never retried.
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
    Decision::one(PlanStep::Retry {
        max_attempts: 3,
        backoff: exponential(),
    })
}

/// Ends the call with its failure, or refuses the answer, and reports the failure to the model with this hint.
///
/// If the failure is that a repair does not fit, nothing ends: the hint is for whoever repairs next, and the decision
/// about the failure before goes on.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// let decision: Decision<Deserialization> = feedback("dates are written 2026-08-01");
/// assert_eq!(decision.steps(), [PlanStep::Feedback("dates are written 2026-08-01".to_owned())]);
/// ```
pub fn feedback<K: Kind>(hint: impl IntoWords) -> Decision<K> {
    Decision::one(PlanStep::Feedback(hint.into_words()))
}

/// Hands the failure up, for this reason: first to the `on_escalation` of the agent that calls, then to the agents
/// above. [`severity`](Decision::severity) sets the severity, `High` by default.
///
/// If the failure is that a repair does not fit, nothing is handed up: the reason is for whoever repairs next, and the
/// decision about the failure before goes on.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// let decision: Decision<Execution> = escalate("the disk is full");
/// assert_eq!(decision, escalate("the disk is full").severity(Severity::High));
/// ```
pub fn escalate<K: Kind>(reason: impl IntoWords) -> Decision<K> {
    Decision::one(PlanStep::Escalate {
        reason: reason.into_words(),
        severity: Severity::High,
    })
}

/// Ends the whole run with [`ErrorKind::Thrown`](crate::ErrorKind::Thrown), for this reason.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// let decision: Decision<Execution> = throw("the credentials were refused");
/// assert_eq!(decision.steps(), [PlanStep::Throw { reason: "the credentials were refused".to_owned() }]);
/// ```
pub fn throw<K: Kind>(reason: impl IntoWords) -> Decision<K> {
    Decision::one(PlanStep::Throw {
        reason: reason.into_words(),
    })
}

/// Asks the next layer: after an agent's arms for a tool, its arms for a pattern of tool names, then the tool's own
/// arms, then the default of the skill and that of the agent. For a final answer, there are only the last two.
///
/// The decision of that layer takes the place of this step. If no layer decides, the next step of this decision is
/// taken.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// // Two tries here, then whatever the tool itself says.
/// let decision: Decision<Execution> = retry().max_attempts(2).or(inherit());
/// assert_eq!(decision.steps()[1], PlanStep::Inherit);
/// ```
pub fn inherit<K: Kind>() -> Decision<K> {
    Decision::one(PlanStep::Inherit)
}

/// Reads a text leniently by its schema, and returns the JSON; `None` if the text cannot be read.
///
/// Unless the run, the agent or the tool is set to strict reading, the run does this by itself before any arm is asked.
/// The function is for texts that an arm has changed.
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
/// The possible changes are listed at [`reader::lenient`] (syntax) and [`reader::coerce`] (shape). An uncertain reading
/// is returned too. An arm of a tool that writes should call [`reader::read`], which returns the changes made.
pub fn lenient(raw: &Raw<'_>) -> Option<String> {
    reader::read(raw, raw.schema())
        .ok()
        .map(|reading| reading.json.into_owned())
}

/// Converts a value as a schema demands; returns `None` if that is not possible.
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
/// The possible changes are listed at [`reader::coerce`].
pub fn coerce(value: &Value, schema: &Value) -> Option<Value> {
    let text = value.to_string();
    let reading = reader::coerce(&text, schema).ok()?;
    serde_json::from_str(&reading.json).ok()
}
