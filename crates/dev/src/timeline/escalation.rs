use agents_core::{
    error::ErrorRecord,
    escalation::{Escalation, EscalationReceipt, Settlement},
};
use serde_json::json;

/// Returns a note for the row of a call that was given up with an escalation; `None` for any other error. The note says
/// how severe the failure was, how it was settled and by whom, and why the call was given up.
pub(super) fn escalated(error: &ErrorRecord, all: &[EscalationReceipt]) -> Option<String> {
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

/// Returns `true` if this is the error of the call that was given up with this escalation. The reason and the
/// severity may have been changed on the way up; the source and its original error stay.
pub(super) fn is_of(error: &ErrorRecord, escalation: &Escalation) -> bool {
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
        Settlement::ReportedToModel => "the model decides".to_owned(),
        Settlement::Returned => "returned".to_owned(),
        Settlement::Ended => "the run ends".to_owned(),
        Settlement::Dropped { .. } => "dropped".to_owned(),
    }
}
