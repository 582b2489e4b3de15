//! The way of one call, a file for each stage, in the order in which a call passes them:
//!
//! ```text
//! reply ─► guard ─► args ─► (approval) ─► dispatch: cache, or execute ─► whole ─► envelope
//! ```
//!
//! [`calls`] carries out all calls of one reply; [`one`] takes a single call through the stages.
//! What is *decided* between two stages is decided by [`CallState`], which is data.

pub(crate) mod answer;
mod approval;
pub(crate) mod args;
mod call;
mod call_id;
mod dispatch;
mod driver;
pub(crate) mod envelope;
mod execute;
mod guard;
pub(crate) mod recover;
pub(crate) mod remembered;
pub(crate) mod reply;
mod together;
mod uncertain;
mod whole;

pub(crate) use driver::drive;

use call::{Act, Event};

use crate::{
    brain::Brain,
    error::ToolError,
    model::Message,
    observe::spans,
    panics::{self, guarded},
    run::{
        CallState, EventKind, RunContext, Timestamp, Told, ToolEnvelope, ToolHook,
        climb::{Unhandled, climb},
    },
    tool::{SharedTool, ToolContext},
};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tracing::Instrument;

/// What a model is told of a result that its delegate could not complete.
const PARTIAL: &str = "this result is partial: the work could not be completed";

/// Carries out the calls of one reply, and answers them in the model's order.
pub(crate) async fn calls(brain: &Brain<'_>, cx: &RunContext) {
    let settled = together::all(brain, cx).await;
    let messages = settled
        .into_iter()
        .map(|(receipt, message)| {
            cx.node.add_receipt(receipt);
            message
        })
        .collect();
    cx.node
        .with_frame(|frame| frame.on(Told::Answered(messages)));
    if let Some(passed) = cx.node.step() {
        match cx.exceed(passed).await {}
    }
    cx.root.checkpoint();
}

/// Takes one call through its stages; every call comes out with one receipt and one message.
async fn one(place: Place<'_>, seq: u32) -> (Arc<ToolEnvelope>, Message) {
    let settled_before = place.with_call(|call| call.receipt.is_some());
    let span = place.with_call(|call| spans::call(place.cx.masker(), &call.call.name));
    let open = spans::Open::of(&span);
    let settled = go_through(&place, seq, settled_before).instrument(span.clone());
    let settled = settled.await;
    open.ended();
    spans::settled(&span, &settled.0);
    settled
}

/// On the heap, and made in a frame of its own: agents that run each other would fill the stack with it.
fn go_through<'a>(
    place: &'a Place<'_>,
    seq: u32,
    settled_before: bool,
) -> BoxFuture<'a, (Arc<ToolEnvelope>, Message)> {
    Box::pin(async move {
        if !settled_before {
            match place.take_up(seq) {
                Err(error) => place.with_call(|call| call.refuse(error)),
                Ok(_) if place.is_settled_by_tape().await => {}
                Ok(tool) => {
                    place.settle(&tool).await;
                    place.keep_whole().await;
                }
            }
        }
        place.done(seq, settled_before)
    })
}

/// One call's place: who makes it, and where its state lies.
struct Place<'a> {
    brain: &'a Brain<'a>,
    cx: &'a RunContext,
    index: usize,
    /// Where executions wait their turn, if there are more than may run at once.
    gate: Option<&'a Semaphore>,
}

