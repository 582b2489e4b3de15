//! Lines for settled escalations.

use crate::screen::shorten;
use agents_core::escalation::{Escalation, EscalationReceipt, Settlement};

/// Returns the line for a settled escalation. The line names the source of the escalation, because
/// lines of other calls may stand in between.
pub(super) fn settled(receipt: &EscalationReceipt) -> String {
    let source = &receipt.escalation.source;
    let settled = match &receipt.settled {
        Settlement::Dropped { why } => format!("what `{source}` gave up is dropped: {why}"),
        Settlement::ReportedToModel => {
            format!("nobody handled what `{source}` gave up; the model that called is told")
        }
        settled => settled.to_string(),
    };
    format!("^ {settled}{}", passed_on(&receipt.escalation))
}

/// Returns the agents that passed the escalation on with words of their own. The last of them
/// counts for its settlement.
fn passed_on(escalation: &Escalation) -> String {
    let above = escalation.raised.iter().skip(1);
    let said = above.map(|raised| {
        let reason = shorten(&raised.reason, 70);
        format!(
            "; `{}` had passed it on ({}): {reason}",
            raised.by, raised.severity
        )
    });
    said.collect()
}
