//! Fold of facts into the state, one after the other.

use super::{
    ExecutionNews, Fact, Frame, Kept, Open, Place, PlaceId, Raiser, Replied, State, Taken, What,
    call::{self, CallFact, Doubt, News},
    frame, projection, wording,
};
use crate::{
    Json,
    deep::deep,
    escalation::{EscalationReceipt, Settlement},
    model::{Content, Usage},
    run::{Finding, Instruction, Stop, Timestamp, ToolEnvelope},
    secret::Masker,
};
use std::sync::Arc;

/// Settings that decide, beside the facts, what receipts and messages say: the masker, and the size at which outputs
/// are cut.
#[derive(Clone, Debug)]
pub(crate) struct Projection {
    pub(crate) masker: Arc<Masker>,
    pub(crate) max_output_bytes: usize,
}

/// Consequences of a fact for the run, returned once the fact is applied to the state.
#[derive(Debug, Default)]
pub(crate) struct After {
    /// Reason for which the run has to stop, if the fact leads to that.
    pub(crate) stop: Option<Box<Stop>>,
    /// Change of a call, of which events for subscribers are made.
    pub(crate) news: Option<News>,
    /// Call that has ended without knowledge of its effect, if the fact has made one.
    pub(crate) doubt: Option<Doubt>,
    /// Id of the call whose effect the fact has made known.
    pub(crate) found_out: Option<Arc<str>>,
    /// Begin or end of an execution of a tool that writes and is not idempotent.
    pub(crate) execution: Option<ExecutionNews>,
    /// Place of an agent or a call that the fact has opened in the run.
    pub(crate) opened: Option<PlaceId>,
    /// Number of the escalation that the fact has raised; `None` if it has raised none.
    pub(crate) number: Option<u64>,
    /// Receipts of the escalations that the fact has settled.
    pub(crate) receipts: Vec<EscalationReceipt>,
    /// Receipt of the call that the fact has settled; `None` if the fact has settled no call.
    pub(crate) receipt: Option<Arc<ToolEnvelope>>,
    /// Is `true` if the fact does not belong to the state, and has changed nothing.
    pub(crate) ignored: bool,
}

impl After {
    /// Returns the consequences of a fact that changes nothing: none.
    pub(crate) fn ignored() -> Self {
        After {
            ignored: true,
            ..After::default()
        }
    }
}

impl State {
    /// Applies a fact at a place to the state. A fact that does not belong to the state changes nothing.
    pub(crate) fn fold(
        &mut self,
        id: PlaceId,
        fact: Fact,
        at: Timestamp,
        projection: &Projection,
    ) -> After {
        let before = (self.seq, self.worked, self.last, self.asked);
        let after = self.apply(id, fact, at, projection);
        if after.ignored {
            (self.seq, self.worked, self.last, self.asked) = before;
        }
        let doubt = after.doubt.clone();
        self.doubts.extend(doubt.map(|doubt| (id, doubt)));
        if let Some(news) = &after.execution {
            self.executions.note(news.clone());
        }
        after
    }

