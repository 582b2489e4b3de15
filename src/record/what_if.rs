use super::{Replay, bundle::Told};
use agents_core::{
    Code, Error, ErrorKind, Json, ToolError,
    error::Cause,
    recovery::Plan,
    run::{Happened, ToolEnvelope},
};
use serde::Serialize;
use std::{collections::HashMap, fmt, sync::Arc};

/// A recorded run in which some results are changed, to see where it would have gone.
///
/// Up to the change everything is taken from the recording. The first request that is another then ends
/// the run with [`ErrorKind::Replay`](crate::ErrorKind::Replay), and
/// [`Replay::divergence`] says how it differs; or, with [`live`](WhatIf::live), the run goes on from there.
/// What is changed within the body of a tool can show only if that tool runs again: that too is the end of
/// the replay, or live.
///
/// ```
/// use agents::{Code, prelude::*, record::Bundle, recovery::*};
///
/// # async fn run(clerk: agents::agent::ModelAgent<'_, String, String>, bundle: Bundle, model: impl Model) -> Result<(), Error> {
/// // What would the model have done, had the first call failed so?
/// let replay = bundle.what_if().error(0, Code::Timeout, "the disk sleeps").live().replay()?;
/// let outcome = clerk.run("go").model(model).tape(replay.clone()).outcome().await?;
/// println!("{:?}, from {:?} on", outcome.result, replay.divergence());
///
/// // And what, had an arm said to the failure of this one that it is to be tried again?
/// let again: Decision<Execution> = retry().max_attempts(3);
/// let replay = bundle.what_if().plan("9a7b173ec7a5021c36afbb3fb0d5738e", again).live().replay()?;
/// # let _ = replay;
/// # Ok(())
/// # }
/// ```
#[must_use = "it is a replay only with `.replay()`"]
pub struct WhatIf {
    told: Arc<Told>,
    changes: Changes,
    live: bool,
    /// The first thing that cannot be changed so.
    fault: Option<String>,
}

/// Selects a call of a recorded run: by its index in
/// [`Bundle::envelopes`](super::Bundle::envelopes), or by the id of its receipt.
#[derive(Clone, Debug)]
pub enum Call {
    /// Index of the call, from 0.
    Nth(usize),
    /// Id of the call's receipt.
    Id(String),
}

impl From<usize> for Call {
    fn from(nth: usize) -> Self {
        Call::Nth(nth)
    }
}

impl From<&str> for Call {
    fn from(id: &str) -> Self {
        Call::Id(id.to_owned())
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Call::Nth(nth) => write!(f, "{nth}, counted from 0"),
            Call::Id(id) => write!(f, "`{id}`"),
        }
    }
}

/// What is changed, by the place of the call.
#[derive(Default)]
pub(super) struct Changes {
    settled: HashMap<String, ToolEnvelope>,
    plans: HashMap<String, Plan>,
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.settled.is_empty() && self.plans.is_empty()
    }

    /// Whether something is changed within this attempt of a call.
    pub(super) fn lie_within(&self, call: &str, attempt: u32) -> bool {
        let attempt = format!("{call}.{attempt:02}/");
        let mut places = self.settled.keys().chain(self.plans.keys());
        places.any(|place| place.starts_with(&attempt))
    }

    /// What is to have happened instead.
    pub(super) fn at(&self, moment: &str) -> Option<Happened> {
        let (call, what) = moment.rsplit_once('/')?;
        if what == "settled" {
            let receipt = self.settled.get(call)?;
            return Some(Happened::Settled(Arc::new(receipt.clone())));
        }
        let plan = self.plans.get(call).filter(|_| what.starts_with("arms"))?;
        Some(Happened::Decided(Some(plan.clone())))
    }
}

impl WhatIf {
    pub(super) fn new(told: Arc<Told>) -> Self {
        WhatIf {
            told,
            changes: Changes::default(),
            live: false,
            fault: None,
        }
    }

    /// Replaces the result of a call by this output.
    pub fn output(self, call: impl Into<Call>, output: impl Serialize) -> Self {
        match Json::of(&output) {
            Ok(output) => self.settled(call.into(), |receipt| {
                receipt.output = Some(output);
                receipt.error = None;
            }),
            Err(error) => self.but(format!("the output cannot be written as JSON: {error}")),
        }
    }

    /// Replaces the result of a call by this error.
    pub fn error(self, call: impl Into<Call>, code: Code, message: impl Into<String>) -> Self {
        let cause = Cause::text(code, message);
        self.settled(call.into(), |receipt| {
            let args = receipt.input.clone();
            receipt.output = None;
            receipt.error = Some(Box::new(ToolError::Execution { args, cause }.receipt()));
        })
    }

    /// Replaces the answer of the arms to the call's failures by this plan.
    ///
    /// ```
    /// use agents::{prelude::*, record::Bundle, recovery::*};
    /// # async fn ask(clerk: agents::agent::ModelAgent<'_, String, String>, bundle: Bundle, model: impl Model) -> Result<(), Error> {
    ///
    /// // Would it have been better to give up at once?
    /// let give_up: Decision<Execution> = escalate("the index is down").severity(Severity::High);
    /// let replay = bundle.what_if().plan(2, give_up).live().replay()?;
    /// let outcome = clerk.run("go").model(model).tape(replay).outcome().await?;
    /// println!("{:?}", outcome.escalations);
    /// # Ok(())
    /// # }
    /// ```
    pub fn plan(mut self, call: impl Into<Call>, plan: impl Into<Plan>) -> Self {
        match self.find(&call.into()) {
            Ok((place, _)) => {
                self.changes.plans.insert(place, plan.into());
                self
            }
            Err(missing) => self.but(missing),
        }
    }

    /// Lets the run continue where the recording ends, with live models and tools.
    pub fn live(mut self) -> Self {
        self.live = true;
        self
    }

    /// Creates the replay with these changes; [`Run::tape`](crate::agent::Run::tape) takes it.
    ///
    /// # Errors
    /// When the recording has no such call as was to be changed, or an output cannot be written as JSON;
    /// with [`ErrorKind::Replay`].
    pub fn replay(self) -> Result<Replay, Error> {
        match self.fault {
            None => Ok(Replay::changed(self.told, self.changes, self.live)),
            Some(fault) => Err(Error::new(ErrorKind::Replay, fault)),
        }
    }

    fn settled(mut self, call: Call, change: impl FnOnce(&mut ToolEnvelope)) -> Self {
        match self.find(&call) {
            Ok((place, mut receipt)) => {
                change(&mut receipt);
                self.changes.settled.insert(place, receipt);
                self
            }
            Err(missing) => self.but(missing),
        }
    }

    /// It cannot be replayed so: the first reason counts.
    fn but(mut self, fault: String) -> Self {
        self.fault.get_or_insert(fault);
        self
    }

    fn find(&self, call: &Call) -> Result<(String, ToolEnvelope), String> {
        let mut receipts = self.told.receipts.iter();
        let found = match call {
            Call::Nth(nth) => receipts.nth(*nth),
            Call::Id(id) => receipts.find(|(_, receipt)| *receipt.call_id == **id),
        };
        match found {
            Some((place, receipt)) => Ok((place.clone(), ToolEnvelope::clone(receipt))),
            None => {
                let calls = self.told.receipts.len();
                Err(format!("the recording has no call {call}; it has {calls}"))
            }
        }
    }
}

impl fmt::Debug for WhatIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WhatIf")
            .field("calls", &self.changes.settled.keys())
            .field("plans", &self.changes.plans)
            .field("live", &self.live)
            .field("fault", &self.fault)
            .finish()
    }
}
