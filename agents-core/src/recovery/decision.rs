use super::{Backoff, FixerRef, Kind, Severity};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{fmt, marker::PhantomData};

/// One thing to try. Data alone: a repair agent is named, not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Read this text in place of what failed; `None` falls through.
    Fix(Option<String>),
    /// Ask a repair agent, at most so often for one call or one final answer.
    Ask {
        /// Whom.
        fixer: FixerRef,
        /// How often.
        retries: u32,
    },
    /// Put this value where the one at fault was; `None` falls through.
    Sanitize(Option<Value>),
    /// Run the same call again.
    Retry {
        /// How many executions there may be in all.
        max_attempts: u32,
        /// How long to wait before.
        backoff: Backoff,
    },
    /// Tell the model, with this hint.
    Feedback(String),
    /// Hand the failure up.
    Escalate {
        /// Why.
        reason: String,
        /// How bad it is.
        severity: Severity,
    },
    /// End the run.
    Throw {
        /// Why.
        reason: String,
    },
    /// Ask the next layer.
    Inherit,
}

/// What an arm decides: steps to try in order, each when the one before gave nothing.
///
/// It is data: compare it in tests, write it down, hand it around.
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
    steps: Vec<Step>,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> Decision<K> {
    pub(super) fn one(step: Step) -> Self {
        Decision {
            steps: vec![step],
            kind: PhantomData,
        }
    }

    /// What to do when this gives nothing, has been tried, or is spent.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::recovery::*;
    ///
    /// let decision: Decision<Execution> = retry().or(fix(None)).or(throw("no way is left"));
    /// let ends: Vec<_> = decision.steps().iter().map(|step| matches!(step, Step::Throw { .. })).collect();
    /// assert_eq!(ends, [false, false, true]);
    /// ```
    pub fn or(mut self, next: Decision<K>) -> Self {
        self.steps.extend(next.steps);
        self
    }

    /// How often the repair agent just named may be asked about one call, or one final answer; 1 if nothing
    /// is said.
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
            if let Step::Ask { retries, .. } = step {
                *retries = tries;
            }
        })
    }

    /// How many executions there may be in all; 3 if nothing is said.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::recovery::*;
    ///
    /// let decision: Decision<Execution> = retry().max_attempts(2);
    /// assert!(matches!(decision.steps(), [Step::Retry { max_attempts: 2, .. }]));
    /// ```
    pub fn max_attempts(self, executions: u32) -> Self {
        self.last(|step| {
            if let Step::Retry { max_attempts, .. } = step {
                *max_attempts = executions;
            }
        })
    }

    /// How long to wait before the next execution; exponentially if nothing is said.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::recovery::*;
    ///
    /// let decision: Decision<Execution> = retry().backoff(none());
    /// assert!(matches!(decision.steps(), [Step::Retry { backoff: Backoff::None, .. }]));
    /// ```
    pub fn backoff(self, wait: Backoff) -> Self {
        self.last(|step| {
            if let Step::Retry { backoff, .. } = step {
                *backoff = wait;
            }
        })
    }

    /// How bad the escalation is; `High` if nothing is said.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::recovery::*;
    ///
    /// let decision: Decision<Execution> = escalate("the index is stale").severity(Severity::Low);
    /// assert!(matches!(decision.steps(), [Step::Escalate { severity: Severity::Low, .. }]));
    /// ```
    pub fn severity(self, level: Severity) -> Self {
        self.last(|step| {
            if let Step::Escalate { severity, .. } = step {
                *severity = level;
            }
        })
    }

    /// A modifier belongs to the verb before it; after any other it changes nothing.
    fn last(mut self, change: impl FnOnce(&mut Step)) -> Self {
        if let Some(step) = self.steps.last_mut() {
            change(step);
        }
        self
    }

    /// The steps.
    pub fn steps(&self) -> &[Step] {
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

/// A decision of whatever kind, as the run carries it out and stores it.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// let plan = Plan::from(throw::<Execution>("the licence has run out"));
/// assert!(matches!(plan.steps(), [Step::Throw { .. }]));
/// let stored = serde_json::to_string(&plan)?;
/// assert_eq!(plan, serde_json::from_str::<Plan>(&stored)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Plan(pub(crate) Vec<Step>);

impl Plan {
    /// The steps.
    pub fn steps(&self) -> &[Step] {
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

/// What an arm may end with: a decision, or an `Option` of one, whose `None` asks the next layer.
#[diagnostic::on_unimplemented(
    message = "this arm gives `{Self}`, not a decision",
    label = "expected a decision",
    note = "end the arm with `fix(..)`, `sanitize(..)`, `retry(..)`, `feedback(..)`, `escalate(..)` or `throw(..)`"
)]
pub trait IntoDecision<K> {
    /// The decision, if there is one.
    fn into_decision(self) -> Option<Decision<K>>;

    /// The decision as what the run carries out. Arms end in it.
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