    fn apply(&mut self, id: PlaceId, fact: Fact, at: Timestamp, projection: &Projection) -> After {
        self.seq += 1;
        self.work_until(at, &fact);
        let mut after = After::default();
        match fact {
            // The state begins with this fact.
            Fact::Started(started) => {
                self.run_id = Some(started.run_id.into());
                self.last = at;
                self.since = at;
            }
            Fact::Finished(finished) => self.finished = Some(finished),
            Fact::Opened { key, depth, agent } => {
                after.opened = Some(self.open(id, key, depth, agent))
            }
            Fact::Said {
                system,
                said,
                before,
                task,
                choosing,
                part,
            } => {
                if part && !self.frame_mut(id).is_part {
                    self.frame_mut(id).owed = self.told_so_far(id);
                }
                let frame = self.frame_mut(id);
                (frame.choosing, frame.is_part) = (choosing, part);
                frame.begin(said, before, &system, task);
            }
            Fact::Instructed(instruction) => {
                let frame = self.frame_mut(id);
                let is_owed = frame.repaid(&instruction);
                frame.instruct(instruction.text.clone());
                if !is_owed && !self.knows(&instruction) {
                    self.owe(id, &instruction);
                    self.instructions.push(instruction);
                }
            }
            Fact::Chosen { skill } => self.frame_mut(id).chosen(&skill),
            Fact::HandedOff { to } => after.ignored = !self.frame_mut(id).hand_off(&to),
            Fact::Shortened {
                from,
                left_out,
                put,
                ..
            } => after.ignored = !self.frame_mut(id).shorten(from, left_out, put),
            Fact::Listed { from, tools } => self.frame_mut(id).listed.push((from, tools)),
            Fact::Offered(offer) => self.offers.push(offer),
            // These facts change nothing; they are for subscribers.
            Fact::Tried { .. } | Fact::Working | Fact::Confirming(_) | Fact::Rejected(_) => {}
            Fact::Asked { model, .. } => {
                self.each_up(id, |place| place.steps += 1);
                let frame = self.frame_mut(id);
                frame.asked = Some(at);
                frame.model = Some(model);
                let receipts = frame.gone_on();
                self.settled.extend(receipts.iter().cloned());
                after.receipts = receipts;
            }
            Fact::Replied(replied) => self.replied(id, *replied, at),
            Fact::Unanswered {
                choosing,
                model,
                error: _,
            } => {
                let asked = self.asked_at(id, at);
                self.frame_mut(id).tell_news();
                let turn = self.frame_mut(id).turns + 1;
                let (calls, usage) = (None, Usage::default());
                let what = What::Turn {
                    turn,
                    model,
                    calls,
                    usage,
                    choosing,
                    refused: false,
                };
                self.step(id, asked, at, what);
            }
            Fact::Refused { reason, is_text } => {
                let turn = self.frame_mut(id).turns;
                if self.frame_mut(id).choosing {
                    self.mark_refused(id, turn, true);
                }
                self.frame_mut(id).refuse(reason, is_text);
            }
            Fact::Call { seq, fact } => {
                let call::After {
                    stop,
                    news,
                    doubt,
                    execution,
                    ignored,
                } = self.call(id, seq, fact, at);
                after.stop = stop;
                after.news = news;
                after.ignored = ignored;
                after.doubt = doubt;
                after.execution = execution;
            }
            Fact::FoundOut { call, finding } => match self.found_out(&call, &finding, projection) {
                Some(call) => after.found_out = Some(call),
                None => after.ignored = true,
            },
            Fact::TicketGiven { seq, until_answer } => {
                let frame = self.place_mut(id).frame.as_mut();
                let is_given = frame.is_some_and(|frame| frame.give_ticket(seq, until_answer));
                after.ignored = !is_given;
                if is_given {
                    self.give_results(id);
                }
            }
            Fact::Settled { seq } => {
                after.receipt = self.settle(id, seq, at, projection);
                after.ignored = after.receipt.is_none();
            }
            Fact::Answer(fact) => {
                let is_refused = match &fact {
                    crate::journal::AnswerFact::Read(read) => Some(read.is_err()),
                    _ => None,
                };
                let frame = self.place_mut(id).frame.as_mut();
                let turn = frame.as_ref().map_or(0, |frame| frame.turns);
                after.ignored = match frame.and_then(|frame| frame.answer.as_mut()) {
                    Some(answer) => !answer.on(fact),
                    None => true,
                };
                if let Some(is_refused) = is_refused.filter(|_| !after.ignored) {
                    self.mark_refused(id, turn, is_refused);
                }
            }
            Fact::Charged { usage, cost } => {
                self.usage += usage;
                self.each_up(id, |place| {
                    place.tokens = place.tokens.saturating_add(usage.tokens());
                    place.paid.add(cost);
                });
            }
            Fact::Confirmed(decided) => self.place_mut(id).confirmed = Some(decided),
            Fact::Raised { of, escalation } => {
                if self.over {
                    after.ignored = true;
                } else {
                    self.raised += 1;
                    let number = self.raised;
                    self.open.push(Open {
                        number,
                        place: id,
                        of,
                        raised: escalation.clone(),
                        escalation: *escalation,
                    });
                    after.number = Some(number);
                }
            }
            Fact::Reached { number, escalation } => {
                let mut open = self.open.iter_mut();
                if let Some(open) = open.find(|open| open.number == number) {
                    open.escalation = *escalation;
                }
            }
            Fact::Decided {
                number,
                receipt,
                partial,
            } => match self.take(number) {
                Some(open) if receipt.settled.goes_on() => {
                    self.goes_on(open, *receipt, at, &mut after);
                }
                Some(_) => {
                    self.take_off(id, &receipt, partial);
                    self.settled.push((*receipt).clone());
                    after.receipts.push(*receipt);
                }
                None => after.ignored = true,
            },
            Fact::Dropped { number, why } => match self.take(number) {
                Some(open) => {
                    let receipt = EscalationReceipt {
                        escalation: open.escalation,
                        settled: Settlement::Dropped { why },
                    };
                    self.settled.push(receipt.clone());
                    after.receipts.push(receipt);
                }
                None => after.ignored = true,
            },
            Fact::Void { why } => {
                let verdicts = std::mem::take(&mut self.frame_mut(id).verdicts);
                let dropped = verdicts.into_iter().map(|verdict| EscalationReceipt {
                    escalation: verdict.escalation,
                    settled: Settlement::Dropped { why: why.clone() },
                });
                after.receipts = dropped.collect();
                self.settled.extend(after.receipts.iter().cloned());
            }
            Fact::Anew => self.place_mut(id).partial = false,
            Fact::Partial => self.place_mut(id).partial = true,
            Fact::Worked { ok, since } => self.step(id, since, at, What::Agent { ok }),
            Fact::Done { result } => self.done(id, result),
            Fact::Stopped { level, stop } => {
                if self.stop.is_none() {
                    self.each_up(id, |place| place.ended_run = place.level <= level);
                    self.stop = Some(stop);
                }
            }
            Fact::Resumed => {
                self.since = at;
                self.resumed();
            }
            Fact::PutDown => self.put_down = true,
            Fact::StoppedFromOutside(stop) => self.stop = Some(stop),
            Fact::Over => self.over = true,
        }
        after
    }

