//! Calls in the background: they go on beside the turns of the agent that made them.

use super::{call::one, call_site::CallSite, wording};
use crate::{
    Error,
    context::RunContext,
    definition::AgentDefinition,
    journal::{Call, Frame},
    tool::ToolSpec,
};
use futures_util::{
    future::BoxFuture,
    stream::{FuturesUnordered, Stream as _},
};
use std::{future::poll_fn, pin::Pin, task::Poll};
use tokio::sync::{Notify, Semaphore};

/// Calls of one agent that go on in the background.
pub(super) struct BackgroundCalls<'a> {
    definition: &'a AgentDefinition<'a>,
    cx: &'a RunContext,
    turns: &'a Turns,
    /// Numbers of the calls that go on in this process.
    started: Vec<u32>,
    under_way: FuturesUnordered<BoxFuture<'a, ()>>,
}

/// State that the turns of an agent share with its calls in the background.
pub(super) struct Turns {
    /// Bounds how many calls in the background run at once.
    gate: Semaphore,
    /// Is notified when a call in the background has ended.
    came_back: Notify,
}

impl Turns {
    pub(super) fn of(cx: &RunContext) -> Self {
        Turns {
            gate: Semaphore::new(cx.root.settings.executor.max_parallel()),
            came_back: Notify::new(),
        }
    }

    /// Waits until a call in the background has ended.
    pub(super) async fn one_came_back(&self) {
        self.came_back.notified().await;
    }
}

impl<'a> BackgroundCalls<'a> {
    /// Creates the background of an agent; `None` if no call of the agent can go on in the background.
    pub(super) fn of(
        definition: &'a AgentDefinition<'a>,
        cx: &'a RunContext,
        turns: &'a Turns,
    ) -> Option<Self> {
        let sends = |spec: &ToolSpec| spec.background.is_some();
        let goes_on = |frame: &Frame| frame.under_way().any(Call::is_on_its_way);
        // A call may go on there that was stored before its tool was changed.
        let has_any = definition.tools.specs().any(sends) || cx.node.frame(goes_on);
        has_any.then(|| BackgroundCalls {
            definition,
            cx,
            turns,
            started: Vec::new(),
            under_way: FuturesUnordered::new(),
        })
    }

    /// Does the work of the agent, and carries out its calls in the background at the same time. When the agent has its
    /// answer, the calls that have not ended are dropped, and their receipts say that the agent has ended its work.
    pub(super) async fn beside<T>(
        mut self,
        mut work: impl Future<Output = Result<T, Error>> + Unpin,
    ) -> Result<T, Error> {
        poll_fn(|task| {
            if let Poll::Ready(done) = Pin::new(&mut work).poll(task) {
                if done.is_ok() {
                    self.cx.node.abandon(wording::AGENT_ENDED);
                }
                return Poll::Ready(done);
            }
            self.start();
            while let Poll::Ready(Some(())) = Pin::new(&mut self.under_way).poll_next(task) {
                self.turns.came_back.notify_one();
            }
            Poll::Pending
        })
        .await
    }

    /// Starts the calls for which the model has got a ticket since, or in an earlier process.
    fn start(&mut self) {
        let calls = self.cx.node.frame(|frame| {
            let calls = frame.under_way().filter(|call| call.is_on_its_way());
            calls.map(|call| call.seq).collect::<Vec<_>>()
        });
        for seq in calls {
            if !self.started.contains(&seq) {
                self.started.push(seq);
                let place = CallSite {
                    definition: self.definition,
                    cx: self.cx,
                    seq,
                    gate: Some(&self.turns.gate),
                };
                self.under_way.push(Box::pin(one(place)));
            }
        }
    }
}
