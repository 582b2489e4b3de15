//! The escalations of a run: each is raised once and settled once, whatever becomes of the work that it is a part of.

use super::{Ending, EventKind, Frame, Node, Root, RunContext};
use crate::error::{
    escalation::Escalation,
    settlement::{EscalationReceipt, Settlement},
};
use std::{
    mem,
    sync::{Arc, MutexGuard, PoisonError},
};

/// An escalation on its way up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ticket(u64);

/// What is on its way up, and what became of the rest.
#[derive(Default)]
pub(crate) struct Escalations {
    raised: u64,
    open: Vec<Open>,
    settled: Vec<EscalationReceipt>,
    /// Nothing is raised any more.
    over: bool,
}

struct Open {
    ticket: Ticket,
    /// As far as it has come.
    escalation: Escalation,
    /// Where it was raised.
    node: Arc<Node>,
}

impl Escalations {
    /// Those of a stored run.
    pub(super) fn of(settled: Vec<EscalationReceipt>) -> Self {
        Escalations {
            settled,
            ..Escalations::default()
        }
    }

    fn take(&mut self, ticket: Ticket) -> Option<Open> {
        let at = self.open.iter().position(|open| open.ticket == ticket)?;
        Some(self.open.remove(at))
    }
}

/// Whoever has raised an escalation, as long as they wait for what becomes of it: if they are dropped, so is it.
pub(crate) struct Waiting<'a> {
    cx: &'a RunContext,
    pub(crate) ticket: Ticket,
}

impl<'a> Waiting<'a> {
    /// It is raised by the agent that works at `cx`; `None` if the run is over.
    pub(crate) fn at(cx: &'a RunContext, escalation: &Escalation) -> Option<Self> {
        let mut all = cx.root.ledger();
        if all.over {
            return None;
        }
        all.raised += 1;
        let ticket = Ticket(all.raised);
        all.open.push(Open {
            ticket,
            escalation: escalation.clone(),
            node: cx.node.clone(),
        });
        Some(Waiting { cx, ticket })
    }

    /// It has come so far.
    pub(crate) fn reached(&self, escalation: &Escalation) {
        let mut all = self.cx.root.ledger();
        let mut open = all.open.iter_mut();
        if let Some(open) = open.find(|open| open.ticket == self.ticket) {
            open.escalation = escalation.clone();
        }
    }

    /// This is what becomes of it as soon as the agent that raised it goes on; whether it is still there to be decided
    /// about.
    pub(crate) fn decided(&self, escalation: &Escalation, how: Settlement) -> bool {
        let mut all = self.cx.root.ledger();
        let is_open = all.take(self.ticket).is_some();
        if is_open {
            let verdict = EscalationReceipt {
                escalation: escalation.clone(),
                settled: how,
            };
            self.cx
                .node
                .with_frame(|frame| frame.verdicts.push(verdict));
        }
        is_open
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let RunContext { root, node, .. } = self.cx;
        let mut all = root.ledger();
        let open = all.take(self.ticket);
        drop(all);
        if let Some(Open { escalation, .. }) = open {
            root.keep_dropped(node, escalation, &Ending::of(root, node));
        }
    }
}

impl Root {
    fn ledger(&self) -> MutexGuard<'_, Escalations> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What became of an escalation that is on its way, by the word of the agent at `cx`; `false` if it has been
    /// dropped.
    pub(crate) fn settle(
        &self,
        node: &Node,
        ticket: Ticket,
        escalation: &Escalation,
        how: Settlement,
    ) -> bool {
        let receipt = EscalationReceipt {
            escalation: escalation.clone(),
            settled: how,
        };
        let mut all = self.ledger();
        if all.take(ticket).is_none() {
            return false;
        }
        all.settled.push(receipt.clone());
        drop(all);
        self.tell_settled(node, receipt);
        true
    }

    /// The agent here goes on: what was decided about its escalations has come true.
    pub(crate) fn gone_on(&self, node: &Node) {
        let mut all = self.ledger();
        let verdicts = node.with_frame(Frame::gone_on);
        all.settled.extend(verdicts.iter().cloned());
        drop(all);
        for receipt in verdicts {
            self.tell_settled(node, receipt);
        }
    }

    /// It was a part of work that is dropped.
    pub(crate) fn keep_dropped(&self, node: &Node, escalation: Escalation, why: &Ending) {
        let receipt = EscalationReceipt {
            escalation,
            settled: Settlement::Dropped {
                why: why.of_escalation().to_owned(),
            },
        };
        self.ledger().settled.push(receipt.clone());
        self.tell_settled(node, receipt);
    }

    /// The run has ended: what is on its way still, in a task that was spawned, comes to nothing.
    pub(crate) fn raise_no_more(&self) {
        let mut all = self.ledger();
        all.over = true;
        let open = mem::take(&mut all.open);
        drop(all);
        for Open {
            escalation, node, ..
        } in open
        {
            self.keep_dropped(&node, escalation, &Ending::Run);
        }
    }

    pub(crate) fn escalations(&self) -> Vec<EscalationReceipt> {
        self.ledger().settled.clone()
    }

    fn tell_settled(&self, node: &Node, receipt: EscalationReceipt) {
        let EscalationReceipt {
            escalation,
            settled,
        } = &receipt;
        let said = settled.to_string();
        let said = self.settings.masker.text(&said);
        tracing::info!(source = %escalation.source, settled = %said, "escalation settled");
        self.emit(node, || EventKind::EscalationSettled(Box::new(receipt)));
    }
}

impl Node {
    /// What was decided about escalations of the agent here and will not come true, since its work ends.
    pub(crate) fn verdicts(&self) -> Vec<EscalationReceipt> {
        let mut state = self.state();
        let frame = state.frame.as_mut();
        frame.map_or_else(Vec::new, |frame| mem::take(&mut frame.verdicts))
    }
}
