//! Rules under which the calls of a run are carried out, and the parts that stand between a call and its tool.

use crate::{blob::BlobStore, budget::Prices, cache::Caching, policy::Policies, rate::RateLimiter};
use std::sync::Arc;

/// Settings of a run that concern its calls: policies, prices, cache, limiter, blob store.
#[derive(Default)]
pub(crate) struct Executor {
    pub(crate) policies: Policies,
    pub(crate) prices: Prices,
    pub(crate) caching: Caching,
    pub(crate) limiter: Option<Arc<dyn RateLimiter>>,
    pub(crate) blobs: Option<Arc<dyn BlobStore>>,
    pub(crate) max_parallel: Option<usize>,
}

impl Executor {
    /// Returns the number of calls of one reply that may run side by side, and also of an agent's calls in the
    /// background: 16 unless set, and at least 1.
    pub(crate) fn max_parallel(&self) -> usize {
        self.max_parallel.unwrap_or(16).max(1)
    }

    /// Takes settings over from the outer run, for a run within it. The outer run's policies apply as well, and
    /// settings that are missing here are copied.
    pub(crate) fn inherit(&mut self, outer: &Executor) {
        self.policies.inherit(&outer.policies);
        self.prices.inherit(&outer.prices);
        self.caching.inherit(&outer.caching);
        self.limiter = self.limiter.take().or_else(|| outer.limiter.clone());
        self.blobs = self.blobs.take().or_else(|| outer.blobs.clone());
        self.max_parallel = self.max_parallel.or(outer.max_parallel);
    }
}