    /// Adds the time since the last fact to the run's working time, unless a person was asked or no process was running
    /// in the meantime.
    fn work_until(&mut self, at: Timestamp, fact: &Fact) {
        if self.asked == 0 && !matches!(fact, Fact::Started(_) | Fact::Resumed) {
            let passed = at.as_millis().saturating_sub(self.last.as_millis());
            self.worked = self.worked.saturating_add(passed);
        }
        self.last = at;
        match fact {
            Fact::Resumed => self.asked = 0,
            Fact::Call {
                fact: CallFact::Asked,
                ..
            }
            | Fact::Confirming(_) => self.asked += 1,
            Fact::Call {
                fact: CallFact::Decided { .. },
                ..
            }
            | Fact::Confirmed(_) => self.asked = self.asked.saturating_sub(1),
            _ => {}
        }
    }

    /// Prepares the state for another process that goes on with the run.
    ///
    /// A stop that has its cause in the run, such as a used-up budget, stays, and the run ends. A stop by a
    /// cancellation, by a failed journal or by a difference to a recording is dropped: the run goes on, executions
    /// under way count as interrupted (after the run was put down, they begin again), and open escalations are raised
    /// again.
    fn resumed(&mut self) {
        use crate::run::Stop;
        self.resumed = true;
        self.over = false;
        let put_down = std::mem::take(&mut self.put_down);
        match self.stop {
            None | Some(Stop::Cancelled | Stop::Journal { .. } | Stop::Diverged { .. }) => {}
            Some(_) => return,
        }
        self.stop = None;
        self.open.clear();
        for place in &mut self.places {
            let Some(frame) = &mut place.frame else {
                continue;
            };
            frame.ask_again();
            for call in frame.under_way_mut() {
                match put_down {
                    true => call.put_down(),
                    false => call.interrupt(),
                }
            }
        }
    }