impl Place<'_> {
    fn with_call<R>(&self, f: impl FnOnce(&mut CallState) -> R) -> R {
        self.cx
            .node
            .with_frame(|frame| f(&mut frame.calls[self.index]))
    }

    /// The call's clock starts, and it is admitted or not.
    fn take_up(&self, seq: u32) -> Result<SharedTool, ToolError> {
        let admitted = self.with_call(|call| {
            if call.started == 0 {
                let path = self.cx.node.path();
                call.started = self
                    .cx
                    .now(format_args!("{path}/call{seq}/start"))
                    .as_millis();
            }
            let tool = self.brain.tools.get(&call.call.name);
            if let Some(tool) = tool {
                call.is_of(tool.spec());
            }
            let span = spans::policy(self.cx.masker(), &call.call.name);
            let admitted = span.in_scope(|| {
                guarded(|| guard::admit(self.brain, self.cx, call, tool))
                    .unwrap_or_else(|panic| Err(guard::undecided(call, &panic)))
            });
            spans::judged(&span, self.cx.masker(), &admitted);
            admitted
        });
        self.emit(|| {
            self.with_call(|call| EventKind::CallStarted {
                tool_call_id: call.call.id.clone(),
                tool: call.call.name.clone(),
                arguments: call.call.arguments.clone(),
            })
        });
        admitted
    }

    /// The driver of one call: look, do, tell.
    async fn settle(&self, tool: &SharedTool) {
        let mut context = self.context(tool);
        let mut round = 1;
        loop {
            let act = self.with_call(|call| {
                let rules = args::Rules::new(self.brain, tool, &context);
                let act = guarded(|| call.next(&rules)).unwrap_or_else(|panic| {
                    call.abandon("the call could not be dealt with", 0);
                    call.remark = Some(format!("dealing with it panicked: {panic}"));
                    Act::Done
                });
                if call.is_identified() {
                    context.call_id = call_id::of(call, &self.cx.node);
                }
                // What is settled needs no place any more.
                context.attempt = call.attempt();
                context.approved = call.is_approved();
                if round != call.round() && !matches!(act, Act::Done) {
                    round = call.round();
                    context.cx = self.cx.in_call(call.seq, round);
                }
                act
            });
            self.tell_failures();
            self.tell_repairs();
            let event = match act {
                Act::Done => return,
                Act::Approve(args) => Event::Decided(self.ask(tool, args, &context).await),
                Act::Execute(prepared) => {
                    let event = self.dispatch(tool, prepared, &context).await;
                    if matches!(event, Event::Executed(Ok(_))) && context.cx.is_partial() {
                        self.with_call(|call| {
                            call.partial = true;
                            call.remark = Some(PARTIAL.to_owned());
                        });
                    }
                    event
                }
                Act::Sleep { wait, left } => {
                    tracing::info!(tool = %context.tool, attempt = context.attempt, ?wait, "backing off");
                    self.emit(|| EventKind::BackingOff {
                        tool: context.tool.to_string(),
                        wait,
                    });
                    if self.waits() {
                        tokio::time::sleep(left).await;
                    }
                    Event::Woke
                }
                Act::Ask(fixer, repair) => {
                    let repaired = recover::ask(self.brain, &context.cx, &fixer, *repair).await;
                    Event::Answered(fixer, repaired)
                }
                Act::Climb(escalation) => {
                    let climbed = Box::pin(climb(self.cx, *escalation, Unhandled::Told)).await;
                    Event::Climbed(climbed)
                }
                Act::Stop(stop) => match self.cx.stop(stop).await {},
            };
            if let Some(stop) = self.with_call(|call| call.on(event, self.cx.masker())) {
                match self.cx.stop(stop).await {}
            }
            self.tell_failures();
        }
    }

    /// Failures that the arms are asked about, or have been.
    fn tell_failures(&self) {
        let news = self.with_call(|call| std::mem::take(&mut call.news));
        for error in news {
            let said = self.cx.masker().text(&error.message);
            tracing::info!(tool = %self.name(), code = %error.code, error = %said, "call failed");
            self.emit(|| {
                self.with_call(|call| EventKind::CallFailed {
                    tool_call_id: call.call.id.clone(),
                    tool: call.call.name.clone(),
                    error,
                })
            });
        }
    }

    fn context(&self, tool: &SharedTool) -> ToolContext {
        let seq = self.with_call(|call| call.seq);
        ToolContext {
            cx: self.cx.in_call(seq, 1),
            call_id: Arc::default(),
            tool: tool.spec().name.as_ref().into(),
            attempt: 1,
            approved: false,
            watch: None,
            execution: Arc::default(),
        }
    }

    /// The call is settled: its receipt and the message that answers it.
    fn done(&self, seq: u32, settled_before: bool) -> (Arc<ToolEnvelope>, Message) {
        let ended = match settled_before {
            true => Timestamp::default(),
            false => self
                .cx
                .now(format_args!("{}/call{seq}/end", self.cx.node.path())),
        };
        let settings = &self.cx.root.settings;
        let (receipt, message) =
            self.with_call(|call| envelope::close(call, &self.cx.node, ended, settings));
        if !settled_before {
            self.tell_settled(&receipt);
            self.tell_used(&receipt);
            envelope::tell(&self.cx.node, &self.cx.root, seq, receipt.clone());
            // Others of the same reply may take long, or never end: this one is not to run again.
            if self.cx.node.with_frame(|frame| frame.calls.len() > 1) {
                self.cx.root.checkpoint();
            }
        }
        (receipt, message)
    }

    /// Tells what the model has used: a tool, or what the agent knows.
    fn tell_used(&self, receipt: &ToolEnvelope) {
        let hooks = &self.brain.hooks;
        match self.brain.knowledge(&receipt.name) {
            Some(knowledge) if receipt.is_ok() => {
                hooks.knowledge_used(knowledge.name(), self.cx.masker());
                self.emit(|| EventKind::KnowledgeUsed {
                    knowledge: knowledge.name().to_owned(),
                });
            }
            Some(_) => {}
            None => {
                hooks.tool_used(receipt, self.cx.masker());
                let of_the_run = &self.cx.root.settings.tool_hooks;
                let told = |hook: &ToolHook| {
                    panics::told("on_tool_use", self.cx.masker(), || hook(receipt))
                };
                of_the_run.iter().for_each(told);
            }
        }
    }

    /// How the arguments were changed that are about to be used.
    fn tell_repairs(&self) {
        let repairs = self.with_call(|call| std::mem::take(&mut call.mended));
        if repairs.is_empty() {
            return;
        }
        let repairs = self.cx.masker().data(repairs);
        tracing::info!(tool = %self.name(), %repairs, "arguments repaired");
        self.emit(|| EventKind::CallRepaired {
            tool_call_id: self.with_call(|call| call.call.id.clone()),
            tool: self.name(),
            repairs,
        });
    }

    fn round(&self) -> u32 {
        self.with_call(|call| call.round())
    }

    fn name(&self) -> String {
        self.with_call(|call| self.cx.masker().text(&call.call.name).into_owned())
    }

    fn emit(&self, kind: impl FnOnce() -> EventKind) {
        let place = || {
            let seq = self.with_call(|call| call.seq);
            self.cx.node.call_path(seq).to_string()
        };
        self.cx.root.emit_at(&self.cx.node, place, kind);
    }
}
