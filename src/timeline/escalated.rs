use agents_core::{
    error::ErrorReceipt,
    escalation::{Escalation, EscalationReceipt, Settlement},
};
use serde_json::json;

/// What became of a call that was given up, if this is the error of one: how severe it was, who has settled it and
/// how, and why it was given up.
pub(super) fn escalated(error: &ErrorReceipt, all: &[EscalationReceipt]) -> Option<String> {
    let details = error.details.as_ref()?;
    let severity = details.get("severity")?.as_str()?;
    let reason = error.reason.as_deref()?;
    let own = all.iter().find(|receipt| is_of(error, &receipt.escalation));
    let passed_on = own.and_then(|receipt| receipt.escalation.raised.get(1..)?.last());
    let passed_on =
        passed_on.map(|last| format!(", passed on as {} by {}", last.severity, last.by));
    let passed_on = passed_on.unwrap_or_default();
    let settled = own.map(|receipt| format!(" → {}", in_short(&receipt.settled)));
    let settled = settled.unwrap_or_default();
    Some(format!(
        "escalated ({severity}{passed_on}){settled}: {reason}"
    ))
}

/// Whether this is the error of a call that was given up so. On the way up its reason and its severity may have been
/// changed; whose failure it is stays.
pub(super) fn is_of(error: &ErrorReceipt, escalation: &Escalation) -> bool {
    error.details.as_ref().is_some_and(|details| {
        details.get("source") == Some(&json!(escalation.source))
            && details.get("original") == Some(&json!(escalation.original.receipt()))
    })
}

fn in_short(settled: &Settlement) -> String {
    match settled {
        Settlement::RetriedWithModel { model, .. } => model.clone(),
        Settlement::ReroutedToSkill { agent, skill } => format!("{agent}: {skill}"),
        Settlement::ReroutedTo { delegate, .. } => delegate.clone(),
        Settlement::PartialResult { agent } => format!("{agent}: partial result"),
        Settlement::Thrown { agent, .. } => format!("{agent} throws"),
        Settlement::Told => "the model decides".to_owned(),
        Settlement::Returned => "returned".to_owned(),
        Settlement::Ended => "the run ends".to_owned(),
        Settlement::Dropped { .. } => "dropped".to_owned(),
    }
}
