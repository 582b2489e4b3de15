//! Stage 3: where the result comes from: a cache, or the tool, when its turn has come.

use super::{Place, call::Event, execute};
use crate::{
    Json,
    cache::{Asked, CacheKey, Served, SharedCache},
    error::Cause,
    panics::patiently,
    tool::{Cache, Effects, Prepared, SharedTool, ToolContext},
};
use std::time::Duration;

/// A limiter that is asked for longer has not given leave.
const PATIENCE: Duration = Duration::from_secs(5);

impl Place<'_> {
    /// Carries out a call whose arguments are accepted.
    pub(super) async fn carry_out(
        &self,
        tool: &SharedTool,
        prepared: Prepared,
        context: &ToolContext,
    ) -> Event {
        let Some((cache, keep_for)) = self.cache_of(tool) else {
            return Event::Executed(self.run(tool, prepared, context).await);
        };
        let key = self.key(tool);
        let cx = &context.cx;
        // On the heap, for it is passed on: calls without a cache are not to be as large.
        let work = Box::pin(self.run(tool, prepared, context));
        match cache.serve(key, keep_for, work, || !cx.is_partial()).await {
            Served::Cached(output) => Event::Cached(output),
            Served::Ran(result) => Event::Executed(result),
        }
    }

    /// Runs the tool when its turn has come, unless it comes too often.
    async fn run(
        &self,
        tool: &SharedTool,
        prepared: Prepared,
        context: &ToolContext,
    ) -> Result<Json, Cause> {
        let _leave = match self.gate {
            Some(gate) => gate.acquire().await.ok(),
            None => None,
        };
        self.leave(tool, context.tenant_id()).await?;
        let knowledge = self.brain.knowledge(&tool.spec().name);
        self.with_call(|call| call.running = true);
        execute::run(tool, knowledge, prepared, context).await
    }

    /// Leave to run the tool once. A limiter that cannot say so has not given it.
    async fn leave(&self, tool: &SharedTool, tenant: &str) -> Result<(), Cause> {
        let Some(limiter) = &self.cx.root.settings.executor.limiter else {
            return Ok(());
        };
        let amiss = match patiently(PATIENCE, limiter.try_acquire(tenant, tool.spec())).await {
            Ok(leave) => {
                return leave.map_err(|wait| {
                    let reason = format!("it was called too often; call it again in {wait:.1?}");
                    Cause::rate_limited(reason, Some(wait))
                });
            }
            Err(amiss) => amiss,
        };
        tracing::warn!(tool = %tool.spec().name, "the limiter {amiss}");
        let reason = format!("the limiter {amiss}, so that the tool may not run");
        Err(Cause::rate_limited(reason, None))
    }

    /// The cache for results of this tool, and for how long they may be reused. What writes has to
    /// happen each time.
    fn cache_of(&self, tool: &SharedTool) -> Option<(&SharedCache, Option<Duration>)> {
        let spec = tool.spec();
        let keep_for = match spec.cache {
            Cache::None => return None,
            Cache::Ttl(time) => Some(time),
            Cache::Forever => None,
        };
        let cache = self.cx.root.settings.executor.caching.cache()?;
        (spec.effects != Effects::Writes).then_some((cache, keep_for))
    }

    fn key(&self, tool: &SharedTool) -> CacheKey {
        let root = &self.cx.root;
        CacheKey::of(&Asked {
            spec: tool.spec(),
            instance: &|state| tool.distinguish(state),
            args: self.with_call(|call| call.input()).as_str(),
            tenant: root.settings.scope.tenant_id(),
            secrets: root.secret_scope(),
        })
    }
}
