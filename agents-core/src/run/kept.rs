//! The steps of a run as they are kept while it goes on: small, and put into words at its end.

use super::{
    Timestamp,
    trace::{Step, StepKind},
};
use crate::model::{Model, Usage};
use std::sync::Arc;

/// Who works at a place of the run; all of its steps share it.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) place: String,
    pub(crate) agent: Arc<str>,
    pub(crate) depth: u32,
}

/// A step that has ended.
pub(crate) struct Kept {
    pub(crate) worker: Arc<Worker>,
    pub(crate) t_start: Timestamp,
    pub(crate) t_end: Timestamp,
    pub(crate) what: What,
}

/// What it was.
pub(crate) enum What {
    /// The agent worked.
    Agent { ok: bool },
    /// A model was asked.
    Turn {
        turn: u32,
        model: Arc<dyn Model>,
        calls: Option<usize>,
        usage: Usage,
        choosing: bool,
        refused: bool,
    },
    /// A call was made.
    Call { seq: u32, call_id: Arc<str> },
    /// It was kept in words before.
    Told(Box<Step>),
}

impl Kept {
    /// A step of a run that was put down, or of one within a call that a tape has answered.
    pub(crate) fn told(step: Step) -> Self {
        Kept {
            worker: Arc::new(Worker {
                place: step.place.clone(),
                agent: step.agent.clone(),
                depth: step.depth,
            }),
            t_start: step.t_start,
            t_end: step.t_end,
            what: What::Told(Box::new(step)),
        }
    }

    /// Whether the answer of this turn is refused; `false` if this is not that turn.
    pub(super) fn answer_refused(&mut self, place: &str, number: u32, is_refused: bool) -> bool {
        match &mut self.what {
            What::Turn { turn, refused, .. } if *turn == number && self.worker.place == place => {
                *refused = is_refused;
                true
            }
            What::Told(step) if step.place == format!("{place}/turn{number:04}") => {
                if let StepKind::Turn { refused, .. } = &mut step.kind {
                    *refused = is_refused;
                }
                true
            }
            _ => false,
        }
    }

    /// Whether whoever worked is within this place.
    pub(super) fn is_within(&self, path: &str) -> bool {
        let rest = self.worker.place.strip_prefix(path);
        rest.is_some_and(|rest| rest.starts_with('/'))
    }

    pub(super) fn in_words(&self) -> Step {
        let Kept {
            worker,
            t_start,
            t_end,
            what,
        } = self;
        let Worker {
            place,
            agent,
            depth,
        } = &**worker;
        let (place, kind) = match what {
            What::Agent { ok } => (place.clone(), StepKind::Agent { ok: *ok }),
            What::Turn {
                turn,
                model,
                calls,
                usage,
                choosing,
                refused,
            } => {
                let kind = StepKind::Turn {
                    turn: *turn,
                    model: model.id().to_owned(),
                    calls: *calls,
                    usage: *usage,
                    choosing: *choosing,
                    refused: *refused,
                };
                (format!("{place}/turn{turn:04}"), kind)
            }
            What::Call { seq, call_id } => {
                let call_id = call_id.clone();
                (format!("{place}/call{seq:04}"), StepKind::Call { call_id })
            }
            What::Told(step) => return Step::clone(step),
        };
        Step {
            place,
            agent: agent.clone(),
            depth: *depth,
            t_start: *t_start,
            t_end: *t_end,
            kind,
        }
    }
}
