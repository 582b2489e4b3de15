//! Time limits and size limits of a request.

use crate::{TimeLimit, TransportError};
use agents_core::model::Patience;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Limits of one HTTP request: its times, and the size of its response.
///
/// ```
/// use agents_http::Limits;
/// use std::time::Duration;
///
/// let limits = Limits { first: Some(Duration::from_secs(10)), ..Limits::default() };
/// assert_eq!(limits.idle, Duration::from_secs(300));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum time in which no byte arrives; five minutes by default, since a model may have to be loaded.
    pub idle: Duration,
    /// Maximum time until the reply begins: until [`Body::begun`](crate::Body::begun) is called. No limit by default.
    pub first: Option<Duration>,
    /// Maximum time for the whole exchange; no limit by default.
    pub total: Option<Duration>,
    /// Maximum size of the response's body in bytes; 64 MiB by default.
    pub max_body: usize,
}

impl Limits {
    /// Returns these limits, shortened for a caller who waits no longer than this.
    ///
    /// ```
    /// use agents_core::model::Patience;
    /// use agents_http::Limits;
    /// use std::time::Duration;
    ///
    /// let patience = Patience { idle: Some(Duration::from_secs(30)), ..Patience::default() };
    /// assert_eq!(Limits::default().within(patience).idle, Duration::from_secs(30));
    /// ```
    #[must_use]
    pub fn within(self, patience: Patience) -> Limits {
        let Patience { first_token, idle } = patience;
        Limits {
            idle: idle.map_or(self.idle, |idle| idle.min(self.idle)),
            first: self.first.into_iter().chain(first_token).min(),
            ..self
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            idle: Duration::from_secs(300),
            first: None,
            total: None,
            max_body: 64 << 20,
        }
    }
}

/// The time limits of a request that has been started, as points in time.
pub(crate) struct Clock {
    idle: Duration,
    first: Option<Deadline>,
    total: Option<Deadline>,
}

#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    after: Duration,
}

impl Clock {
    pub(crate) fn start(limits: &Limits) -> Clock {
        Clock {
            idle: limits.idle,
            first: limits.first.and_then(deadline),
            total: limits.total.and_then(deadline),
        }
    }

    /// Lifts the time limit for the beginning of the reply, since it has begun.
    pub(crate) fn begun(&mut self) {
        self.first = None;
    }

    /// Bounds the time until the end, whatever arrives until then. A later bound changes nothing.
    pub(crate) fn end_within(&mut self, after: Duration) {
        let end = deadline(after);
        if self
            .total
            .is_none_or(|total| end.is_some_and(|end| end.at < total.at))
        {
            self.total = end.or(self.total);
        }
    }

    /// Waits for `future` until the first of the limits passes, which is then the error.
    pub(crate) async fn within<T>(
        &self,
        future: impl Future<Output = T>,
    ) -> Result<T, TransportError> {
        let (mut wait, mut limit, mut after) = (self.idle, TimeLimit::Idle, self.idle);
        let deadlines = [
            (self.first, TimeLimit::First),
            (self.total, TimeLimit::Total),
        ];
        for (deadline, name) in deadlines {
            if let Some(deadline) = deadline {
                let left = deadline.at.saturating_duration_since(Instant::now());
                if left < wait {
                    (wait, limit, after) = (left, name, deadline.after);
                }
            }
        }
        timeout(wait, future)
            .await
            .map_err(|_| TransportError::TimedOut { limit, after })
    }
}

/// Returns the deadline after this time; `None` if it is too far away to be reached.
fn deadline(after: Duration) -> Option<Deadline> {
    let at = Instant::now().checked_add(after)?;
    Some(Deadline { at, after })
}
