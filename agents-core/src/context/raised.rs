//! The escalations of a run: each is raised once and settled once, whatever becomes of the work that it is a part of.

use super::{Ending, Node, Root, RunContext};
use crate::{
    error::{
        escalation::Escalation,
        settlement::{EscalationReceipt, Settlement},
    },
    journal::{Decided, Fact, Raiser},
    run::{Climbed, Override, Taken},
};

/// An escalation on its way up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ticket(u64);

/// Whoever has raised an escalation, as long as they wait for what becomes of it: if they are dropped, so is it.
pub(crate) struct Waiting<'a> {
    cx: &'a RunContext,
    pub(crate) ticket: Ticket,
}

impl<'a> Waiting<'a> {
    /// Raises an escalation of the agent that works at `cx`; `None` if the run is over.
    pub(crate) fn at(cx: &'a RunContext, of: Raiser, escalation: &Escalation) -> Option<Self> {
        let escalation = Box::new(escalation.clone());
        let after = cx.node.add(Fact::Raised { of, escalation });
        let ticket = Ticket(after.ticket?);
        Some(Waiting { cx, ticket })
    }

    /// It has come so far.
    pub(crate) fn reached(&self, escalation: &Escalation) {
        self.cx.node.add(Fact::Reached {
            ticket: self.ticket.0,
            escalation: Box::new(escalation.clone()),
        });
    }

    /// This is what becomes of it as soon as the agent that raised it goes on; whether it is still there to be decided
    /// about.
    pub(crate) fn decided(
        &self,
        escalation: &Escalation,
        how: Settlement,
        given: Option<Override>,
        of: Raiser,
        climbed: Climbed,
    ) -> bool {
        let verdict = EscalationReceipt {
            escalation: escalation.clone(),
            settled: how,
        };
        let decided = Decided {
            ticket: self.ticket.0,
            verdict,
            given,
            of,
            climbed,
        };
        !self.cx.node.add(Fact::Decided(Box::new(decided))).ignored
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let RunContext { root, node, .. } = self.cx;
        root.drop_escalation(node, self.ticket.0, &Ending::of(root, node));
    }
}

impl Root {
    /// What became of an escalation that is on its way, by the word of the agent at this node; `false` if it has been
    /// dropped.
    pub(crate) fn settle(
        &self,
        node: &Node,
        ticket: Ticket,
        escalation: &Escalation,
        how: Settlement,
    ) -> bool {
        self.settle_by(node, ticket, escalation, how, None)
    }

    /// The same, where the agent at this node is taken off its work for it.
    pub(crate) fn settle_by(
        &self,
        node: &Node,
        ticket: Ticket,
        escalation: &Escalation,
        how: Settlement,
        taken: Option<Taken>,
    ) -> bool {
        let receipt = Box::new(EscalationReceipt {
            escalation: escalation.clone(),
            settled: how,
        });
        let ticket = ticket.0;
        let taken = taken.map(Box::new);
        let after = node.add(Fact::Handled {
            ticket,
            receipt,
            taken,
        });
        !after.ignored
    }

    /// It was a part of work that is dropped.
    fn drop_escalation(&self, node: &Node, ticket: u64, why: &Ending) {
        let why = why.of_escalation().to_owned();
        node.add(Fact::Dropped { ticket, why });
    }

    /// What was decided about escalations at this node will not come true, since its work ends.
    pub(crate) fn void(&self, node: &Node, why: &Ending) {
        if node.frame(|frame| !frame.verdicts.is_empty()) {
            let why = why.of_escalation().to_owned();
            node.add(Fact::Void { why });
        }
    }

    /// The run has ended: what is on its way still, in a task that was spawned, comes to nothing.
    pub(crate) fn raise_no_more(&self) {
        self.node.add(Fact::Over);
        let open = self.node.machine().look(|state| state.open.clone());
        for open in open {
            let node = self.node.at(open.place);
            self.drop_escalation(&node, open.ticket, &Ending::Run);
        }
    }
}
