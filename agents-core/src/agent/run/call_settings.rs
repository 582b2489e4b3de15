//! Settings of a run for its calls: the rules under which they are carried out, and the parts that stand between a call
//! and its tool.

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
    /// See [`policy`](crate::policy) for ready-made rules, and for writing your own.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::policy::{confirm_tools, read_only};
    /// # use agents::{Agent, agent::ModelAgent};
    /// # async fn run(agent: ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
    /// // A dry run: whatever the agent may do otherwise, nothing is changed, and mail is seen by a person first.
    /// agent.run("Tidy up the mailbox").policy(read_only()).policy(confirm_tools("mail_*")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn policy(mut self, policy: impl Policy) -> Self {
        self.settings.executor.policies.add(policy);
        self.root()
    }

    /// Sets the prices of the models whose ids match the pattern, per million input tokens and per
    /// million output tokens.
    ///
    /// Of several prices that match, the one that was set first applies, so set prices of single models before the one
    /// of `*`. A price that is negative or not a number is an error as soon as the run starts. The total is in
    /// [`Outcome::cost`], and [`Budget::cost`] bounds it.
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

    /// Sets the cache for results of tools that declare their results reusable. By default, a run has a cache of its
    /// own, and a run within another run shares the cache of that run.
    ///
    /// See [`cache`](crate::cache).
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::cache::{MemoryCache, SharedCache};
    /// # use agents::{Agent, agent::ModelAgent};
    /// # async fn run(agent: ModelAgent<'_, String, String>, questions: Vec<String>) -> Result<(), agents::Error> {
    /// let cache = SharedCache::new(MemoryCache::new().max_bytes(10_000_000));
    /// for question in questions {
    ///     agent.run(question).scope("acme").cache(cache.clone()).await?; // each run knows what those before have fetched
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn cache(mut self, cache: impl Into<SharedCache>) -> Self {
        self.settings.executor.caching = Caching::Given(cache.into());
        self.root()
    }

    /// Turns caching off: no result comes from a cache, whatever the tools declare.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{AgentBuilder, testing::{Script, ScriptedModel}};
    /// use agents::{Agent, Effects, tool::{Cache, FnTool, ToolSpec}};
    /// use std::sync::{Arc, atomic::{AtomicU32, Ordering::Relaxed}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// let executed = Arc::new(AtomicU32::new(0));
    /// let counted = executed.clone();
    /// let spec = ToolSpec::new("rate", "Tells the rate.", Effects::Reads, serde_json::json!({"type": "object"}));
    /// let rate = FnTool::with_spec(spec.cache(Cache::Forever), move |_, _| {
    ///     counted.fetch_add(1, Relaxed);
    ///     async { Ok::<_, std::io::Error>(1.16) }
    /// });
    /// # let twice = || [Script::call("rate", "{}"), Script::call("rate", "{}"), Script::text("1.16")];
    /// # let (model, _) = ScriptedModel::new(twice().into_iter().chain(twice()));
    /// # let clerk = AgentBuilder::<String, String>::new("clerk").tool(rate).model(model).build();
    /// // The model asks for the rate twice.
    /// clerk.run("?").await?;
    /// assert_eq!(executed.load(Relaxed), 1);
    /// clerk.run("?").no_cache().await?;
    /// assert_eq!(executed.load(Relaxed), 1 + 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn no_cache(mut self) -> Self {
        self.settings.executor.caching = Caching::Off;
        self.root()
    }

    /// Sets the rate limiter for tool executions; see [`rate`](crate::rate).
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::rate::{MemoryLimiter, Rate};
    /// use std::sync::Arc;
    /// # use agents::{Agent, agent::ModelAgent};
    /// # async fn run(agent: ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
    /// // One limiter for the whole program: ten searches a minute for each tenant, in however many runs.
    /// let limiter = Arc::new(MemoryLimiter::new().limit("web_*", Rate::per_minute(10)));
    /// agent.run("Look around").scope("acme").rate_limits(limiter.clone()).await?;
    /// agent.run("And again").scope("acme").rate_limits(limiter).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn rate_limits(mut self, limiter: impl RateLimiter) -> Self {
        self.settings.executor.limiter = Some(Arc::new(limiter));
        self.root()
    }

    /// Sets the store for outputs that are too large for a receipt, for the images, files and tables that tools return,
    /// and for the images and files in what an agent is given; see [`blob`](crate::blob).
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::blob::MemoryBlobs;
    /// use std::sync::Arc;
    /// # use agents::{Agent, agent::ModelAgent};
    /// # async fn run(agent: ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
    /// let blobs = Arc::new(MemoryBlobs::new());
    /// let run = agent.run("Dump the log").max_output_bytes(10_000).blobs(blobs.clone());
    /// for receipt in run.outcome().await?.outputs.receipts().filter(|receipt| receipt.truncated) {
    ///     println!("{}: the whole output is at {}", receipt.name, receipt.attachments[0].url);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn blobs(mut self, store: impl BlobStore) -> Self {
        self.settings.executor.blobs = Some(Arc::new(store));
        self.root()
    }

    /// Sets how many calls of one reply run concurrently; 16 by default, and 0 counts as 1. The calls of an agent in
    /// the background are bounded in the same way, by themselves.
    ///
    /// The other calls wait for their turn. A tool that is `sequential` runs alone among the calls of its reply.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, agent::ModelAgent};
    /// # async fn run(agent: ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
    /// // The service behind the tools takes two connections of ours.
    /// agent.run("Fetch all invoices").max_parallel(2).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_parallel(mut self, calls: usize) -> Self {
        self.settings.executor.max_parallel = Some(calls);
        self.root()
    }

    /// Sets the timeout of one execution for tools that declare none; 5 minutes by default.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
    /// use agents::Code;
    /// use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let hang = FnTool::new("ask", "Asks.", Effects::Reads, schema, |_, _| std::future::pending::<Result<(), std::io::Error>>());
    /// # let (model, _) = ScriptedModel::new([Script::call("ask", "{}"), Script::text("no answer")]);
    /// # let agent = AgentBuilder::<String, String>::new("clerk").tool(hang).model(model).build();
    /// // A tool that never comes back; its own `timeout`, if it has one, comes before this.
    /// let outcome = agent.run("Ask them").tool_timeout(Duration::from_millis(20)).outcome().await?;
    /// let receipt = outcome.outputs.receipts().next().unwrap();
    /// assert_eq!(receipt.error.as_ref().unwrap().code, Code::Timeout);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tool_timeout(mut self, timeout: Duration) -> Self {
        self.settings.tool_timeout = timeout;
        self.root()
    }

    /// Sets how many bytes of a tool's output go into its receipt and to the model; 2 MB by default. The rest of a
    /// longer output is cut off. A store of [`blobs`](Run::blobs) keeps the whole output.
    pub fn max_output_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_output_bytes = bytes;
        self.root()
    }

    /// Sets how many bytes the arguments of one call may have; 1 MB by default. A call with longer arguments fails.
    pub fn max_argument_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_argument_bytes = bytes;
        self.root()
    }
}
