//! Stage 3: where the result comes from: a cache, or the tool, when its turn has come.

use super::{Place, execute};
use crate::{
    Json,
    cache::{Asked, CacheKey, Served, SharedCache, instance_of},
    error::Cause,
    run::CallEvent,
    tool::{Cache, Effects, Prepared, SharedTool, ToolContext},
};
use std::time::Duration;

impl Place<'_> {
    /// Carries out a call whose arguments are accepted.
    pub(super) async fn carry_out(
        &self,
        tool: &SharedTool,
        prepared: Prepared,
        context: &mut ToolContext,
    ) -> CallEvent {
        let Some((cache, keep_for)) = self.cache_of(tool) else {
            return CallEvent::Executed(self.run(tool, prepared, context).await);
        };
        let key = self.key(tool);
        let cx = context.cx.clone();
        let work = self.run(tool, prepared, context);
        match cache.serve(key, keep_for, work, || !cx.is_partial()).await {
            Served::Cached(output) => CallEvent::Cached(output),
            Served::Ran(result) => CallEvent::Executed(result),
        }
    }

    /// Runs the tool when its turn has come, unless it comes too often.
    async fn run(
        &self,
        tool: &SharedTool,
        prepared: Prepared,
        context: &mut ToolContext,
    ) -> Result<Json, Cause> {
        let _leave = match self.gate {
            Some(gate) => gate.acquire().await.ok(),
            None => None,
        };
        if let Some(limiter) = &self.cx.root.settings.executor.limiter
            && let Err(wait) = limiter.take(context.tenant_id(), tool.spec()).await
        {
            return Err(Cause::too_often(wait));
        }
        let knowledge = self.brain.knowledge(&tool.spec().name);
        execute::run(tool, knowledge, prepared, context).await
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
        let settings = &self.cx.root.settings;
        CacheKey::of(&Asked {
            spec: tool.spec(),
            instance: &instance_of(&**tool),
            args: self.with_call(|call| call.input()).as_str(),
            tenant: settings.scope.tenant_id(),
            secrets: &settings.secret_scope(),
        })
    }
}
