use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Wait before a call is executed again.
///
/// If a failure names its own wait ([`retry_after`](crate::ToolFailure::retry_after)), that wait applies instead, but
/// never longer than the cap of an exponential back-off. Without a cap, it is at most a minute or the constant wait,
/// whichever is longer. Waiting counts against the time of the run.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::{constant, exponential};
/// use std::time::Duration;
///
/// let patient = exponential().base(Duration::from_millis(50)).cap(Duration::from_secs(2));
/// assert_eq!(patient.ceiling(1), Duration::from_millis(50));
/// assert_eq!(patient.ceiling(2), Duration::from_millis(100));
/// assert_eq!(patient.ceiling(9), Duration::from_secs(2));
/// assert_eq!(constant(Duration::from_secs(1)).ceiling(7), Duration::from_secs(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    /// No wait between executions.
    None,
    /// Constant wait before each further execution.
    Constant(Duration),
    /// A random time between nothing and a bound that doubles with each execution up to a cap ("full jitter").
    Exponential {
        /// Longest wait before the second execution of a call. The real wait is a random time up to this bound.
        base: Duration,
        /// Longest wait before any execution of a call, at which the growth of the waits ends.
        cap: Duration,
    },
}

/// Longest wait that a failure may ask for by its `retry_after`, unless the back-off allows a longer one.
const LONGEST: Duration = Duration::from_secs(60);

/// Creates an exponential back-off from 100 ms up to one minute, with full jitter.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::exponential;
/// use std::time::Duration;
///
/// assert_eq!(exponential().ceiling(1), Duration::from_millis(100));
/// assert_eq!(exponential().ceiling(4), Duration::from_millis(800));
/// assert_eq!(exponential().ceiling(30), Duration::from_secs(60));
/// ```
pub fn exponential() -> Backoff {
    Backoff::Exponential {
        base: Duration::from_millis(100),
        cap: LONGEST,
    }
}

/// Creates a back-off that always waits `wait`.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::constant;
/// use std::time::Duration;
///
/// let second = Duration::from_secs(1);
/// assert_eq!((constant(second).ceiling(1), constant(second).ceiling(9)), (second, second));
/// ```
pub fn constant(wait: Duration) -> Backoff {
    Backoff::Constant(wait)
}

/// Creates a back-off that does not wait.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::none;
///
/// assert!(none().ceiling(9).is_zero());
/// ```
pub fn none() -> Backoff {
    Backoff::None
}

impl Backoff {
    /// Sets the longest wait before the second execution, for an exponential back-off; 100 ms by default. A constant
    /// back-off, or none, stays as it is.
    #[must_use]
    pub fn base(self, base: Duration) -> Backoff {
        match self {
            Backoff::Exponential { cap, .. } => Backoff::Exponential { base, cap },
            other => other,
        }
    }

    /// Sets the longest wait before any execution, for an exponential back-off; one minute by default. A constant
    /// back-off, or none, stays as it is.
    #[must_use]
    pub fn cap(self, cap: Duration) -> Backoff {
        match self {
            Backoff::Exponential { base, .. } => Backoff::Exponential { base, cap },
            other => other,
        }
    }

    /// Returns the longest possible wait after the execution of this number, from 1, unless the failure names a wait of
    /// its own.
    pub fn ceiling(self, executions: u32) -> Duration {
        match self {
            Backoff::None => Duration::ZERO,
            Backoff::Constant(wait) => wait,
            Backoff::Exponential { base, cap } => {
                let doublings = executions.saturating_sub(1).min(31);
                base.saturating_mul(1 << doublings).min(cap)
            }
        }
    }

    /// Returns the wait after the execution of this number, unless the failure asks for another (`asked`). `chance` is
    /// random, from 0 to 1.
    pub(crate) fn wait(self, executions: u32, asked: Option<Duration>, chance: f64) -> Duration {
        if let Some(asked) = asked {
            return asked.min(self.longest());
        }
        match self {
            Backoff::Exponential { .. } => self.ceiling(executions).mul_f64(chance.clamp(0.0, 1.0)),
            _ => self.ceiling(executions),
        }
    }

    /// Returns the longest wait that a failure may ask for under this back-off.
    fn longest(self) -> Duration {
        match self {
            Backoff::None => LONGEST,
            Backoff::Constant(wait) => wait.max(LONGEST),
            Backoff::Exponential { cap, .. } => cap,
        }
    }
}
