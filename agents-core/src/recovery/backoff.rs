use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long to wait before the same call runs again.
///
/// A failure that says itself when to come back ([`retry_after`](crate::ToolFailure::retry_after)) is
/// waited for so long instead, but never longer than the cap of an exponential back-off; where there
/// is no cap, never longer than a minute or the constant wait. Waiting counts against the time of the run.
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
    /// Not at all.
    None,
    /// Always the same.
    Constant(Duration),
    /// Twice as long each time, up to a cap; the wait is a random part of that ("full jitter").
    Exponential {
        /// The longest first wait.
        base: Duration,
        /// The longest wait of all.
        cap: Duration,
    },
}

/// The longest wait where nothing else is said.
const LONGEST: Duration = Duration::from_secs(60);

/// Doubles from 100 ms up to a minute, with full jitter.
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

/// Always waits this long.
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

/// Does not wait.
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
    /// Sets the longest first wait of an exponential back-off.
    #[must_use]
    pub fn base(self, base: Duration) -> Backoff {
        match self {
            Backoff::Exponential { cap, .. } => Backoff::Exponential { base, cap },
            other => other,
        }
    }

    /// Sets the longest wait of an exponential back-off.
    #[must_use]
    pub fn cap(self, cap: Duration) -> Backoff {
        match self {
            Backoff::Exponential { base, .. } => Backoff::Exponential { base, cap },
            other => other,
        }
    }

    /// The longest wait after the execution of this number, from 1.
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

    /// The wait after the execution of this number, unless the failure asks for another; `chance` is
    /// from 0 to 1.
    pub(crate) fn wait(self, executions: u32, asked: Option<Duration>, chance: f64) -> Duration {
        if let Some(asked) = asked {
            return asked.min(self.longest());
        }
        match self {
            Backoff::Exponential { .. } => self.ceiling(executions).mul_f64(chance.clamp(0.0, 1.0)),
            _ => self.ceiling(executions),
        }
    }

    /// The longest that anybody waits.
    fn longest(self) -> Duration {
        match self {
            Backoff::None => LONGEST,
            Backoff::Constant(wait) => wait.max(LONGEST),
            Backoff::Exponential { cap, .. } => cap,
        }
    }
}
