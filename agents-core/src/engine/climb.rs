//! The climb of an escalation: from the agent that raised it, inbox by inbox, to the agent that decides about it.

use super::wording;
use crate::{
    Error, ErrorKind, Json, Severity,
    context::{Ending, Node, Root, RunContext},
    escalation::{Escalation, EscalationReceipt, Inbox, RefusedResolution, Reply, Settlement},
    journal::{Fact, Frame, Raiser},
    model::{Model, name_of},
    run::Stop,
    shared::Shared,
};
use std::future::pending;

/// Escalation on its way up, while the agent that raised it waits. If the work of that agent is dropped, the escalation
/// is dropped as well.
struct Raised<'a> {
    cx: &'a RunContext,
    number: u64,
}

impl<'a> Raised<'a> {
    /// Raises an escalation of the agent that works at `cx`; returns `None` if the run is over.
    fn at(cx: &'a RunContext, of: Raiser, escalation: &Escalation) -> Option<Self> {
        let escalation = Box::new(escalation.clone());
        let after = cx.node.add(Fact::Raised { of, escalation });
        let number = after.number?;
        Some(Raised { cx, number })
    }

    /// Records that the escalation has reached another agent on its way up.
    fn reached(&self, escalation: &Escalation) {
        let (number, escalation) = (self.number, Box::new(escalation.clone()));
        self.cx.node.add(Fact::Reached { number, escalation });
    }

    /// Records the decision about the escalation; returns `false` if the run is over.
    fn decided(&self, escalation: &Escalation, settled: Settlement) -> bool {
        decide(&self.cx.node, self.number, escalation, settled, None)
    }
}

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        let RunContext { root, node, .. } = self.cx;
        drop_escalation(node, self.number, &Ending::of(root, node));
    }
}

/// Passes an escalation of the agent that works at `cx` up from agent to agent, until one of them decides or none is
/// left.
///
/// The function returns if the agent at `cx` goes on or fails. If an agent above takes over, the work of the agent at
/// `cx` is dropped while it waits here. The outcome for a call or for an answer follows from the recorded decision.
///
/// # Errors
/// The escalation of a final answer, if no agent handled it and it is not critical.
pub(crate) async fn climb(
    cx: &RunContext,
    escalation: Escalation,
    of: Raiser,
) -> Result<(), Box<Escalation>> {
    let Some(raised) = Raised::at(cx, of, &escalation) else {
        return pending().await;
    };
    tracing::warn!(
        source = %escalation.source,
        severity = %escalation.severity,
        attempts = escalation.attempts,
        reason = %cx.masker().text(&escalation.reason),
        "escalated"
    );
    let continues = cx.node.frame(Frame::may_have_another_model);
    let Reply { escalation, model } = ask_above(cx, escalation, Some(&raised), continues).await;
    let is_open = match (model, of) {
        (Some(model), _) => {
            let settled = Settlement::RetriedWithModel {
                agent: escalation.path.last().cloned().unwrap_or_default(),
                model: model.id().to_owned(),
            };
            let is_open = raised.decided(&escalation, settled);
            cx.node.give(model);
            is_open
        }
        (None, _) if escalation.severity == Severity::Critical => {
            end(cx, raised.number, escalation).await
        }
        (None, Raiser::Call(_)) => raised.decided(&escalation, Settlement::ReportedToModel),
        (None, Raiser::Answer) => match raised.decided(&escalation, Settlement::Returned) {
            true => return Err(Box::new(escalation)),
            false => false,
        },
    };
    match is_open {
        true => Ok(()),
        // The run is over.
        false => pending().await,
    }
}

/// Finds the model that an agent of a stored run was given: by its name, among the models that the run knows.
///
/// Models are not stored. If the run knows none of that name, every handler on the way is asked for the model again,
/// with the same escalation.
///
/// # Errors
/// [`ErrorKind::Replay`] if there is no model of that name.
pub(crate) async fn given(cx: &RunContext) -> Result<(), Error> {
    let Some(given) = cx.node.frame(|frame| frame.given.clone()) else {
        return Ok(());
    };
    // With `.override_model(..)`, the model that was given would not be asked.
    if cx.node.given().is_some() || cx.root.settings.override_model.is_some() {
        return Ok(());
    }
    if let Some(model) = cx.root.settings.known_model(&given.model) {
        cx.node.give(model.clone());
        return Ok(());
    }
    match ask_above(cx, given.escalation, None, true).await.model {
        Some(model) if name_of(model.id()) == name_of(&given.model) => {
            cx.node.give(model);
            Ok(())
        }
        _ => Err(Error::new(
            ErrorKind::Replay,
            wording::given_model_missing(&given.model),
        )),
    }
}

