//! How the calls of a run are carried out: under which rules, and what stands between a call and its
//! tool.

use crate::{blob::BlobStore, budget::Prices, cache::Caching, policy::Policies, rate::RateLimiter};
use std::sync::Arc;

/// What was said about it.
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
    /// How many calls of one reply run at once.
    pub(crate) fn max_parallel(&self) -> usize {
        self.max_parallel.unwrap_or(16).max(1)
    }

    /// A run within another one is under the same rules, and takes over what it says nothing about.
    pub(crate) fn inherit(&mut self, outer: &Executor) {
        self.policies.inherit(&outer.policies);
        self.prices.inherit(&outer.prices);
        self.caching.inherit(&outer.caching);
        self.limiter = self.limiter.take().or_else(|| outer.limiter.clone());
        self.blobs = self.blobs.take().or_else(|| outer.blobs.clone());
        self.max_parallel = self.max_parallel.or(outer.max_parallel);
    }
}
