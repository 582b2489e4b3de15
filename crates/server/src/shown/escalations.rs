//! Escalations of a run, with their ways up.

use agents_core::{
    escalation::{Escalation, EscalationReceipt, Settlement},
    run::{Event, EventKind},
};
use serde::Serialize;

/// Escalation of a run, with its end; `settled` is missing while nobody has settled it.
#[derive(Serialize)]
pub(crate) struct Climb {
    pub(crate) escalation: Escalation,
    pub(crate) settled: Option<Settlement>,
}

impl Climb {
    /// Returns what the agent of this name has said about the escalation: the reasons with which it has passed it on,
    /// and what it could not do.
    pub(crate) fn words_of(&self, agent: &str) -> Vec<String> {
        let Escalation {
            raised, refused, ..
        } = &self.escalation;
        let passed = raised.iter().skip(1).filter(|hop| hop.by == agent);
        let passed = passed.map(|hop| format!("passes it on ({}): {}", hop.severity, hop.reason));
        let refused = refused.iter().filter(|one| one.agent == agent);
        let refused = refused.map(|one| format!("could not {}: {}", one.wanted, one.why));
        refused.chain(passed).collect()
    }

    /// Returns the reason that the agent gave who raised the escalation.
    pub(crate) fn first_reason(&self) -> &str {
        first_reason(&self.escalation)
    }

    fn is_of(&self, receipt: &EscalationReceipt) -> bool {
        let other = &receipt.escalation;
        self.settled.is_none()
            && self.escalation.source == other.source
            && self.first_reason() == first_reason(other)
    }
}

fn first_reason(escalation: &Escalation) -> &str {
    let Escalation { raised, reason, .. } = escalation;
    raised.first().map_or(reason, |hop| &hop.reason)
}

/// Returns the escalations of a run in the order in which they were raised.
pub(super) fn climbs(events: &[Event]) -> Vec<Climb> {
    let mut climbs: Vec<Climb> = Vec::new();
    for event in events {
        match &event.kind {
            EventKind::Escalated(escalation) => climbs.push(Climb {
                escalation: (**escalation).clone(),
                settled: None,
            }),
            EventKind::EscalationSettled(receipt) => {
                // What is settled has gone further up than when it was raised.
                if let Some(open) = climbs.iter_mut().find(|climb| climb.is_of(receipt)) {
                    open.escalation = receipt.escalation.clone();
                    open.settled = Some(receipt.settled.clone());
                }
            }
            _ => {}
        }
    }
    climbs
}