/// Asks the agents from `cx` upwards until one gives a model. `raised` is `None` if they are asked once more about an
/// escalation that was decided before the run was stored.
async fn ask_above(
    cx: &RunContext,
    mut escalation: Escalation,
    raised: Option<&Raised<'_>>,
    continues: bool,
) -> Reply {
    let number = raised.map(|raised| raised.number);
    let mut next = cx.inbox().cloned();
    while let Some(inbox) = next {
        escalation.path.push(inbox.agent().to_owned());
        if let Some(raised) = raised {
            raised.reached(&escalation);
        }
        if inbox.handles() {
            match inbox.ask(escalation, number, continues).await {
                Some(Reply {
                    escalation: as_it_climbs_on,
                    model: None,
                }) => escalation = as_it_climbs_on,
                Some(reply) => return reply,
                // The agent has ended its work, and that of this agent with it.
                None => return pending().await,
            }
        }
        next = inbox.above().cloned();
    }
    escalation.into()
}

/// Ends the run, or the agent that plain code has run, with a critical escalation that was not handled. A run that has
/// ended for another reason by then is not ended again.
async fn end<T>(cx: &RunContext, number: u64, escalation: Escalation) -> T {
    let leaves =
        |inbox: &Shared<Inbox>| cx.is_from_code() && inbox.leave(number, escalation.clone());
    if top(cx).filter(leaves).is_none() && cx.root.stopped().is_none() {
        decide(&cx.node, number, &escalation, Settlement::Ended, None);
        match cx.stop(Stop::Escalated(Box::new(escalation))).await {}
    }
    pending().await
}

/// Returns the inbox of the topmost agent that takes escalations; `None` if no agent does.
fn top(cx: &RunContext) -> Option<Shared<Inbox>> {
    let mut inbox = cx.inbox()?;
    while let Some(above) = inbox.above() {
        inbox = above;
    }
    Some(inbox.clone())
}

/// Records the decision about an escalation: that of the agent at `node`, or that it was not handled. Returns `false`
/// if the escalation has been dropped.
pub(crate) fn decide(
    node: &Node,
    number: u64,
    escalation: &Escalation,
    settled: Settlement,
    partial: Option<Json>,
) -> bool {
    let receipt = Box::new(EscalationReceipt {
        escalation: escalation.clone(),
        settled,
    });
    let decided = Fact::Decided {
        number,
        receipt,
        partial,
    };
    !node.add(decided).ignored
}

/// Records that the agent at `cx` chose a resolution that is not possible; the escalation climbs on.
pub(crate) fn refuse(cx: &RunContext, escalation: &mut Escalation, refused: RefusedResolution) {
    let said = refused.to_string();
    tracing::warn!(source = %escalation.source, refused = %cx.masker().text(&said), "the resolution is refused, and the escalation goes to the next agent above");
    cx.node.add(Fact::Rejected(Box::new(refused.clone())));
    escalation.refused.push(refused);
}

fn drop_escalation(node: &Node, number: u64, why: &Ending) {
    let why = why.of_escalation().to_owned();
    node.add(Fact::Dropped { number, why });
}

/// Records that the decisions about escalations at this node have no effect, since its work ends.
pub(super) fn void(node: &Node, why: &Ending) {
    if node.frame(|frame| !frame.verdicts.is_empty()) {
        let why = why.of_escalation().to_owned();
        node.add(Fact::Void { why });
    }
}

/// Records that the run is over, and drops the escalations that spawned tasks still wait for.
pub(crate) fn raise_no_more(root: &Root) {
    root.node.add(Fact::Over);
    let open = root.node.machine().look(|state| state.open.clone());
    for open in open {
        let node = root.node.at(open.place);
        drop_escalation(&node, open.number, &Ending::Run);
    }
}
