//! Course of one call, from the reply to its receipt: the next action is looked up, carried out, and added as a fact.

use super::{admit, call_site::CallSite, execute, read, receipt, repair, rules::Rules, wording};
use crate::{
    Json,
    engine::climb::climb,
    error::{Cause, Code, ToolError},
    journal::{Action, Call, CallFact, Called, Fact, Interrupted, Raiser},
    observe::{self, spans},
    panics::guarded,
    reader::Changes,
    run::ToolEnvelope,
    secret::references,
    shared::Shared,
    tool::{Background, Prepared, SharedTool, ToolContext},
};
use futures_util::future::BoxFuture;
use std::{sync::Arc, time::Duration};
use tracing::Instrument;

/// Takes one call through all its stages. Every call ends with one receipt and one message for the model. A call for
/// the background is left before it runs, with a ticket for the model, and is taken up again there.
pub(super) async fn one(place: CallSite<'_>) {
    let span = place.with_call(|call| spans::call(place.cx.masker(), &call.call.name));
    let open = spans::Open::of(&span);
    let receipt = go_through(&place).instrument(span.clone()).await;
    open.ended();
    if let Some(receipt) = receipt {
        spans::settled(&span, &receipt);
    }
}

/// Takes one call through its stages, in a boxed future: agents that run each other would fill the stack with it.
fn go_through<'a>(place: &'a CallSite<'_>) -> BoxFuture<'a, Option<Arc<ToolEnvelope>>> {
    Box::pin(async move {
        match place.take_up().await {
            Err(error) => place.add(CallFact::Refused(Box::new(error))).await,
            Ok(tool) => {
                if !place.settle(&tool).await {
                    return None;
                }
                place.put_away().await;
                place.end_in_its_turn().await;
            }
        }
        place.done()
    })
}

