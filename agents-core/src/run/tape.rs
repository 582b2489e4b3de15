use super::{Attachment, Clock, Signed, Stopped, ToolEnvelope, trace::Step};
use crate::{Error, Json, error::Cause, model::Model, recovery::Plan, secret::Masker};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::{convert::Infallible, future::pending, sync::Arc};

/// A recording or a replay of a run: what [`Run::tape`](crate::agent::Run::tape) takes.
///
/// It stands between a run and what it cannot repeat: its models, its clock, its id; and what its tools, its
/// arms and the people it asks have said.
///
/// A recording writes down what passes through it; a replay answers in their place. The `agents` crate
/// has both: `agents::record::Recording` writes to any `io::Write`, `agents::record::Replay` reads any
/// text. Whatever else is to happen to a recording is done with those: this is no trait to implement, and
/// what is hidden of it changes without notice.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tape",
    label = "expected a recording or a replay",
    note = "to write the run to a file: `agents::record::Recording::create(\"run.jsonl\")?`; to play it back: `agents::record::Replay::open(\"run.jsonl\")?`"
)]
pub trait Tape: Send + Sync + 'static {
    /// The model to ask instead of `model`, which is `None` when the agent has none at all.
    #[doc(hidden)]
    fn model(&self, model: Option<Arc<dyn Model>>) -> Option<Arc<dyn Model>>;

    /// The clock to read.
    #[doc(hidden)]
    fn clock(&self) -> Arc<dyn Clock>;

    /// A run begins, or one within it.
    ///
    /// # Errors
    /// When this is no run for the tape: it ends with that, before anything is asked.
    #[doc(hidden)]
    fn begins(&self, begun: &Begun<'_>) -> Result<(), Error> {
        let _ = begun;
        Ok(())
    }

    /// Whether it has anything to say to [`recall`](Tape::recall): one that only listens is not asked.
    #[doc(hidden)]
    fn recalls(&self) -> bool {
        true
    }

    /// What is to be taken to happen now.
    #[doc(hidden)]
    fn recall(&self, moment: &Moment) -> Recalled {
        let _ = moment;
        Recalled::Live
    }

    /// This has happened now.
    #[doc(hidden)]
    fn keep(&self, moment: Moment, what: Happened) {
        let _ = (moment, what);
    }

    /// Whether waits between two attempts are waited.
    #[doc(hidden)]
    fn waits(&self) -> bool {
        true
    }

    /// Waits at this place for what came to no end in the recorded run.
    #[doc(hidden)]
    fn in_vain<'a>(&'a self, place: &'a str) -> BoxFuture<'a, Infallible> {
        let _ = place;
        Box::pin(pending())
    }

    /// What ended the run at this place before its answer, once everything else that happened in it has
    /// happened again.
    #[doc(hidden)]
    fn ended<'a>(&'a self, place: &'a str) -> BoxFuture<'a, Stopped> {
        let _ = place;
        Box::pin(pending())
    }
}

/// A run that begins.
#[derive(Clone, Copy, Debug)]
pub struct Begun<'a> {
    /// Its id.
    pub run_id: &'a str,
    /// The agent that is run.
    pub agent: &'a str,
    /// Its input.
    pub input: &'a Json,
    /// It is a part of the run that has the tape.
    pub is_within: bool,
    /// What hides its secrets: nothing is to be written but through it.
    pub masker: &'a Arc<Masker>,
}

/// Something that happens in a run, named so that it has the same name whenever the same run is run again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Where in the run, and what.
    pub at: String,
    /// What was asked, and of whom.
    pub asked: Json,
}

/// What has happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happened {
    /// A tool was executed.
    Executed {
        /// What it gave.
        result: Result<Json, Cause>,
        /// That came from a cache.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cached: bool,
        /// What agents did within it.
        #[serde(default, skip_serializing_if = "Inside::is_empty")]
        inside: Inside,
    },
    /// Arms were asked about a failure.
    Decided(Option<Plan>),
    /// Somebody was asked whether a call may run.
    Approved(Signed),
    /// An output was kept whole, elsewhere.
    Kept(Vec<Attachment>),
    /// A call has its receipt: it was settled, or left unsettled.
    Settled(Arc<ToolEnvelope>),
    /// The run is over; this is what ended it, if it was not its answer.
    Ended(Option<Stopped>),
    /// It had not come to an end when the run did, or was no longer wanted. This is what agents had done
    /// within it.
    Nothing(Inside),
}

/// What agents did within an execution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inside {
    /// The receipts of their calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipts: Vec<Arc<ToolEnvelope>>,
    /// Their steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// The tokens that they used.
    #[serde(default)]
    pub tokens: u64,
    /// The result is not all that was asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The tool had begun, and was cut off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_off: bool,
    /// What ended the run was within it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_run: bool,
}

impl Inside {
    fn is_empty(&self) -> bool {
        *self == Inside::default()
    }
}

/// What a tape says to something that is about to happen.
#[derive(Clone, Debug, PartialEq)]
pub enum Recalled {
    /// Let it happen.
    Live,
    /// It has happened: this came of it.
    Happened(Box<Happened>),
    /// It is not on the tape: the run ends here, for this reason.
    Diverged(String),
}
