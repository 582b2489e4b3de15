//! What can be said of a run's calls: under which rules they are carried out, and what stands between
//! a call and its tool.

use super::{Agent, Run};
use crate::{
    blob::BlobStore,
    cache::{Caching, SharedCache},
    policy::Policy,
    rate::RateLimiter,
    tool::Pattern,
};
use std::{sync::Arc, time::Duration};

impl<A: Agent> Run<'_, A> {
    /// Adds a rule to this run and to the runs within it.
    ///
    /// The strictest of several rules applies; no rule can loosen what another rule, an agent or a
    /// tool requires.
    ///
    /// See [`policy`](crate::policy) for those that are ready, and for writing one.
    pub fn policy(mut self, policy: impl Policy) -> Self {
        self.settings.executor.policies.add(policy);
        self.root()
    }

    /// Sets the prices of the models whose ids match the pattern, per million input tokens and per
    /// million output tokens.
    ///
    /// The first price that matches applies. The total is in [`Outcome::cost`], and
    /// [`Budget::cost`] bounds it.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Budget, run::Cost, testing::{Script, ScriptedModel}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::text("done")]);
    /// # let agent = AgentBuilder::<String, String>::new("a").model(model).build();
    /// let outcome = agent.run("go")
    ///     .price("scripted", 0.15, 0.60)
    ///     .budget(Budget::new().cost(0.05))
    ///     .outcome().await?;
    /// assert!(outcome.cost.unwrap() < Cost::of(0.00001));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`Outcome::cost`]: crate::Outcome::cost
    /// [`Budget::cost`]: crate::Budget::cost
    pub fn price(mut self, models: impl Into<Pattern>, input: f64, output: f64) -> Self {
        let prices = &mut self.settings.executor.prices;
        prices.add(models.into(), input, output);
        self.root()
    }

    /// Sets the cache for results of tools that declare theirs reusable; by default each run has a
    /// cache of its own.
    ///
    /// See [`cache`](crate::cache).
    pub fn cache(mut self, cache: impl Into<SharedCache>) -> Self {
        self.settings.executor.caching = Caching::Given(cache.into());
        self.root()
    }

    /// Turns caching off: every call is executed, whatever its tool declares.
    pub fn no_cache(mut self) -> Self {
        self.settings.executor.caching = Caching::Off;
        self.root()
    }

    /// Sets the rate limiter for tool executions; see [`rate`](crate::rate).
    pub fn rate_limits(mut self, limiter: impl RateLimiter) -> Self {
        self.settings.executor.limiter = Some(Arc::new(limiter));
        self.root()
    }

    /// Sets the store for outputs that are too large for a receipt; see [`blob`](crate::blob).
    pub fn blobs(mut self, store: impl BlobStore) -> Self {
        self.settings.executor.blobs = Some(Arc::new(store));
        self.root()
    }

    /// Sets how many calls of one reply run concurrently; 16 by default.
    ///
    /// The others wait their turn, in the model's order. A tool that is `sequential` runs alone.
    pub fn max_parallel(mut self, calls: usize) -> Self {
        self.settings.executor.max_parallel = Some(calls);
        self.root()
    }

    /// Sets the timeout of one execution for tools that declare none; 5 minutes by default.
    pub fn tool_timeout(mut self, timeout: Duration) -> Self {
        self.settings.tool_timeout = timeout;
        self.root()
    }

    /// Sets how many bytes of a tool's output go into its receipt and to the model; 2 MB by
    /// default.
    pub fn max_output_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_output_bytes = bytes;
        self.root()
    }

    /// Sets how many bytes the arguments of one call may have; 1 MB by default.
    pub fn max_argument_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_argument_bytes = bytes;
        self.root()
    }
}
