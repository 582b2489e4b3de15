//! What became of an escalation, on a line.

use crate::screen::shorten;
use agents_core::escalation::{Escalation, EscalationReceipt, Settlement};

/// What became of it; and whose it is, where that comes after what else the reply has called.
pub(super) fn settled(receipt: &EscalationReceipt) -> String {
    let source = &receipt.escalation.source;
    let settled = match &receipt.settled {
        Settlement::Dropped { why } => format!("what `{source}` gave up is dropped: {why}"),
        Settlement::Told => {
            format!("nobody handled what `{source}` gave up; the model that called is told")
        }
        settled => settled.to_string(),
    };
    format!("^ {settled}{}", passed_on(&receipt.escalation))
}

/// Who has passed it on with words of their own: what became of it goes by the last of these.
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
