//! The loop: look what comes next, do it, tell the frame what happened.

use super::{Cx, Limit, Next, Stopwatch, Told};
use crate::{
    Error, ErrorKind,
    agent::{Answer, Brain},
    escalation::given,
    turn::{self, answer::Settled},
};
use serde_json::Value;
use tracing::{Instrument, field};

/// Drives a model-driven agent from its task to its answer.
pub(crate) async fn drive<O>(
    brain: &Brain<'_>,
    answer: &Answer<O>,
    cx: &Cx,
    task: String,
) -> Result<O, Error> {
    let placed = cx.place().map(|place| brain.placed(place));
    let brain = placed.as_ref().unwrap_or(brain);
    let repairing = cx.repair().map(|scope| brain.with_tools(scope.tools()));
    let brain = repairing.as_ref().unwrap_or(brain);
    let bounded = cx
        .root
        .settings
        .budget
        .as_ref()
        .map(|run| brain.within(run));
    let brain = bounded.as_ref().unwrap_or(brain);
    brain
        .tools
        .check()
        .map_err(|defect| Error::new(ErrorKind::Build, defect))?;
    cx.node.bound(&brain.budget);
    if let Some(passed) = cx.node.too_deep() {
        match cx.exceed(passed).await {}
    }
    // Agents that run in this one's tools are driven by the same model unless they bring their own.
    let cx = &match &brain.model {
        Some(model) => cx.with_model(model.clone()),
        None => cx.clone(),
    };
    let time = brain.budget.time;
    let watch = time.map(|time| Stopwatch::start(time, cx.watch().cloned()));
    let cx = &cx.timed(watch.as_ref());
    cx.node
        .with_frame(|frame| frame.begin(|| cx.said(), || system(brain, answer.schema()), task));
    if cx.node.with_frame(|frame| frame.given.is_some()) {
        Box::pin(given(cx)).await?;
    }
    let span = tracing::info_span!(
        "invoke_agent",
        otel.name = %format_args!("invoke_agent {}", brain.name),
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = %brain.name,
        gen_ai.conversation.id = cx.run_id(),
        error.type = field::Empty,
    );
    // On the heap, and so are its parts: agents that run each other would fill the stack.
    let work = Box::pin(
        async {
            loop {
                match cx.node.with_frame(|frame| frame.next(&brain.budget)) {
                    Next::Chat { turn, must_fit } => {
                        let reply =
                            turn::reply::ask(brain, cx, turn, answer.schema(), must_fit).await?;
                        let longest = cx.root.settings.max_argument_bytes;
                        cx.node
                            .with_frame(|frame| frame.on(Told::Replied(reply, longest)));
                        cx.root.checkpoint();
                    }
                    Next::Calls => turn::calls(brain, cx).await,
                    Next::Answer => {
                        match Box::pin(turn::answer::settle(brain, answer, cx)).await? {
                            Settled::Value(value) => return Ok(value),
                            Settled::Refused(reason) => {
                                cx.node.with_frame(|frame| frame.on(Told::Refused(reason)))
                            }
                        }
                    }
                    Next::Stop(limit) => match cx.exceed(cx.node.passed(limit)).await {},
                    Next::GiveUp(reason) => return Err(unusable(brain, &reason)),
                }
            }
        }
        .instrument(span.clone()),
    );
    let result = tokio::select! {
        biased;
        result = work => result,
        () = Stopwatch::over(watch.as_deref()) => {
            let limit = Limit::Time(time.unwrap_or_default());
            match cx.exceed(cx.node.passed(limit)).await {}
        }
    };
    if let Err(error) = &result {
        span.record("error.type", field::display(error.kind()));
    }
    result
}

/// The agent's prompt, and the shape of its answer when it is not plain text.
fn system(brain: &Brain<'_>, schema: Option<&Value>) -> String {
    match schema {
        None => brain.prompt.to_string(),
        Some(schema) => {
            let gap = if brain.prompt.is_empty() { "" } else { "\n\n" };
            format!(
                "{}{gap}When you are done, answer with nothing but JSON that follows this schema:\n{schema}",
                brain.prompt
            )
        }
    }
}

fn unusable(brain: &Brain<'_>, reason: &str) -> Error {
    let turns = brain.budget.turns();
    Error::new(
        ErrorKind::InvalidOutput,
        format!("the answer does not fit: {reason} ({turns} turns are used up; allow more with `max_turns`)"),
    )
    .context(format!("agent `{}`", brain.name))
}
