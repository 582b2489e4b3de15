//! Outcome of a run, from its state.

use super::{Finished, State, wording};
use crate::{
    Error, ErrorKind, Json, evidence,
    run::{AgentOutputs, Outcome, Stop, trace::Trace},
    secret::Masker,
};
use serde::de::DeserializeOwned;

impl<T> Outcome<T> {
    /// Creates the outcome of a run from its state, without its trace.
    pub(crate) fn of(
        state: &State,
        run_id: &str,
        masker: &Masker,
        result: Result<T, Error>,
        answer: Option<Json>,
    ) -> Self {
        let place = state.place(0);
        let answer = answer.map(|json| masker.json(&json));
        let response = answer.as_ref().map(Json::to_text).unwrap_or_default();
        let repairs = place.frame.as_ref().map(|frame| frame.repairs(masker));
        Outcome {
            result: result.map_err(|error| masker.error(error)),
            partial: place.partial,
            repairs: masker.mask(repairs.unwrap_or_default()),
            escalations: state
                .settled
                .iter()
                .map(|it| masker.mask(it.clone()))
                .collect(),
            stopped: state.stop.as_ref().map(|stop| masker.mask(stop.reason())),
            outputs: AgentOutputs::collect(response, state.receipts(0)),
            usage: state.usage,
            cost: place.paid.total(),
            run_id: run_id.to_owned(),
            trace: Trace::default(),
            answer,
        }
    }
}

impl<T: DeserializeOwned> Outcome<T> {
    /// Creates the outcome of a run that was read from a journal, without its trace; `None` if the run has not ended.
    pub(crate) fn stored(state: &State, run_id: &str, masker: &Masker) -> Option<Self> {
        let (result, answer) = match state.finished.clone()? {
            Finished::Answer(answer) => {
                let result = evidence::stored(|| answer.to()).map_err(|error| {
                    Error::new(ErrorKind::Journal, wording::stored_answer_misfits(&error))
                });
                (result, Some(answer))
            }
            Finished::Failed { kind, message } => (Err(Error::new(kind, message)), None),
            Finished::Stopped => {
                let stop = state.stop.as_ref().unwrap_or(&Stop::Cancelled);
                (Err(stop.error()), None)
            }
        };
        Some(Outcome::of(state, run_id, masker, result, answer))
    }
}
