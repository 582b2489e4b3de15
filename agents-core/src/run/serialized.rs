//! Serialized form of a run's outcome.

use super::{AgentOutputs, Cost, Outcome, Stopped, trace::Trace};
use crate::{Error, ErrorKind, Json, escalation::EscalationReceipt, model::Usage, run::Repairs};
use serde::{Serialize, Serializer};

/// Form in which an [`Outcome`] is serialized: `result` or `error`, and the other fields by their names.
#[derive(Serialize)]
struct Written<'a> {
    run_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<WrittenError>,
    partial: bool,
    stopped: &'a Option<Stopped>,
    escalations: &'a [EscalationReceipt],
    repairs: &'a Repairs,
    usage: Usage,
    cost: Option<Cost>,
    outputs: &'a AgentOutputs,
    trace: &'a Trace,
}

/// Error in the serialized outcome of a run without an answer, with its sources.
#[derive(Serialize)]
struct WrittenError {
    kind: ErrorKind,
    message: String,
}

impl WrittenError {
    fn of(error: &Error) -> Self {
        WrittenError {
            kind: error.kind(),
            message: format!("{error:#}"),
        }
    }
}

/// Serializes the run as data: `result`, or `error` with its `kind` and its `message`. Then follow `partial`, `stopped`
/// and the other fields under their names.
///
/// Secrets in `result` are masked as in the receipts.
impl<T> Serialize for Outcome<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let error = self.result.as_ref().err();
        Written {
            run_id: &self.run_id,
            result: self.answer.as_ref().filter(|_| error.is_none()),
            error: error.map(WrittenError::of),
            partial: self.partial,
            stopped: &self.stopped,
            escalations: &self.escalations,
            repairs: &self.repairs,
            usage: self.usage,
            cost: self.cost,
            outputs: &self.outputs,
            trace: &self.trace,
        }
        .serialize(serializer)
    }
}
