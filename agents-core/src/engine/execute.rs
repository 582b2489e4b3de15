//! An execution: its result comes from a cache, or the tool runs when its turn has come, within its deadline. Whatever
//! the tool does, the run lives.

use super::{call_site::CallSite, wording};
use crate::{
    Json,
    cache::{CacheKey, CacheQuery, Served, SharedCache},
    context::{Activity, Stopwatch},
    definition::Knowledge,
    error::Cause,
    evidence,
    journal::{Call, CallFact, Fact, Intent, Interrupted},
    observe::spans,
    panics::{guarded, guarded_while, patiently},
    shared::Shared,
    tool::{Cache, Effects, InDoubt, Prepared, SharedTool, ToolContext, ToolSpec},
};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// Time within which a rate limiter has to answer; otherwise the tool may not run.
const PATIENCE: Duration = Duration::from_secs(5);

impl CallSite<'_> {
    /// Carries out a call whose arguments are accepted: by the cache, or by running the tool.
    pub(super) async fn carry_out(
        &self,
        tool: &SharedTool,
        prepared: Prepared,
        context: &ToolContext,
    ) -> CallFact {
        let Some((cache, keep_for)) = self.cache_of(tool) else {
            let result = self.run(tool, prepared, context).await;
            return self.ended(result, context).await;
        };
        let key = self.key(tool);
        // Attachments are no part of the output, so a cache would lose them.
        let may_keep = || !context.cx.is_partial() && !context.execution.has_collected();
        // On the heap, for it is passed on: calls without a cache are not to be as large.
        let work = Box::pin(async {
            // Whoever is served from it later may not have the secret.
            let result = self.run(tool, prepared, context).await;
            result.map(|output| context.masker().json(&output))
        });
        match cache.serve(key, keep_for, work, may_keep).await {
            Served::Cached(output) => CallFact::Cached(output),
            Served::Ran(result) => self.ended(result, context).await,
        }
    }

    async fn ended(&self, result: Result<Json, Cause>, context: &ToolContext) -> CallFact {
        if result.is_ok() && context.execution.has_collected() {
            Box::pin(self.attach(context)).await;
        }
        let partial = result.is_ok() && context.cx.is_partial();
        CallFact::Ended { result, partial }
    }

    /// Runs the tool once, as soon as its turn has come and the rate limiter permits it.
    async fn run(
        &self,
        tool: &SharedTool,
        prepared: Prepared,
        context: &ToolContext,
    ) -> Result<Json, Cause> {
        let activity = self.cx.root.settings.activity.as_ref();
        let _working = activity.map(Activity::work);
        let _leave = match self.gate {
            Some(gate) => gate.acquire().await.ok(),
            None => None,
        };
        self.leave(tool, context.tenant_id()).await?;
        let knowledge = self.definition.knowledge(&tool.spec().name);
        self.begin(tool, context).await;
        run(tool, knowledge, prepared, context).await
    }

    /// Records that the tool begins to run. For a tool that writes, this returns when the intent is stored.
    pub(super) async fn begin(&self, tool: &SharedTool, context: &ToolContext) {
        let settings = &self.cx.root.settings;
        // Whoever has cancelled the run waits for no effect of it.
        if settings.cancel.iter().any(CancellationToken::is_cancelled) {
            return std::future::pending().await;
        }
        let spec = tool.spec();
        if has_effect(tool, context) {
            self.cx.until_put_down().await;
        }
        let writes = writes(tool);
        let intent = writes.then(|| {
            Box::new(Intent {
                attempt: context.attempt,
                tool: spec.key(),
                key: context.idempotency_key(),
                digest: self.with_call(|call| call.input_digest(self.cx.root.key())),
                approved_by: self.with_call(Call::approver),
            })
        });
        self.add(CallFact::Begun { intent }).await;
        if writes {
            let mut not_started = NotStarted(Some(self));
            self.cx.store().await;
            not_started.0 = None;
        }
    }

    /// Asks the rate limiter for permission to run the tool once. If the limiter fails or does not answer in time, the
    /// tool may not run.
    async fn leave(&self, tool: &SharedTool, tenant: &str) -> Result<(), Cause> {
        let Some(limiter) = &self.cx.root.settings.executor.limiter else {
            return Ok(());
        };
        let amiss = match patiently(PATIENCE, limiter.try_acquire(tenant, tool.spec())).await {
            Ok(leave) => {
                return leave.map_err(|wait| {
                    let reason = wording::called_too_often(wait);
                    Cause::rate_limited(reason, Some(wait))
                });
            }
            Err(amiss) => amiss,
        };
        tracing::warn!(tool = %tool.spec().name, "the limiter {amiss}");
        let reason = wording::limiter_amiss(&amiss);
        Err(Cause::rate_limited(reason, None))
    }

    /// Returns the cache for results of this tool, and the time for which they may be reused (`None` without a bound).
    /// Returns `None` if the tool or the run has no cache. A tool that writes has none, since its effect has to happen
    /// each time.
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
        CacheKey::of(&CacheQuery {
            spec: tool.spec(),
            instance: &|state| tool.hash_instance(state),
            args: self.with_call(Call::input).as_str(),
            tenant: root.settings.scope.tenant_id(),
            secrets: root.secret_scope(),
        })
    }
}

/// Guard while the intent to run a tool is being stored: if the call is dropped meanwhile, the tool was not started.
struct NotStarted<'a>(Option<&'a CallSite<'a>>);

