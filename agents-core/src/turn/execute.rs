//! Stage 4: the tool runs, within its deadline, and whatever it does the run lives.

use crate::{
    Json,
    brain::Knowledge,
    error::Cause,
    observe::spans,
    panics::{guarded, guarded_while},
    run::{EventKind, Interrupted, Stopwatch},
    tool::{Effects, InDoubt, Prepared, SharedTool, ToolContext, ToolSpec},
};
use std::sync::Arc;
use tracing::Instrument;

/// Runs the tool once. What the agent knows is no work of a tool: it is given its text.
pub(super) async fn run(
    tool: &SharedTool,
    knowledge: Option<&Knowledge<'_>>,
    prepared: Prepared,
    context: &ToolContext,
) -> Result<Json, Cause> {
    let cx = &context.cx;
    let allowed = tool.spec().timeout.unwrap_or(cx.root.settings.tool_timeout);
    let watch = Stopwatch::start(allowed, cx.watch().cloned());
    let span = spans::attempt(context, tool.spec());
    // Whoever is run by way of the context is within the deadline and the trace as well.
    let context = &ToolContext {
        cx: cx.executing(&watch, &span),
        call_id: context.call_id.clone(),
        key: context.key.clone(),
        tool: context.tool.clone(),
        attempt: context.attempt,
        approved: context.approved,
        watch: Some(watch.clone()),
        execution: Arc::default(),
    };
    let _ends = context.execution.ends_with_scope();
    cx.emit(|| EventKind::AttemptStarted {
        call_id: context.call_id.clone(),
        tool: context.tool.to_string(),
        attempt: context.attempt,
    });
    let work = async {
        // Caught inside the deadline: a body that unwinds is as finished as one that returns.
        let inside = context.cx.clone();
        let body = async {
            match knowledge {
                Some(knowledge) => Ok(knowledge.text()),
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
    let result = hidden(result.map_err(|cause| of_tool(tool.spec(), cause)), context);
    open.ended();
    spans::executed(&span, context, &result);
    result
}

/// Finds out what an interrupted execution of the tool has done.
pub(super) async fn find_out(tool: &SharedTool, args: &Json, context: &ToolContext) -> Interrupted {
    let unknown = || {
        let cause = Cause::interrupted("the process ended while it ran");
        Interrupted::Unknown(of_tool(tool.spec(), cause))
    };
    let Ok(Ok(prepared)) = guarded(|| tool.prepare(args.as_str())) else {
        return unknown();
    };
    let asked = context.cx.clone().enter(tool.in_doubt(prepared, context));
    let allowed = tool
        .spec()
        .timeout
        .unwrap_or(context.cx.root.settings.tool_timeout);
    let name = &tool.spec().name;
    match tokio::time::timeout(allowed, guarded_while(asked)).await {
        Ok(Ok(InDoubt::Done(output))) => Interrupted::Done(context.masker().json(&output)),
        Ok(Ok(InDoubt::NotDone)) => Interrupted::NotDone,
        Ok(Ok(InDoubt::Unknown)) => unknown(),
        Ok(Err(panic)) => {
            tracing::warn!(tool = %name, %panic, "`in_doubt` panicked");
            unknown()
        }
        Err(_) => {
            tracing::warn!(tool = %name, "`in_doubt` took too long");
            unknown()
        }
    }
}

/// A failure of this tool: it may have taken effect, if the tool writes.
fn of_tool(spec: &ToolSpec, cause: Cause) -> Cause {
    match spec.effects {
        Effects::Writes => cause.of_a_write(spec.is_repeatable()),
        Effects::None | Effects::Reads => cause,
    }
}

/// What a tool has given back, as everybody else may know it: without secrets, and with the code that
/// says so if it is one that it lacked.
fn hidden(result: Result<Json, Cause>, context: &ToolContext) -> Result<Json, Cause> {
    let masker = context.masker();
    let masked = |cause: Cause| cause.mapped(|text| masker.text(text));
    match (result, context.execution.lacked()) {
        (Ok(output), _) => Ok(masker.json(&output)),
        (Err(cause), Some(code)) => Err(masked(cause).coded(code)),
        (Err(cause), None) => Err(masked(cause)),
    }
}