    /// Applies a decision about an escalation after which the agent that raised it goes on: its call or its answer ends
    /// accordingly.
    fn goes_on(
        &mut self,
        open: Open,
        receipt: EscalationReceipt,
        at: Timestamp,
        after: &mut After,
    ) {
        let frame = self.frame_mut(open.place);
        frame.verdicts.push(receipt.clone());
        if let Settlement::RetriedWithModel { model, .. } = &receipt.settled {
            frame.give(model.clone(), *open.raised);
        }
        match open.of {
            Raiser::Call(seq) => {
                let climbed = CallFact::Climbed(Box::new(receipt));
                let call::After {
                    stop, news, doubt, ..
                } = self.call(open.place, seq, climbed, at);
                after.stop = stop;
                after.news = news;
                after.doubt = doubt;
            }
            Raiser::Answer => frame.refuse(wording::ANSWER_TAKEN_OVER.to_owned(), false),
        }
    }

    /// Records that the decision about an escalation puts other work in place of the agent's own, if it is of that
    /// kind.
    fn take_off(&mut self, id: PlaceId, receipt: &EscalationReceipt, partial: Option<Json>) {
        if let Settlement::ReroutedToSkill { .. }
        | Settlement::ReroutedTo { .. }
        | Settlement::PartialResult { .. } = receipt.settled
        {
            let place = self.place_mut(id);
            let before = place.taken.as_ref().map_or(0, |taken| taken.count);
            place.taken = Some(Box::new(Taken {
                receipt: receipt.clone(),
                partial,
                count: before.saturating_add(1),
            }));
        }
    }

    /// Returns the instructions that a part of the run is to be told when it begins at this place: all so far. An agent
    /// that takes over has them in the conversation, and is told those that the agent before it was still to be told.
    fn told_so_far(&mut self, id: PlaceId) -> Vec<Instruction> {
        let above = self.place(id).parent;
        let above = above.and_then(|above| self.place_mut(above).frame.as_mut());
        match above.filter(|frame| frame.handed.is_some()) {
            Some(handed_on) => std::mem::take(&mut handed_on.owed),
            None => self.instructions.clone(),
        }
    }

    /// Adds an instruction to those that the other parts at work are to be told.
    fn owe(&mut self, told: PlaceId, instruction: &Instruction) {
        let at_work = self
            .places
            .iter_mut()
            .filter(|place| place.result.is_none());
        for frame in at_work.filter_map(|place| place.frame.as_mut()) {
            frame.owe(instruction);
        }
        self.frame_mut(told).repaid(instruction);
    }

    fn frame_mut(&mut self, id: PlaceId) -> &mut Frame {
        self.place_mut(id).frame.get_or_insert_default()
    }

    fn open(
        &mut self,
        above: PlaceId,
        key: Box<str>,
        depth: u32,
        agent: Option<Arc<str>>,
    ) -> PlaceId {
        let id = PlaceId::try_from(self.places.len()).unwrap_or(PlaceId::MAX);
        let parent = self.place_mut(above);
        parent.children.insert(key.clone(), id);
        let level = parent.level + 1;
        let began = self.worked;
        self.places.push(Place {
            began,
            key,
            parent: Some(above),
            depth,
            level,
            agent: agent.unwrap_or_default(),
            ..Place::default()
        });
        id
    }

    fn replied(&mut self, id: PlaceId, replied: Replied, at: Timestamp) {
        let Replied {
            reply,
            model,
            cost,
            choosing,
            longest,
        } = replied;
        let usage = reply.usage;
        self.usage += usage;
        self.each_up(id, |place| {
            place.tokens = place.tokens.saturating_add(usage.tokens());
            place.paid.add(cost);
        });
        let frame = self.frame_mut(id);
        let what = What::Turn {
            turn: frame.turns + 1,
            model,
            calls: Some(reply.calls.len()),
            usage,
            choosing,
            refused: false,
        };
        let asked = self.asked_at(id, at);
        self.frame_mut(id).replied(reply, longest);
        self.step(id, asked, at, what);
    }

    /// Returns the time at which the model of the agent here was asked, and `now` if it is not known.
    fn asked_at(&mut self, id: PlaceId, now: Timestamp) -> Timestamp {
        self.frame_mut(id).asked.take().unwrap_or(now)
    }

    fn call(&mut self, id: PlaceId, seq: u32, fact: CallFact, at: Timestamp) -> call::After {
        // Taken out of the state while its path is read: an id is, among others, a digest of that path.
        let Some(mut frame) = self.place_mut(id).frame.take() else {
            return call::After::ignored();
        };
        let mut calls = frame.under_way_mut();
        let after = match calls.find(|call| call.seq == seq) {
            Some(call) => call.on(fact, at, &self.path(id)),
            None => call::After::ignored(),
        };
        drop(calls);
        self.place_mut(id).frame = Some(frame);
        after
    }