impl Drop for NotStarted<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            let (seq, fact) = (place.seq, CallFact::Withdrawn);
            place.cx.node.add(Fact::Call { seq, fact });
        }
    }
}

/// Returns `true` if an execution has to end before the run is put down: the tool writes and is no delegate, or a person
/// has approved the call. A delegate is a part of the run, and stops between two of its own calls.
fn has_effect(tool: &SharedTool, context: &ToolContext) -> bool {
    writes(tool) || context.approved
}

/// Returns `true` if the tool itself writes. A delegate does not, whatever its tools do.
fn writes(tool: &SharedTool) -> bool {
    tool.spec().effects == Effects::Writes && !tool.is_part_of_the_run()
}

/// Runs the tool once. For knowledge of the agent, returns its text instead.
async fn run(
    tool: &SharedTool,
    knowledge: Option<&Knowledge<'_>>,
    prepared: Prepared,
    context: &ToolContext,
) -> Result<Json, Cause> {
    let cx = &context.cx;
    let allowed = tool.spec().timeout.unwrap_or(cx.root.settings.tool_timeout);
    // Work that may be repeated does not keep a run from being put down while it waits for a person.
    let rests = tool.is_part_of_the_run() || tool.spec().is_repeatable();
    let rests_in = cx.root.settings.activity.clone().filter(|_| rests);
    let has_effect = has_effect(tool, context);
    let watch = Stopwatch::of_execution(allowed, cx.watch().cloned(), rests_in, has_effect);
    let span = spans::attempt(context, tool.spec());
    let call = context;
    // Whoever is run by way of the context is within the deadline and the trace as well.
    let context = &ToolContext {
        cx: cx.executing(&watch, &span),
        call_id: context.call_id.clone(),
        key: context.key.clone(),
        tool: context.tool.clone(),
        attempt: context.attempt,
        approved: context.approved,
        answer: context.answer.clone(),
        watch: Some(watch.clone()),
        execution: Shared::default(),
    };
    let _ends = context.execution.ends_with_scope();
    let work = async {
        // Caught inside the deadline: a body that unwinds is as finished as one that returns.
        let inside = context.cx.clone();
        let body = async {
            match knowledge {
                Some(knowledge) => Ok(knowledge.told(&prepared)),
                None => tool.execute(prepared, context).await,
            }
        };
        let body = guarded_while(inside.enter(body));
        tokio::select! {
            biased;
            result = body => match result {
                Ok(result) => result,
                Err(panic) => Err(Cause::panicked(panic)),
            },
            () = watch.expired() => Err(Cause::timed_out(allowed)),
        }
    };
    let open = spans::Open::of(&span);
    let result = work.instrument(span.clone()).await;
    let result = kept(result.map_err(|cause| of_tool(tool.spec(), cause)), context);
    open.ended();
    let collected = context.execution.take_collected();
    if result.is_ok() {
        call.execution.collect(collected);
    }
    spans::executed(&span, context, &result);
    result
}

/// Asks the tool what effect an execution had that was interrupted by the end of its process.
pub(super) async fn find_out(tool: &SharedTool, args: &Json, context: &ToolContext) -> Interrupted {
    let prepare = || evidence::stored(|| tool.prepare(args.as_str()));
    let Ok(Ok(prepared)) = guarded(prepare) else {
        return unknown(tool);
    };
    let activity = context.cx.root.settings.activity.as_ref();
    let _working = activity.map(Activity::work);
    let asked = context.cx.clone().enter(tool.in_doubt(prepared, context));
    let allowed = tool
        .spec()
        .timeout
        .unwrap_or(context.cx.root.settings.tool_timeout);
    let name = &tool.spec().name;
    match tokio::time::timeout(allowed, guarded_while(asked)).await {
        Ok(Ok(InDoubt::Done(output))) => Interrupted::Done(context.masker().kept(&output)),
        Ok(Ok(InDoubt::NotDone)) => Interrupted::NotDone,
        Ok(Ok(InDoubt::Unknown)) => unknown(tool),
        Ok(Err(panic)) => {
            tracing::warn!(tool = %name, %panic, "`in_doubt` panicked");
            unknown(tool)
        }
        Err(_) => {
            tracing::warn!(tool = %name, "`in_doubt` took too long");
            unknown(tool)
        }
    }
}

/// Returns the finding that the effect of an interrupted execution stays unknown.
pub(super) fn unknown(tool: &SharedTool) -> Interrupted {
    let cause = Cause::interrupted(wording::PROCESS_ENDED);
    Interrupted::Unknown(of_tool(tool.spec(), cause))
}

/// Marks the failure of an execution if the tool writes: it may have taken effect nevertheless.
fn of_tool(spec: &ToolSpec, cause: Cause) -> Cause {
    match spec.effects {
        Effects::Writes => cause.of_a_write(spec.is_repeatable()),
        Effects::None | Effects::Reads => cause,
    }
}

/// Returns the result of a tool in the form in which a fact holds it. An output is exact; once it is stored, references
/// stand for its secrets. A failure has no secrets. If the tool lacked a secret, the failure has the code that says so.
fn kept(result: Result<Json, Cause>, context: &ToolContext) -> Result<Json, Cause> {
    let masker = context.masker();
    let masked = |cause: Cause| cause.mapped(|text| masker.text(text));
    match (result, context.execution.lacked()) {
        (Ok(output), _) => Ok(masker.kept(&output)),
        (Err(cause), Some(code)) => Err(masked(cause).coded(code)),
        (Err(cause), None) => Err(masked(cause)),
    }
}
