//! Driving of a run: the agent is polled until it answers, or until something ends the run.

use super::Agent;
use crate::agent::wording;
use crate::{
    Error, ErrorKind, Json,
    context::{Ending, Root, RunContext, Stopwatch},
    deep::Deep,
    engine,
    journal::{Fact, Finished},
    panics,
    run::{AgentOutputs, Limit, Outcome, Stop},
    shared::Shared,
};
use futures_util::future::select_all;
use serde::de::DeserializeOwned;
use std::pin::pin;
use tokio_util::sync::CancellationToken;

/// Polls the agent until the agent answers or fails, or until the run is stopped, for instance by a budget, a
/// cancellation token or a `throw`. Then the unfinished work is dropped.
pub(super) async fn steer<A: Agent>(
    agent: &A,
    input: A::In,
    root: &Shared<Root>,
) -> Outcome<A::Out> {
    let budget = root.settings.budget.as_ref();
    let limit = budget.and_then(|budget| budget.time);
    let watch = limit.map(|time| {
        let left = root.node.left_of(time);
        Stopwatch::start(left, root.settings.watch.clone())
    });
    let cx = RunContext::root(root.clone()).timed(watch.as_ref());
    let _over = root.over.clone().drop_guard();
    if let Some(budget) = budget {
        root.node.bound_run(budget);
    }
    // The run was being ended when it was put down.
    let is_ending = root.stopped().is_some();
    let result = {
        let work = async {
            cx.shorten_conversation().await?;
            agent.work(&cx, input).await
        };
        let work = pin!(cx.carry_out(agent.name(), work));
        tokio::select! {
            biased;
            () = std::future::ready(()), if is_ending => None,
            () = cancelled(&root.settings.cancel) => {
                root.request_stop(Stop::Cancelled);
                None
            }
            () = root.notify.notified() => None,
            result = work => Some(result),
            () = Stopwatch::over(watch.as_deref()) => {
                let limit = Limit::Time(limit.unwrap_or_default());
                root.request_stop(Stop::Budget { agent: agent.name().into(), limit });
                None
            }
        }
    };
    // An answer that came at the same moment as a stop came too late.
    let result = result.filter(|_| root.stopped().is_none());
    let thrown = match &result {
        Some(Err(error)) => {
            (error.kind() == ErrorKind::Thrown).then(|| Stop::thrown(agent.name(), error))
        }
        _ => None,
    };
    let is_stopped = result.is_none() || thrown.is_some();
    thrown.into_iter().for_each(|stop| root.request_stop(stop));
    let stop = root.stopped();
    engine::climb::raise_no_more(root);
    engine::receipt::close_all(&root.node, root, &Ending::Run);
    let result = match (result, &stop) {
        (Some(result), _) => result,
        (None, Some(stop)) => Err(stop.error()),
        (None, None) => Err(Stop::Cancelled.error()),
    };
    let answer = result
        .as_ref()
        .ok()
        .and_then(|output| Json::of(output).ok());
    root.node.add(Fact::Finished(match (&result, &answer) {
        _ if is_stopped => Finished::Stopped,
        (Err(error), _) => Finished::Failed {
            kind: error.kind(),
            message: format!("{error:#}"),
        },
        (Ok(_), answer) => Finished::Answer(answer.clone().unwrap_or_else(Json::null)),
    }));
    let masker = &root.settings.masker;
    let machine = root.node.machine();
    machine.look(|state| Outcome::of(state, &root.run_id, masker, result, answer))
}

/// Returns the outcome that the journal has of a run that was over; `None` if the run goes on.
pub(super) fn stored_outcome<O: DeserializeOwned>(root: &Shared<Root>) -> Option<Outcome<O>> {
    let masker = &root.settings.masker;
    let machine = root.node.machine();
    let outcome = machine.look(|state| Outcome::stored(state, &root.run_id, masker))?;
    // The run is not traced now, but the trace has its name.
    root.place_in_trace(&tracing::Span::none());
    Some(Outcome {
        trace: root.trace(),
        outputs: AgentOutputs {
            traces_url: root.traces_url(),
            ..outcome.outputs
        },
        ..outcome
    })
}

/// Waits until one of the run's cancellation tokens is cancelled.
async fn cancelled(tokens: &[CancellationToken]) {
    match tokens {
        [] => std::future::pending().await,
        [token] => token.cancelled().await,
        several => {
            select_all(several.iter().map(|token| Box::pin(token.cancelled()))).await;
        }
    }
}

impl RunContext {
    /// Carries out the work of an agent at this place. A panic in the work is an error of the agent. When the run is
    /// over, work that was spawned in it ends with an error as well.
    pub(crate) async fn carry_out<T>(
        &self,
        agent: &str,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let work = Deep::of(panics::of_agent(agent, self.clone().enter(work)));
        tokio::select! {
            biased;
            () = self.root.over.cancelled() => {
                let message = wording::run_over(agent);
                Err(Error::new(ErrorKind::Cancelled, message))
            }
            result = work => result,
        }
    }
}
