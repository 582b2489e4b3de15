use super::{Backoff, Kind, RepairAgentRef, Severity};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{fmt, marker::PhantomData};

/// Step of a decision about a failure, as data. A step names a repair agent and does not run it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStep {
    /// Replaces the text that failed by this one. With `None`, or if the text has failed before, the next step is
    /// taken.
    Fix(Option<String>),
    /// Asks a repair agent for new arguments or a new answer.
    Ask {
        /// Repair agent that is asked for new arguments or a new answer.
        fixer: RepairAgentRef,
        /// Maximum number of times that the repair agent is asked about one call or one final answer.
        retries: u32,
    },
    /// Replaces the value at fault by this one. With `None`, or if this gives a text that has failed before, the next
    /// step is taken.
    Sanitize(Option<Value>),
    /// Executes the call again with the same arguments.
    Retry {
        /// Maximum number of executions of the call in all. The first one counts, and so does an execution that a rate
        /// limit held back.
        max_attempts: u32,
        /// Wait before each further execution of the call.
        backoff: Backoff,
    },
    /// Reports the failure to the model, with this hint. For a repair that does not fit, see
    /// [`feedback`](super::feedback).
    Feedback(String),
    /// Escalates the failure to the agents above. For a repair that does not fit, see [`escalate`](super::escalate).
    Escalate {
        /// Reason for the escalation, which the agent above is told.
        reason: String,
        /// Severity of the escalation, which the agent above is told.
        severity: Severity,
    },
    /// Ends the whole run with an error.
    Throw {
        /// Reason for which the decision ends the run.
        reason: String,
    },
    /// Asks the arms of the next layer, such as the agent's default after the tool's own arms. A second step of this
    /// kind in one decision does nothing.
    Inherit,
}

/// Decision of an arm about a failure: steps to try in order, each one if the step before it does not help.
///
/// A decision is data: it can be compared in tests, stored and passed around.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// fn patient() -> Decision<Execution> {
///     retry().max_attempts(3).or(escalate("still failing"))
/// }
///
/// // Two that say the same are equal, and it is written as it is meant.
/// assert_eq!(patient(), retry().max_attempts(3).or(escalate("still failing")));
/// assert_eq!(serde_json::to_value(patient())?[1]["escalate"]["reason"], "still failing");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use = "a decision does nothing until an arm gives it back"]
pub struct Decision<K> {
    steps: Vec<PlanStep>,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> Decision<K> {
    pub(super) fn one(step: PlanStep) -> Self {
        Decision {
            steps: vec![step],
            kind: PhantomData,
        }
    }

    /// Appends the steps of `next`, which are tried if no step of this decision is possible any more.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::recovery::*;
    ///
    /// let decision: Decision<Execution> = retry().or(fix(None)).or(throw("no way is left"));
    /// let ends: Vec<_> = decision.steps().iter().map(|step| matches!(step, PlanStep::Throw { .. })).collect();
    /// assert_eq!(ends, [false, false, true]);
    /// ```
    pub fn or(mut self, next: Decision<K>) -> Self {
        self.steps.extend(next.steps);
        self
    }

    /// Sets how many times the repair agent may be asked about one call or one final answer; 1 by default. The setting
    /// is for a last step made by [`fix_with`](super::fix_with); after any other step, it has no effect.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{AgentBuilder, recovery::*};
    ///
    /// let mender = || AgentBuilder::<String, String>::new("mender").build();
    /// let once: Decision<InvalidArgs> = fix_with(mender());
    /// assert_eq!(once, fix_with(mender()).retries(1));
    /// ```
    pub fn retries(self, tries: u32) -> Self {
        self.last(|step| {
            if let PlanStep::Ask { retries, .. } = step {
                *retries = tries;
            }
        })
    }

    /// Sets the maximum number of executions of the call in all; 3 by default. Executions that a [rate
    /// limit](crate::rate) held back count as well. The setting is for a last step made by [`retry`](super::retry);
    /// after any other step, it has no effect.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::recovery::*;
    ///
    /// let decision: Decision<Execution> = retry().max_attempts(2);
    /// assert!(matches!(decision.steps(), [PlanStep::Retry { max_attempts: 2, .. }]));
    /// ```
    pub fn max_attempts(self, executions: u32) -> Self {
        self.last(|step| {
            if let PlanStep::Retry { max_attempts, .. } = step {
                *max_attempts = executions;
            }
        })
    }

    /// Sets the wait before each further execution; exponential by default. The setting is for a last step made by
    /// [`retry`](super::retry); after any other step, it has no effect.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::recovery::*;
    ///
    /// let decision: Decision<Execution> = retry().backoff(none());
    /// assert!(matches!(decision.steps(), [PlanStep::Retry { backoff: Backoff::None, .. }]));
    /// ```
    pub fn backoff(self, wait: Backoff) -> Self {
        self.last(|step| {
            if let PlanStep::Retry { backoff, .. } = step {
                *backoff = wait;
            }
        })
    }

    /// Sets the severity of the escalation; `High` by default. The setting is for a last step made by
    /// [`escalate`](super::escalate); after any other step, it has no effect.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::recovery::*;
    ///
    /// let decision: Decision<Execution> = escalate("the index is stale").severity(Severity::Low);
    /// assert!(matches!(decision.steps(), [PlanStep::Escalate { severity: Severity::Low, .. }]));
    /// ```
    pub fn severity(self, level: Severity) -> Self {
        self.last(|step| {
            if let PlanStep::Escalate { severity, .. } = step {
                *severity = level;
            }
        })
    }

    /// Applies `change` to the last step: a modifier belongs to the verb before it.
    fn last(mut self, change: impl FnOnce(&mut PlanStep)) -> Self {
        if let Some(step) = self.steps.last_mut() {
            change(step);
        }
        self
    }

    /// Returns the steps so far, in the order in which they are tried.
    pub fn steps(&self) -> &[PlanStep] {
        &self.steps
    }
}

impl<K> Clone for Decision<K> {
    fn clone(&self) -> Self {
        Decision {
            steps: self.steps.clone(),
            kind: PhantomData,
        }
    }
}

impl<K> PartialEq for Decision<K> {
    fn eq(&self, other: &Self) -> bool {
        self.steps == other.steps
    }
}

impl<K: Kind> fmt::Debug for Decision<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", K::NAME)?;
        f.debug_list().entries(&self.steps).finish()
    }
}

