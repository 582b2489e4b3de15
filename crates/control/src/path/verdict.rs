//! Meaning of a failure for the models of the chain.

use agents_core::{
    model::{ModelError, ModelErrorKind},
    recovery::{Backoff, exponential},
};
use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

/// Next step after a model has failed a request: ask it again, ask another, or stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Ask the same model again: it may answer.
    Again,
    /// Ask the next model of the profile: it may answer.
    Next,
    /// Ask no further model: none would answer this request.
    Stop,
}

/// Returns the next step after this failure. `begun` says whether a part of the reply had come, and `is_last` whether
/// there is no other model.
pub(super) fn of(error: &ModelError, begun: bool, is_last: bool) -> Verdict {
    use ModelErrorKind::{
        Filtered, Interrupted, Malformed, NotFound, NotRecorded, Overloaded, Refused, Setup,
        TimedOut, TooLong, Unreachable,
    };
    match error.kind() {
        Filtered | NotRecorded => Verdict::Stop,
        // The same request has the same fate at the same model.
        TooLong | NotFound | Setup => Verdict::Next,
        // A model that is silent would be waited for again, and one that has broken off would begin anew.
        TimedOut | Malformed if !is_last => Verdict::Next,
        Interrupted if begun && !is_last => Verdict::Next,
        Overloaded | TimedOut | Unreachable | Interrupted | Malformed => Verdict::Again,
        Refused => match error.status() {
            Some(408 | 429 | 500..) => Verdict::Again,
            // Another model may have another credential.
            Some(401..=404) => Verdict::Next,
            _ => Verdict::Stop,
        },
        _ => Verdict::Stop,
    }
}

/// Returns `true` if a failure is one of the model or its server, and `false` if it is one of the request. Returns
/// `None` if the client has not sent the request, which says nothing about the model.
pub(super) fn has_failed(error: &ModelError) -> Option<bool> {
    use ModelErrorKind::{Interrupted, Malformed, Overloaded, Setup, TimedOut, Unreachable};
    let of_model = matches!(
        error.kind(),
        Interrupted | Malformed | Overloaded | TimedOut | Unreachable
    ) || matches!(error.status(), Some(429 | 500..));
    let is_unsent = error.kind() == Setup && error.status().is_none();
    (!is_unsent).then_some(of_model)
}

/// Returns how long to wait before the request is sent again; `None` if the server asks for more than a caller waits.
/// `asked` is what the server asks for.
pub(super) fn wait(attempt: u32, asked: Option<Duration>, is_last: bool) -> Option<Duration> {
    /// Longest wait that a server may ask for: the first if there is another model, the second if there is none.
    const LONGEST: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];
    if let Some(asked) = asked {
        return (asked <= LONGEST[usize::from(is_last)]).then_some(asked);
    }
    let chance = RandomState::new().hash_one(()) as f64 / u64::MAX as f64;
    // Half of the wait is certain, so that no model is asked in a tight loop.
    Some(backoff().ceiling(attempt).mul_f64(0.5 + chance / 2.0))
}

fn backoff() -> Backoff {
    exponential()
        .base(Duration::from_millis(500))
        .cap(Duration::from_secs(8))
}

#[cfg(test)]
mod tests {
    use super::{
        ModelErrorKind::{self as Kind, *},
        Verdict::{self, *},
        *,
    };

    fn error(kind: Kind, status: u16) -> ModelError {
        let error = ModelError::new(kind, "no");
        match status {
            0 => error,
            status => error.with_status(status),
        }
    }

    #[test]
    fn verdicts() {
        // Kind, status, begun; with another model, without one.
        let table: &[(Kind, u16, bool, Verdict, Verdict)] = &[
            (Overloaded, 429, false, Again, Again),
            (Overloaded, 503, false, Again, Again),
            (Refused, 500, false, Again, Again),
            (Unreachable, 502, false, Again, Again),
            (Unreachable, 0, false, Again, Again),
            (Interrupted, 0, false, Again, Again),
            (Interrupted, 0, true, Next, Again),
            (Malformed, 0, true, Next, Again),
            (TimedOut, 0, false, Next, Again),
            (TooLong, 400, false, Next, Next),
            (NotFound, 404, false, Next, Next),
            (Refused, 401, false, Next, Next),
            (Setup, 0, false, Next, Next),
            (Refused, 400, false, Stop, Stop),
            (Filtered, 400, false, Stop, Stop),
            (NotRecorded, 0, false, Stop, Stop),
        ];
        for (kind, status, begun, with, without) in table {
            let error = error(*kind, *status);
            assert_eq!(of(&error, *begun, false), *with, "{kind:?} {status}");
            assert_eq!(of(&error, *begun, true), *without, "{kind:?} {status}");
        }
    }

    #[test]
    fn a_wait_is_never_short_and_never_endless() {
        for attempt in 1..40 {
            let wait = wait(attempt, None, true).unwrap();
            assert!((250..=8_000).contains(&wait.as_millis()), "{wait:?}");
        }
        let asked = |secs, is_last| wait(1, Some(Duration::from_secs(secs)), is_last);
        assert_eq!(asked(2, false), Some(Duration::from_secs(2)));
        assert_eq!(asked(30, false), None);
        assert_eq!(asked(30, true), Some(Duration::from_secs(30)));
        assert_eq!(asked(3_600, true), None);
    }
}
