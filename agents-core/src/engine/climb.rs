//! The climb: from where a failure was given up, desk by desk, to somebody who settles it.

use crate::{
    Error, Severity,
    context::{Desk, Reply, RunContext, Ticket, Waiting},
    error::{
        escalation::{Escalation, Refused},
        settlement::Settlement,
    },
    journal::{Fact, Raiser},
    model::Model,
    run::{Climbed, Override, Stop},
};
use std::{future::pending, sync::Arc};

/// With how many models an agent may go on, one after the other, because it failed.
const MOST_MODELS: u32 = 3;

/// Climbs from the agent that works at `cx`. Comes back only if that agent goes on, or fails: where somebody above takes
/// over, its work is dropped while it waits here. What was decided is a fact then, and dealt with in the state. `Err` is
/// an escalation of the final answer that nobody handled.
pub(crate) async fn climb(
    cx: &RunContext,
    escalation: Escalation,
    of: Raiser,
) -> Result<(), Box<Escalation>> {
    let Some(waiting) = Waiting::at(cx, of, &escalation) else {
        return pending().await;
    };
    tracing::warn!(
        source = %escalation.source,
        severity = %escalation.severity,
        attempts = escalation.attempts,
        reason = %cx.masker().text(&escalation.reason),
        "escalated"
    );
    let raised = escalation.clone();
    let (model, escalation) = ask_up(cx, escalation, Some(&waiting), may_have_another(cx)).await;
    let is_open = match (model, &of) {
        (Some(model), _) => {
            let how = Settlement::RetriedWithModel {
                agent: escalation.path.last().cloned().unwrap_or_default(),
                model: model.id().to_owned(),
            };
            let given = given_now(cx, &*model, raised);
            let is_open = waiting.decided(&escalation, how, Some(given), of, Climbed::Continues);
            cx.node.give(model);
            is_open
        }
        (None, _) if escalation.severity == Severity::Critical => {
            end(cx, waiting.ticket, escalation).await
        }
        (None, Raiser::Call(_)) => {
            let climbed = Climbed::Unhandled(Box::new(escalation.clone()));
            waiting.decided(&escalation, Settlement::Told, None, of, climbed)
        }
        (None, Raiser::Answer) => {
            let settled = Settlement::Returned;
            match cx
                .root
                .settle(&cx.node, waiting.ticket, &escalation, settled)
            {
                true => return Err(Box::new(escalation)),
                false => false,
            }
        }
    };
    match is_open {
        true => Ok(()),
        // The run is over.
        false => pending().await,
    }
}

/// Describes the model with which the agent goes on because of this.
fn given_now(cx: &RunContext, model: &dyn Model, escalation: Escalation) -> Override {
    cx.node.frame(|frame| {
        let before = frame.given.as_ref();
        let is_first = before.is_none_or(|given| given.turn < frame.turns);
        let count = before.map_or(0, |given| given.count);
        Override {
            model: model.id().to_owned(),
            escalation,
            count: count.saturating_add(u32::from(is_first)),
            turn: frame.turns,
        }
    })
}

/// Whether the agent that works here may go on with another model than the one that has replied.
fn may_have_another(cx: &RunContext) -> bool {
    cx.node.frame(|frame| {
        let given = frame.given.as_ref();
        given.is_none_or(|given| given.turn == frame.turns || given.count < MOST_MODELS)
    })
}

/// Finds the model that a stored agent was given: by its name among those that the run knows. Models are not stored, so if
/// there is none of that name, every handler on the way is asked for it as it was the first time.
pub(crate) async fn given(cx: &RunContext) -> Result<(), Error> {
    let Some(given) = cx.node.frame(|frame| frame.given.clone()) else {
        return Ok(());
    };
    if cx.node.given().is_some() {
        return Ok(());
    }
    if let Some(model) = cx.root.settings.known_model(&given.model) {
        cx.node.give(model.clone());
        return Ok(());
    }
    let escalation = given.escalation.clone();
    match ask_up(cx, escalation, None, true).await.0 {
        Some(model) if model.id() == given.model => {
            cx.node.give(model);
            Ok(())
        }
        _ => Err(Error::new(
            crate::ErrorKind::Replay,
            format!(
                "the stored run went on with the model `{}` after an escalation, and nobody's `on_escalation` gives that model now; say it with `.known_model(..)`",
                given.model
            ),
        )),
    }
}

/// Asks each desk from `cx` upwards until one answers with more than "climb on". Nobody waits for what is only asked
/// again.
async fn ask_up(
    cx: &RunContext,
    mut escalation: Escalation,
    waiting: Option<&Waiting<'_>>,
    continues: bool,
) -> (Option<Arc<dyn Model>>, Escalation) {
    let ticket = waiting.map(|waiting| waiting.ticket);
    let mut next = cx.desk().cloned();
    while let Some(desk) = next {
        escalation.path.push(desk.agent().to_owned());
        if let Some(waiting) = waiting {
            waiting.reached(&escalation);
        }
        if desk.handles() {
            match desk.ask(escalation.clone(), ticket, continues).await {
                Some(Reply::Model(model, escalation)) => return (Some(model), escalation),
                Some(Reply::Up(changed)) => escalation = changed,
                // Whoever sat there has left, and its work with it.
                None => pending().await,
            }
        }
        next = desk.above().cloned();
    }
    (None, escalation)
}

/// Nobody handled it, and it is critical: the run ends, or the agent that plain code has run. What has ended for another
/// reason by then is not ended by this.
async fn end<T>(cx: &RunContext, ticket: Ticket, escalation: Escalation) -> T {
    let leaves = |desk: &Arc<Desk>| cx.is_from_code() && desk.leave(ticket, escalation.clone());
    if top(cx).filter(leaves).is_none() && cx.root.stopped().is_none() {
        cx.root
            .settle(&cx.node, ticket, &escalation, Settlement::Ended);
        match cx.stop(Stop::Escalated(Box::new(escalation))).await {}
    }
    pending().await
}

fn top(cx: &RunContext) -> Option<Arc<Desk>> {
    let mut desk = cx.desk()?;
    while let Some(above) = desk.above() {
        desk = above;
    }
    Some(desk.clone())
}

/// No further model is given to an agent that has had its share.
pub(crate) fn no_more_models(agent: &str, model: &dyn Model) -> Refused {
    Refused {
        agent: agent.to_owned(),
        wanted: format!("give the model `{}`", model.id()),
        why: format!("the failed agent has gone on with {MOST_MODELS} other models already"),
    }
}

/// Writes down and tells what an agent wanted to do about an escalation and could not.
pub(crate) fn refuse(cx: &RunContext, escalation: &mut Escalation, refused: Refused) {
    let said = refused.to_string();
    tracing::warn!(source = %escalation.source, refused = %cx.masker().text(&said), "the escalation climbs on");
    cx.node.add(Fact::Rejected(Box::new(refused.clone())));
    escalation.refused.push(refused);
}