impl<K> Serialize for Decision<K> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.steps.serialize(serializer)
    }
}

/// [`Decision`] without its failure kind, as the run stores it and carries it out.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// let plan = Plan::from(throw::<Execution>("the licence has run out"));
/// assert!(matches!(plan.steps(), [PlanStep::Throw { .. }]));
/// let stored = serde_json::to_string(&plan)?;
/// assert_eq!(plan, serde_json::from_str::<Plan>(&stored)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Plan(pub(crate) Vec<PlanStep>);

impl Plan {
    /// Returns the steps of the plan, in the order in which they are tried.
    pub fn steps(&self) -> &[PlanStep] {
        &self.0
    }
}

impl<K> From<Decision<K>> for Plan {
    fn from(decision: Decision<K>) -> Self {
        Plan(decision.steps)
    }
}

impl<K> PartialEq<Decision<K>> for Plan {
    fn eq(&self, other: &Decision<K>) -> bool {
        self.0 == other.steps
    }
}

/// Conversion from the value of an arm: a [`Decision`], or an `Option` of a decision, where `None` asks the next layer.
#[diagnostic::on_unimplemented(
    message = "this arm gives `{Self}`, not a decision",
    label = "expected a decision",
    note = "end the arm with `fix(..)`, `sanitize(..)`, `retry(..)`, `feedback(..)`, `escalate(..)` or `throw(..)`"
)]
// Public because generated code names it.
#[doc(hidden)]
pub trait IntoDecision<K> {
    /// Converts the value of the arm into a decision; `None` if the next layer is to be asked.
    fn into_decision(self) -> Option<Decision<K>>;

    /// Converts the value of the arm into a [`Plan`]; `None` if the next layer is to be asked. Generated code calls it.
    fn into_plan(self) -> Option<Plan>
    where
        Self: Sized,
    {
        self.into_decision().map(Plan::from)
    }
}

#[diagnostic::do_not_recommend]
impl<K> IntoDecision<K> for Decision<K> {
    fn into_decision(self) -> Option<Decision<K>> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl<K> IntoDecision<K> for Option<Decision<K>> {
    fn into_decision(self) -> Option<Decision<K>> {
        self
    }
}
