//! Stage 3: where the result comes from: a cache, or the tool, when its turn has come.

use super::{Place, execute};
use crate::{
    Json,
    cache::{Asked, CacheKey, Served, SharedCache},
    error::Cause,
    panics::patiently,
    run::{Call, CallFact, Intent},
    tool::{Cache, Effects, Prepared, SharedTool, ToolContext},
};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A limiter that is asked for longer has not given leave.
const PATIENCE: Duration = Duration::from_secs(5);

impl Place<'_> {
    /// Carries out a call whose arguments are accepted.
    pub(super) async fn carry_out(
        &self,
        tool: &SharedTool,
        prepared: Prepared,
        context: &ToolContext,
    ) -> CallFact {
        let Some((cache, keep_for)) = self.cache_of(tool) else {
            return self.ended(self.run(tool, prepared, context).await, context);
        };
        let key = self.key(tool);
        let cx = &context.cx;
        // On the heap, for it is passed on: calls without a cache are not to be as large.
        let work = Box::pin(self.run(tool, prepared, context));
        match cache.serve(key, keep_for, work, || !cx.is_partial()).await {
            Served::Cached(output) => CallFact::Cached(output),
            Served::Ran(result) => self.ended(result, context),
        }
    }

    fn ended(&self, result: Result<Json, Cause>, context: &ToolContext) -> CallFact {
        let partial = result.is_ok() && context.cx.is_partial();
        CallFact::Ended { result, partial }
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
        self.begin(tool, context).await;
        execute::run(tool, knowledge, prepared, context).await
    }

    /// The tool begins to run. The intent to run one that writes is stored before.
    async fn begin(&self, tool: &SharedTool, context: &ToolContext) {
        let settings = &self.cx.root.settings;
        // Whoever has cancelled the run waits for no effect of it.
        if settings.cancel.iter().any(CancellationToken::is_cancelled) {
            return std::future::pending().await;
        }
        let spec = tool.spec();
        let writes = spec.effects == Effects::Writes && !tool.is_part_of_the_run();
        let intent = writes.then(|| {
            Box::new(Intent {
                attempt: context.attempt,
                tool: spec.key(),
                key: context.idempotency_key(),
                digest: self.with_call(Call::input_digest),
                approved_by: self.with_call(Call::approver),
            })
        });
        self.add(CallFact::Begun { intent }).await;
        if writes {
            self.cx.store().await;
        }
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
            args: self.with_call(Call::input).as_str(),
            tenant: root.settings.scope.tenant_id(),
            secrets: root.secret_scope(),
        })
    }
}
