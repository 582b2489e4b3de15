//! Steps of a run as they are stored while it goes on: small, and converted for reading at its end.

use super::{PlaceId, State};
use crate::{
    digits::push_number,
    model::Usage,
    run::{
        Timestamp,
        trace::{StepKind, TraceStep},
    },
};
use std::sync::Arc;

/// Step of a run's trace that has ended, as the state keeps it: its place, its times and its kind.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Kept {
    pub(crate) place: PlaceId,
    pub(crate) t_start: Timestamp,
    pub(crate) t_end: Timestamp,
    pub(crate) what: What,
}

/// Kind of a step of a trace, with what is particular to it.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) enum What {
    /// An agent has worked; `ok` is `true` if it gave an answer.
    Agent { ok: bool },
    /// A model was asked, in the turn with this number.
    Turn {
        turn: u32,
        model: Arc<str>,
        calls: Option<usize>,
        usage: Usage,
        choosing: bool,
        refused: bool,
    },
    /// A tool was called: the call of this number and this id.
    Call { seq: u32, call_id: Arc<str> },
}

impl State {
    /// Returns the steps in the form of the public trace.
    pub(crate) fn steps_in_words(&self) -> Vec<TraceStep> {
        let (mut place, mut path) = (None, String::new());
        let steps = self.steps.iter().map(|kept| {
            // Mostly many steps in a row are at one place.
            if place != Some(kept.place) {
                (place, path) = (Some(kept.place), self.path(kept.place).to_string());
            }
            self.in_words(kept, &path)
        });
        steps.collect()
    }

    /// Returns the name of a model as a shared text: that of the last turn if it was of the same model, else a new one.
    pub(crate) fn model_name(&self, name: &str) -> Arc<str> {
        let last = self.steps.iter().rev().find_map(|kept| match &kept.what {
            What::Turn { model, .. } => Some(model),
            _ => None,
        });
        match last.filter(|last| ***last == *name) {
            Some(last) => last.clone(),
            None => name.into(),
        }
    }

    /// Records for the step of this turn whether its answer was refused.
    pub(super) fn mark_refused(&mut self, id: PlaceId, number: u32, is_refused: bool) {
        let mut latest = self.steps.iter_mut().rev();
        let of_turn = latest.find_map(|kept| match &mut kept.what {
            What::Turn { turn, refused, .. } if *turn == number && kept.place == id => {
                Some(refused)
            }
            _ => None,
        });
        if let Some(refused) = of_turn {
            *refused = is_refused;
        }
    }

    fn in_words(&self, kept: &Kept, path: &str) -> TraceStep {
        let Kept {
            place: id,
            t_start,
            t_end,
            what,
        } = kept;
        let place = self.place(*id);
        let (place_of_step, kind) = match what {
            What::Agent { ok } => (path.to_owned(), StepKind::Agent { ok: *ok }),
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
                    model: model.clone(),
                    calls: *calls,
                    usage: *usage,
                    choosing: *choosing,
                    refused: *refused,
                };
                (below(path, "turn", *turn), kind)
            }
            What::Call { seq, call_id } => {
                let call_id = call_id.clone();
                (below(path, "call", *seq), StepKind::Call { call_id })
            }
        };
        TraceStep {
            place: place_of_step,
            agent: place.agent.clone(),
            depth: place.depth,
            t_start: *t_start,
            t_end: *t_end,
            kind,
        }
    }
}

/// Returns the path of a step: the path of its place, followed by the kind and the number of the step in at least four
/// digits.
fn below(path: &str, kind: &str, number: u32) -> String {
    let mut below = String::with_capacity(path.len() + kind.len() + 5);
    below.push_str(path);
    below.push('/');
    below.push_str(kind);
    push_number(&mut below, number, 4);
    below
}
