//! Degradation: a run whose answers for one purpose do not fit goes on with the models of a better one.

use crate::Degradation;
use agents_core::PurposeKey;
use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Maximum number of runs, each for one purpose, whose failures are remembered. If there are more, the run that failed
/// longest ago is forgotten, and a degraded one only if there is no other.
const MOST: usize = 10_000;

/// Count of answers that did not fit, for the runs of this process. A run with too many goes on with a better purpose.
/// Another process that goes on with a run begins at zero.
#[derive(Debug, Default)]
pub(crate) struct Failures(Mutex<HashMap<(String, PurposeKey), Run>>);

#[derive(Debug, Default)]
struct Run {
    /// Times of the failures in a row so far, the oldest first.
    failed: VecDeque<Instant>,
    is_degraded: bool,
}

impl Failures {
    /// Counts whether an answer fits. An answer that fits ends a row of failures. If no row of failures has made the
    /// run use a better purpose, the run is forgotten.
    pub(crate) fn judge(&self, run: &str, purpose: &PurposeKey, fits: bool) {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (run.to_owned(), purpose.clone());
        if fits {
            match runs.get_mut(&key) {
                Some(run) if run.is_degraded => run.failed.clear(),
                Some(_) => drop(runs.remove(&key)),
                None => {}
            }
            return;
        }
        if runs.len() >= MOST && !runs.contains_key(&key) {
            let last = |run: &Run| (run.is_degraded, run.failed.back().copied());
            let oldest = runs.iter().min_by_key(|(_, run)| last(run));
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                runs.remove(&oldest);
            }
        }
        runs.entry(key)
            .or_default()
            .failed
            .push_back(Instant::now());
    }

    /// Returns `true` if the run goes on with the models of the better purpose.
    pub(crate) fn is_degraded(
        &self,
        run: &str,
        purpose: &PurposeKey,
        policy: &Degradation,
    ) -> bool {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(run) = runs.get_mut(&(run.to_owned(), purpose.clone())) else {
            return false;
        };
        let window = Duration::from_millis(policy.within_ms);
        while run.failed.front().is_some_and(|at| at.elapsed() > window) {
            run.failed.pop_front();
        }
        let failures = usize::try_from(policy.failures).unwrap_or(usize::MAX);
        run.is_degraded |= run.failed.len() >= failures;
        run.is_degraded
    }
}

#[cfg(test)]
mod tests {
    use super::{Degradation, Failures, MOST};
    use agents_core::PurposeKey::{Reasoning, Scoring};

    #[test]
    fn a_degraded_run_is_not_forgotten_for_others_that_fail() {
        let policy = Degradation {
            failures: 1,
            within_ms: 3_600_000,
            upgrade_to: Reasoning,
        };
        let failures = Failures::default();
        failures.judge("upgraded", &Scoring, false);
        assert!(failures.is_degraded("upgraded", &Scoring, &policy));
        failures.judge("upgraded", &Scoring, true);
        for run in 0..MOST + 3 {
            failures.judge(&run.to_string(), &Scoring, false);
        }
        assert!(failures.is_degraded("upgraded", &Scoring, &policy));
        let runs = || failures.0.lock().unwrap().len();
        assert_eq!(runs(), MOST);
        // The first ones are forgotten.
        assert!(!failures.is_degraded("0", &Scoring, &policy));
        let last = (MOST + 2).to_string();
        assert!(failures.is_degraded(&last, &Scoring, &policy));
    }

    #[test]
    fn a_run_whose_answers_fit_takes_no_room() {
        let failures = Failures::default();
        for fits in [true, false, true] {
            failures.judge("run", &Scoring, fits);
        }
        assert_eq!(failures.0.lock().unwrap().len(), 0);
    }
}