impl CallSite<'_> {
    /// Starts the call's clock, and returns the tool if the call is admitted.
    async fn take_up(&self) -> Result<SharedTool, ToolError> {
        let (tool, unknown, is_new) = self.with_call(|call| {
            let name = &call.call.name;
            let tool = self.definition.tools.get(name);
            let unknown = tool.is_none().then(|| name.clone());
            (tool, unknown, matches!(call.next(), Action::TakeUp))
        });
        let name = match tool {
            Some(tool) => &*tool.spec().name,
            None => unknown.as_deref().unwrap_or_default(),
        };
        if !is_new {
            self.must_be_the_same(name, tool).await;
        } else {
            let seq = self.seq;
            let tool = tool.map(|tool| {
                let is_knowledge = self.definition.knowledge(name).is_some();
                Called::of(tool.spec(), name, tool.is_part_of_the_run(), is_knowledge)
            });
            let fact = CallFact::TakenUp { tool };
            self.cx.node.add(Fact::Call { seq, fact });
        }
        // Policies are user code: they are asked without the lock.
        let span = spans::policy(self.cx.masker(), name);
        let admitted = span.in_scope(|| {
            guarded(|| admit::admit(self.definition, self.cx, self.seq, name, tool))
                .unwrap_or_else(|panic| Err(format!("a rule panicked: {panic}")))
        });
        let admitted = admitted.map_err(|reason| ToolError::Execution {
            args: self.with_call(|call| Json::string(&call.call.arguments)),
            cause: Cause::denied(reason),
        });
        spans::judged(&span, self.cx.masker(), &admitted);
        admitted
    }

    /// Puts the run down if the stored call was made with another version of the tool than there is now.
    async fn must_be_the_same(&self, name: &str, tool: Option<&SharedTool>) {
        let stored = self.with_call(|call| call.version().map(str::to_owned));
        let now = tool.map(|tool| tool.spec().version.to_string());
        if stored == now {
            return;
        }
        let reason = wording::open_call_of_other_version(name, stored.as_deref(), now.as_deref());
        match self.cx.put_down(reason).await {}
    }

    /// Drives one call to its end: asks for its next action, carries the action out, and adds the resulting fact. Returns
    /// `false` if the call has to go on in the background.
    async fn settle(&self, tool: &SharedTool) -> bool {
        let mut context = self.context(tool);
        let mut round = 1;
        let mut prepared = None;
        loop {
            let (action, is_too_late) = self.with_call(|call| {
                if let Some(id) = call.id() {
                    context.call_id = id.clone();
                }
                if let Some(key) = call.key() {
                    context.key = key.clone();
                }
                context.attempt = call.attempt();
                context.approved = call.is_approved();
                context.answer = call.answer();
                // A settled call needs no place any more.
                if round != call.round() && !matches!(call.next(), Action::Done) {
                    round = call.round();
                    context.cx = self.cx.in_call(call.seq, round);
                }
                let is_too_late = call.is_too_late(|| self.cx.now());
                (call.next(), is_too_late)
            });
            let rules = Rules::new(self.definition, tool, &context);
            let fact = match action {
                Action::Done | Action::TakeUp => return true,
                Action::Approve(_) | Action::Execute(_) if self.gives_ticket(tool) => return false,
                Action::End(stop) => match self.cx.stop(*stop).await {},
                Action::Wait => std::future::pending().await,
                Action::Read => {
                    let read = || {
                        let (text, changes, is_edited) = self.with_call(|call| {
                            let (text, changes) = call.tried();
                            (text.to_owned(), changes, call.is_edited())
                        });
                        match is_edited {
                            true => read::read(&rules.of_the_approver(), &text, changes),
                            false => read::read(&rules, &text, changes),
                        }
                    };
                    match guarded(read) {
                        Ok(Ok((mut accepted, values))) => {
                            self.refuse_second(tool, &mut accepted);
                            self.look_back(tool, &mut accepted);
                            self.say_who_gave_them(&mut accepted);
                            prepared = Some((accepted.args.clone(), values));
                            CallFact::Read(Ok(accepted))
                        }
                        Ok(Err(refused)) => CallFact::Read(Err(refused)),
                        Err(panic) => CallFact::Panicked(panic),
                    }
                }
                Action::Approve(_) => {
                    // A person takes time. What was allowed before the question may be denied since.
                    prepared = None;
                    self.ask().await
                }
                Action::Execute(args) if !references(args.as_str()).is_empty() => {
                    CallFact::Refused(Box::new(lacking(&args)))
                }
                Action::Execute(_) if is_too_late => CallFact::TooLate,
                Action::Execute(args) => {
                    // The arguments that were read last may have been denied since.
                    let read = prepared.take().filter(|(read, _)| *read == args);
                    let values = read.map(|(_, values)| values);
                    match self.ready(&rules, values, &args) {
                        Ok(values) => match self.replay_of(tool) {
                            Some(replay) => Box::pin(self.repeat(replay, tool, &context)).await,
                            None => self.carry_out(tool, values, &context).await,
                        },
                        Err(fact) => *fact,
                    }
                }
                Action::FindOut(args) => {
                    let known = execute::find_out(tool, &args, &context).await;
                    if matches!(known, Interrupted::Done(_)) {
                        self.attach(&context).await;
                    }
                    CallFact::Interrupted(known)
                }
                Action::LeaveInDoubt => CallFact::Interrupted(execute::unknown(tool)),
                Action::BackOff(wait) => {
                    let wait = whole_millis(wait.length(rules.chance()));
                    let until = rules.after(wait);
                    CallFact::Waits { until, wait }
                }
                Action::Sleep { until, wait } => {
                    if self.cx.root.settings.replay.is_none() {
                        tokio::time::sleep(rules.until(until).min(wait)).await;
                    }
                    CallFact::Woke
                }
                Action::AskArms => {
                    // The arms are user code: they run without the lock.
                    let call = self.with_call(Call::clone);
                    if let Some(plan) = self.recorded_plan(tool, &call) {
                        self.add(CallFact::Planned(plan)).await;
                        continue;
                    }
                    match guarded(|| repair::decide(&rules, &call)) {
                        Ok(plan) => CallFact::Planned(plan),
                        Err(panic) => CallFact::Panicked(panic),
                    }
                }
                Action::AskFixer(fixer) => {
                    match self.with_call(|call| repair::repair(&fixer, &rules, call)) {
                        Some(repair) => {
                            self.add(CallFact::Repairing).await;
                            let asked = repair::ask(self.definition, &context.cx, &fixer, repair);
                            let repair::Repaired {
                                answer,
                                spent,
                                took,
                            } = asked.await;
                            let before =
                                self.with_call(|call| call.candidates.tokens_in(call.round()));
                            let tokens = spent.saturating_sub(before);
                            CallFact::Repaired {
                                answer,
                                tokens,
                                took,
                            }
                        }
                        None => return true,
                    }
                }
                Action::Climb(escalation) => {
                    let of = Raiser::Call(self.seq);
                    // The outcome for a call is already a fact, whatever this returns.
                    let _ = Box::pin(climb(self.cx, *escalation, of)).await;
                    continue;
                }
            };
            self.add(fact).await;
        }
    }

    /// Gives the model a ticket for the call, if calls of this tool go on in the background, and this one does not yet.
    fn gives_ticket(&self, tool: &SharedTool) -> bool {
        let Some(background) = tool.spec().background else {
            return false;
        };
        let given = Fact::TicketGiven {
            seq: self.seq,
            until_answer: background == Background::UntilAnswer,
        };
        !self.with_call(Call::is_in_background) && !self.cx.node.add(given).ignored
    }

    /// Returns the accepted arguments as values with which the tool can run.
    ///
    /// For another execution, or when a stored run goes on, the text is read again, and the policies are asked again.
    /// The error is the fact that says why the call may not run with these arguments.
    fn ready(
        &self,
        rules: &Rules<'_>,
        prepared: Option<Prepared>,
        args: &Json,
    ) -> Result<Prepared, Box<CallFact>> {
        let approved = self.with_call(Call::is_approved);
        if let Some(prepared) = prepared
            && (approved || self.repeats(rules.tool(), args).is_none())
        {
            return Ok(prepared);
        }
        match guarded(|| read::read(&rules.of_the_run(), args.as_str(), Changes::default())) {
            Ok(Ok((mut accepted, values))) => {
                accepted.known = self.with_call(|call| call.known.clone());
                self.look_back(rules.tool(), &mut accepted);
                match accepted.denied.is_some() || accepted.approval && !approved {
                    true => Err(Box::new(CallFact::Read(Ok(accepted)))),
                    false => Ok(values),
                }
            }
            Ok(Err(refused)) => Err(Box::new(CallFact::Read(Err(refused)))),
            Err(panic) => Err(Box::new(CallFact::Panicked(panic))),
        }
    }

    fn context(&self, tool: &SharedTool) -> ToolContext {
        ToolContext {
            cx: self.cx.in_call(self.seq, 1),
            call_id: Arc::default(),
            key: Arc::default(),
            tool: tool.spec().name.as_ref().into(),
            attempt: 1,
            approved: false,
            answer: None,
            watch: None,
            execution: Shared::default(),
        }
    }

    /// Records that the call is settled, and returns its receipt. The model is answered once all calls of the reply are
    /// settled.
    fn done(&self) -> Option<Arc<ToolEnvelope>> {
        let (node, seq) = (&self.cx.node, self.seq);
        let has_siblings = node.frame(|frame| frame.under_way().nth(1).is_some());
        let receipt = node.add(Fact::Settled { seq }).receipt?;
        receipt::tell_used(Some(self.definition), &self.cx.root, &receipt);
        observe::settled(node, &self.cx.root, seq, &receipt);
        // Other calls may take long, or never end; this call must not run again.
        if has_siblings {
            node.machine().flush();
        }
        Some(receipt)
    }
}

/// Returns the error of a call whose arguments hold a secret that was not given to this run.
fn lacking(args: &Json) -> ToolError {
    let missing = references(args.as_str());
    let missing: Vec<_> = missing.iter().map(ToString::to_string).collect();
    let why = wording::secrets_missing(&missing.join(", "));
    ToolError::Execution {
        args: args.clone(),
        cause: Cause::text(Code::AuthRequired, why),
    }
}

/// Rounds a wait up to whole milliseconds, so that the log, the facts and the wait itself have the same figure.
fn whole_millis(wait: Duration) -> Duration {
    let millis = wait.as_nanos().div_ceil(1_000_000);
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}
