//! The climb: from where a failure was given up, desk by desk, to somebody who settles it.

use super::{
    EventKind, RunContext, Stop,
    desk::{Desk, Reply},
};
use crate::{
    Error, Severity,
    error::escalation::{Escalation, EscalationReceipt, Refused, Settlement},
    model::Model,
};
use serde::{Deserialize, Serialize};
use std::{future::pending, sync::Arc};

/// How many models an agent may be given, one after the other, because it failed.
const MOST_MODELS: u32 = 3;

/// What a climb came to, for the agent in which the failure was.
pub(crate) enum Climbed {
    /// It has been given another model, and goes on.
    Continues,
    /// Nobody handled it.
    Unhandled(Escalation),
}

/// A model that an agent was given because it failed: which, and for what.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Override {
    pub(crate) model: String,
    pub(crate) escalation: Escalation,
    /// How many it has been given so far, this one included.
    pub(crate) count: u32,
}

/// Climbs from the agent that works at `cx`. Comes back only if that agent goes on: where somebody
/// above takes over, its work is dropped while it waits here.
pub(crate) async fn climb(cx: &RunContext, escalation: Escalation) -> Climbed {
    tracing::warn!(
        source = %escalation.source,
        severity = %escalation.severity,
        attempts = escalation.attempts,
        reason = %cx.masker().text(&escalation.reason),
        "escalated"
    );
    cx.emit(|| EventKind::Escalated(Box::new(escalation.clone())));
    let raised = escalation.clone();
    match ask_up(cx, escalation, given_so_far(cx) < MOST_MODELS).await {
        // Several calls of one reply may have asked at once.
        (Some(model), mut escalation) if given_so_far(cx) >= MOST_MODELS => {
            let agent = escalation.path.last().cloned().unwrap_or_default();
            let refused = no_more_models(&agent, &*model);
            refuse(cx, &mut escalation, refused);
            Climbed::Unhandled(escalation)
        }
        (Some(model), escalation) => {
            let count = given_so_far(cx);
            let how = Settlement::RetriedWithModel {
                agent: escalation.path.last().cloned().unwrap_or_default(),
                model: model.id().to_owned(),
            };
            settled(cx, &escalation, how);
            cx.node.with_frame(|frame| {
                frame.given = Some(Override {
                    model: model.id().to_owned(),
                    escalation: raised,
                    count: count + 1,
                });
            });
            cx.node.give(model);
            Climbed::Continues
        }
        (None, escalation) if escalation.severity == Severity::Critical => {
            end(cx, escalation).await
        }
        (None, escalation) => Climbed::Unhandled(escalation),
    }
}

fn given_so_far(cx: &RunContext) -> u32 {
    cx.node
        .with_frame(|frame| frame.given.as_ref().map_or(0, |given| given.count))
}

/// The model that a stored agent was given, asked for again: models are not stored. Every handler on the way is
/// asked as it was the first time.
pub(crate) async fn given(cx: &RunContext) -> Result<(), Error> {
    let Some(given) = cx.node.with_frame(|frame| frame.given.clone()) else {
        return Ok(());
    };
    if cx.node.given().is_some() {
        return Ok(());
    }
    let escalation = given.escalation.clone();
    match ask_up(cx, escalation, true).await.0 {
        Some(model) if model.id() == given.model => {
            cx.node.give(model);
            Ok(())
        }
        _ => Err(Error::new(
            crate::ErrorKind::Replay,
            format!(
                "the stored run went on with the model `{}` after an escalation, and nobody's `on_escalation` gives that model now",
                given.model
            ),
        )),
    }
}

/// Asks each desk from `cx` upwards until one answers with more than "climb on".
async fn ask_up(
    cx: &RunContext,
    mut escalation: Escalation,
    continues: bool,
) -> (Option<Arc<dyn Model>>, Escalation) {
    let mut next = cx.desk().cloned();
    while let Some(desk) = next {
        escalation.path.push(desk.agent().to_owned());
        if desk.handles() {
            match desk.ask(escalation.clone(), continues).await {
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

/// Nobody handled it, and it is critical: the run ends, or the agent that plain code has run.
async fn end<T>(cx: &RunContext, escalation: Escalation) -> T {
    let error = || Error::of_escalation(escalation.clone(), true);
    match top(cx).filter(|desk| cx.is_from_code() && desk.leave(error())) {
        Some(_) => {
            settled(cx, &escalation, Settlement::Returned);
            pending().await
        }
        None => {
            settled(cx, &escalation, Settlement::Ended);
            match cx.stop(Stop::Escalated(Box::new(escalation))).await {}
        }
    }
}

fn top(cx: &RunContext) -> Option<Arc<Desk>> {
    let mut desk = cx.desk()?;
    while let Some(above) = desk.above() {
        desk = above;
    }
    Some(desk.clone())
}

/// Writes down and tells what became of an escalation.
pub(crate) fn settled(cx: &RunContext, escalation: &Escalation, how: Settlement) {
    let said = how.to_string();
    tracing::info!(source = %escalation.source, settled = %cx.masker().text(&said), "escalation settled");
    let receipt = EscalationReceipt {
        escalation: escalation.clone(),
        settled: how,
    };
    cx.root.escalated(receipt.clone());
    cx.emit(|| EventKind::EscalationSettled(Box::new(receipt)));
}

/// No further model is given to an agent that has had its share.
pub(crate) fn no_more_models(agent: &str, model: &dyn Model) -> Refused {
    Refused {
        agent: agent.to_owned(),
        wanted: format!("give the model `{}`", model.id()),
        why: format!("the failed agent has been given {MOST_MODELS} models already"),
    }
}

/// Writes down and tells what an agent wanted to do about an escalation and could not.
pub(crate) fn refuse(cx: &RunContext, escalation: &mut Escalation, refused: Refused) {
    let said = refused.to_string();
    tracing::warn!(source = %escalation.source, refused = %cx.masker().text(&said), "the escalation climbs on");
    cx.emit(|| EventKind::ResolutionRefused(refused.clone()));
    escalation.refused.push(refused);
}

/// Nobody handled it: the model that called is told.
pub(crate) fn told(cx: &RunContext, escalation: &Escalation) {
    settled(cx, escalation, Settlement::Told);
}

/// Nobody handled it: it is an `Err` of the agent.
pub(crate) fn returned(cx: &RunContext, escalation: &Escalation) {
    settled(cx, escalation, Settlement::Returned);
}