    /// Takes a call off the list of calls in doubt, and tells the model of the agent that made it. Returns the call's
    /// id; `None` if the call is not in doubt.
    fn found_out(
        &mut self,
        call: &str,
        finding: &Finding,
        projection: &Projection,
    ) -> Option<Arc<str>> {
        let at = self.doubts.iter().position(|(_, own)| *own.call == *call)?;
        let (place, doubt) = self.doubts.remove(at);
        // An agent that has answered needs not be told.
        if let Some(frame) = &mut self.place_mut(place).frame {
            let finding = frame::finding(&doubt, finding, &projection.masker);
            frame.tell(Content::told(finding));
        }
        Some(doubt.call)
    }

    /// Writes the receipt of a settled call. The result of a call in the background is told to the model. When all calls
    /// of the reply have their receipts, their results go to the model.
    fn settle(
        &mut self,
        id: PlaceId,
        seq: u32,
        at: Timestamp,
        projection: &Projection,
    ) -> Option<Arc<ToolEnvelope>> {
        let frame = self.place_mut(id).frame.as_mut()?;
        let call = frame.under_way_mut().find(|call| call.seq == seq)?;
        if call.receipt.is_some() {
            return None;
        }
        let receipt = projection::close(call, at, projection);
        let (t_start, t_end) = (receipt.t_start, receipt.t_end);
        let call_id = receipt.call_id.clone();
        self.step(id, t_start, t_end, What::Call { seq, call_id });
        match self.frame_mut(id).came_back(seq) {
            Some(came_back) => {
                // Calls that were made later may have ended before.
                let receipts = &mut self.place_mut(id).receipts;
                let at = receipts.partition_point(|(other, _)| *other < seq);
                receipts.insert(at, came_back);
                let has_written = self.frame_mut(id).has_written();
                self.each_up(id, |place| place.wrote |= has_written);
            }
            None => self.give_results(id),
        }
        Some(receipt)
    }

    /// Gives the model the results of its calls, once each call of the last reply has its receipt or a ticket.
    fn give_results(&mut self, id: PlaceId) {
        let frame = self.frame_mut(id);
        if frame.calls.is_empty() || !frame.may_go_on() {
            return;
        }
        let receipts = frame.answered();
        let has_written = frame.has_written();
        self.place_mut(id).receipts.extend(receipts);
        self.each_up(id, |place| {
            place.steps += 1;
            place.wrote |= has_written;
        });
    }

    fn step(&mut self, place: PlaceId, t_start: Timestamp, t_end: Timestamp, what: What) {
        self.steps.push(Kept {
            place,
            t_start,
            t_end,
            what,
        });
    }

    fn take(&mut self, number: u64) -> Option<Open> {
        let at = self.open.iter().position(|open| open.number == number)?;
        Some(self.open.remove(at))
    }

    /// Records the agent's answer. The state keeps the answer and the receipts, and drops all else about the agent.
    fn done(&mut self, id: PlaceId, result: crate::Json) {
        let receipts = self.receipts(id);
        let place = self.place_mut(id);
        place.result = Some(result);
        place.receipts = (0..).zip(receipts).collect();
        let frame = place.frame.take();
        place.taken = None;
        let children = std::mem::take(&mut place.children);
        let (agent, above) = (place.agent.clone(), place.parent);
        let above = above.and_then(|above| self.place_mut(above).frame.as_deref_mut());
        // An agent that has handed its conversation on keeps it as the other agent has left it.
        if let Some(above) = above.filter(|above| above.handed.as_deref() == Some(&*agent)) {
            above.successor = frame;
        }
        for child in children.into_values() {
            self.forget(child);
        }
    }

    /// Drops the data of a place that can no longer be reached. A spawned agent may still be at work there.
    fn forget(&mut self, id: PlaceId) {
        let place = self.place_mut(id);
        if place.result.take().is_some() {
            place.receipts = Vec::new();
        }
        for child in std::mem::take(&mut place.children).into_values() {
            deep(|| self.forget(child));
        }
    }
}
