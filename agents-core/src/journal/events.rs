//! Events of facts, for subscribers.
//!
//! An event about the contents of a fact is made before the fold, while the state still has what the fact refers to. An
//! event about the consequences of the fact is made after it.

use super::{
    After, AnswerFact, AnswerStage, CallFact, Fact, Finished, PlaceId, Projection, Raiser, Replied,
    State,
    call::{Action, Call, News, again, of_answer, of_call},
};
use crate::{
    journal::wording::FAILED_ALREADY,
    model::Message,
    recovery::RepairAgentRef,
    run::{ApprovalDecision, ApprovalRequest, EventKind, RepairKind, Timestamp},
    secret::Masker,
};
/// Subject of a fact of which further events are made once the fact is folded into the state.
enum Subject {
    /// A tool call, by its number among the calls of its agent.
    Call(u32),
    /// A call that has its receipt, with the name of the knowledge if the call asked for some.
    Settled(Option<String>),
    /// A call that goes on in the background.
    Ticket(u32),
    /// A final answer was read and fits.
    Read,
    /// A text that a repair agent gave in place of a final answer.
    Given(String),
    /// Anything else, about which no further events are made.
    Other,
}

/// Part of an agent's work that a fact concerns, by which its events are placed.
#[derive(Clone, Copy)]
enum Within {
    /// The event concerns the whole work of the agent.
    Agent,
    /// A tool call, by its number among the calls of its agent.
    Call(u32),
    /// The event concerns the answer of the turn with this number.
    Turn(u32),
}

impl Within {
    fn of(fact: &Fact) -> Within {
        match fact {
            Fact::Call { seq, .. } | Fact::Settled { seq } | Fact::TicketGiven { seq, .. } => {
                Within::Call(*seq)
            }
            Fact::Answer(AnswerFact::Repairing { turn } | AnswerFact::Repaired { turn, .. }) => {
                Within::Turn(*turn)
            }
            _ => Within::Agent,
        }
    }
}

/// Events that subscribers get of one fact, and the place that they name.
#[derive(Debug)]
pub(crate) struct FactEvents {
    /// Path of the agent, of the call, or of the turn whose answer is repaired. The path is empty if there are no
    /// events.
    pub(crate) place: String,
    pub(crate) kinds: Vec<EventKind>,
}

impl State {
    /// Applies a fact to the state as [`fold`](State::fold) does, and returns the events that follow from it.
    pub(crate) fn fold_and_tell(
        &mut self,
        id: PlaceId,
        fact: Fact,
        at: Timestamp,
        projection: &Projection,
    ) -> (After, FactEvents) {
        let of = self.subject(id, &fact);
        let within = Within::of(&fact);
        let mut before = self.recorded(id, &fact, at, &projection.masker);
        let after = self.fold(id, fact, at, projection);
        let mut kinds = Vec::new();
        if !after.ignored {
            let settled = after.receipts.iter().cloned().map(Box::new);
            kinds.extend(settled.map(EventKind::EscalationSettled));
            kinds.append(&mut before);
            self.followed(id, of, &after, &projection.masker, &mut kinds);
        }
        // Most facts have no event, and a path is long.
        let place = match kinds.is_empty() {
            true => String::new(),
            false => self.path_within(id, within),
        };
        (after, FactEvents { place, kinds })
    }

    /// Returns the subject of a fact of which further events may be made once it is folded.
    fn subject(&self, id: PlaceId, fact: &Fact) -> Subject {
        match fact {
            Fact::Call { seq, .. } => Subject::Call(*seq),
            Fact::Decided {
                number, receipt, ..
            } if receipt.settled.goes_on() => {
                let open = self.open.iter().find(|open| open.number == *number);
                match open.map(|open| open.of) {
                    Some(Raiser::Call(seq)) => Subject::Call(seq),
                    Some(Raiser::Answer) | None => Subject::Other,
                }
            }
            Fact::Settled { seq } => {
                let known = self.call_at(id, *seq).filter(|call| call.is_knowledge());
                Subject::Settled(known.map(|call| call.call.name.clone()))
            }
            Fact::TicketGiven { seq, .. } => Subject::Ticket(*seq),
            Fact::Answer(AnswerFact::Read(Ok(_))) => Subject::Read,
            Fact::Answer(AnswerFact::Repaired {
                answer: Ok(text), ..
            }) => Subject::Given(text.clone()),
            _ => Subject::Other,
        }
    }

    fn path_within(&self, id: PlaceId, within: Within) -> String {
        let path = self.path(id);
        match within {
            Within::Agent => path.to_string(),
            Within::Call(seq) => format!("{path}/call{seq:04}"),
            Within::Turn(turn) => format!("{path}/turn{turn:04}"),
        }
    }

    /// Returns the events that follow from the contents of a fact alone, before it is folded.
    fn recorded(&self, id: PlaceId, fact: &Fact, at: Timestamp, masker: &Masker) -> Vec<EventKind> {
        let place = self.place(id);
        let frame = place.frame.as_deref();
        match fact {
            Fact::Started(started) => vec![EventKind::RunStarted {
                run_id: started.run_id.as_str().into(),
            }],
            Fact::Resumed => self
                .run_id
                .iter()
                .cloned()
                .map(|run_id| EventKind::RunStarted { run_id })
                .collect(),
            Fact::Working => vec![EventKind::AgentStarted],
            // The end of the run has an event of its own.
            Fact::Worked { ok, .. } if id != 0 => vec![EventKind::AgentEnded { ok: *ok }],
            Fact::Chosen { skill } if frame.is_none_or(|frame| frame.skill.is_none()) => {
                vec![EventKind::SkillChosen {
                    skill: skill.to_string(),
                }]
            }
            Fact::Instructed(instruction) => vec![EventKind::Instructed(instruction.clone())],
            // An agent that has said nothing only passes the conversation to the agent that has it.
            Fact::HandedOff { to }
                if frame.is_some_and(|frame| frame.handed.is_none() && !frame.is_silent()) =>
            {
                vec![EventKind::HandedOff { to: to.to_string() }]
            }
            Fact::Shortened {
                left_out,
                put,
                tokens,
                window,
                ..
            } => vec![EventKind::Shortened {
                left_out: *left_out,
                put: put.len(),
                tokens: *tokens,
                window: *window,
            }],
            Fact::Asked { model, .. } => vec![EventKind::ModelRequested {
                turn: frame.map_or(0, |frame| frame.turns) + 1,
                model: model.to_string(),
                choosing: frame.is_some_and(|frame| frame.choosing),
            }],
            Fact::Replied(replied) => {
                let Replied { reply, .. } = &**replied;
                vec![EventKind::ModelReplied {
                    turn: frame.map_or(0, |frame| frame.turns) + 1,
                    calls: reply.calls.len(),
                    finish: reply.finish.clone(),
                    usage: reply.usage,
                }]
            }
            Fact::Refused { reason, .. } => {
                let mut kinds = Vec::new();
                // The name of a skill is read by the run itself, so no other event tells of its failure.
                if let Some(frame) = frame.filter(|frame| frame.choosing) {
                    let answer = frame.answer.as_ref();
                    kinds.push(EventKind::AnswerFailed {
                        answer: answer.map_or_else(String::new, |answer| answer.text().to_owned()),
                        reason: reason.clone(),
                    });
                }
                kinds.push(EventKind::AnswerRefused {
                    reason: reason.clone(),
                });
                kinds
            }
            Fact::Call { seq, fact } => match self.call_at(id, *seq) {
                Some(call) => self.recorded_of_call(id, call, fact, masker),
                None => Vec::new(),
            },
            Fact::Answer(fact) => self.recorded_of_answer(id, fact),
            Fact::Confirming(request) => vec![EventKind::ApprovalRequested((**request).clone())],
            Fact::Confirmed(ApprovalDecision { approval, by, .. }) => {
                vec![EventKind::ApprovalDecided {
                    call_id: self.path(id).to_string().into(),
                    approval: approval.clone(),
                    by: by.clone(),
                }]
            }
            Fact::Raised { escalation, .. } => vec![EventKind::Escalated(escalation.clone())],
            Fact::Rejected(refused) => vec![EventKind::ResolutionRefused((**refused).clone())],
            Fact::Finished(finished) => self.ended(finished, at),
            _ => Vec::new(),
        }
    }

    /// Returns the events that tell of the end of the run.
    fn ended(&self, finished: &Finished, at: Timestamp) -> Vec<EventKind> {
        let mut kinds = Vec::new();
        match (finished, &self.stop) {
            (Finished::Stopped, Some(stop)) => kinds.push(EventKind::Stopped(stop.reason())),
            (Finished::Failed { kind, message }, _) => kinds.push(EventKind::Failed {
                kind: *kind,
                reason: message.clone(),
            }),
            _ => {}
        }
        kinds.push(EventKind::RunEnded {
            ok: matches!(finished, Finished::Answer(_)),
            partial: self.place(0).partial,
            usage: self.usage,
            took: at.since(self.since),
        });
        kinds
    }

    fn recorded_of_call(
        &self,
        id: PlaceId,
        call: &Call,
        fact: &CallFact,
        masker: &Masker,
    ) -> Vec<EventKind> {
        let tool = || call.call.name.clone();
        let tool_call_id = || call.call.id.clone();
        let call_id = || call.id().cloned().unwrap_or_default();
        let kind = match fact {
            CallFact::TakenUp { .. } => EventKind::CallStarted {
                tool_call_id: tool_call_id(),
                tool: tool(),
                arguments: call.call.arguments.clone(),
            },
            CallFact::Asked => match self.approval_request(id, call, masker) {
                Some(request) => EventKind::ApprovalRequested(request),
                None => return Vec::new(),
            },
            CallFact::Decided { decided, .. } => EventKind::ApprovalDecided {
                call_id: call_id(),
                approval: decided.approval.clone(),
                by: decided.by.clone(),
            },
            CallFact::Begun { .. } => EventKind::AttemptStarted {
                call_id: call_id(),
                tool: tool(),
                attempt: call.attempt(),
            },
            CallFact::Secret { name, found } => {
                let given = found.as_ref().ok();
                EventKind::SecretLookup {
                    call_id: call_id(),
                    tool: tool(),
                    name: name.clone(),
                    scope: given.map(|given| given.scope),
                    fallback: given.is_some_and(|given| given.fallback),
                    reason: found.as_ref().err().cloned(),
                }
            }
            CallFact::Waits { wait, .. } => EventKind::BackingOff {
                tool: tool(),
                wait: *wait,
            },
            CallFact::Repairing => match call.next() {
                Action::AskFixer(fixer) => EventKind::FixerRequested {
                    tool: tool(),
                    attempt: call.candidates.asked(fixer.name()) + 1,
                    fixer: fixer.name().to_owned(),
                },
                _ => return Vec::new(),
            },
            CallFact::Repaired {
                answer,
                tokens,
                took,
            } => match call.next() {
                Action::AskFixer(fixer) => EventKind::FixerReplied {
                    tool: tool(),
                    fixer: fixer.name().to_owned(),
                    answer: answer.clone().map_err(|error| error.to_string()),
                    tokens: *tokens,
                    took: *took,
                },
                _ => return Vec::new(),
            },
            _ => return Vec::new(),
        };
        vec![kind]
    }

    /// Returns the request for approval of a call that waits for one, as the approver gets it.
    pub(crate) fn approval_request(
        &self,
        id: PlaceId,
        call: &Call,
        masker: &Masker,
    ) -> Option<ApprovalRequest> {
        let Action::Approve(args) = call.next() else {
            return None;
        };
        Some(masker.mask(ApprovalRequest {
            id: call.key().map(ToString::to_string).unwrap_or_default(),
            agent_name: self.place(id).agent.to_string(),
            tool_name: call.call.name.clone(),
            tool_version: call.version().unwrap_or_default().to_owned(),
            effect_description: call.effect_in_words(&args),
            question: call.question(&args),
            args,
            repairs: of_call(&call.candidates, 0, masker),
            known: call.known.clone(),
            effects: call.effects(),
            risk: call.risk(),
            call_id: call.id().map(ToString::to_string).unwrap_or_default(),
            reasons: call.reasons.clone(),
            external: call.is_external(),
            irreversible: call.is_irreversible(),
            follows: call.follows.clone(),
        }))
    }

    fn recorded_of_answer(&self, id: PlaceId, fact: &AnswerFact) -> Vec<EventKind> {
        let place = self.place(id);
        let Some(answer) = place.frame.as_ref().and_then(|frame| frame.answer.as_ref()) else {
            return Vec::new();
        };
        let tool = || place.agent.to_string();
        let fixer = |stage: &AnswerStage| match stage {
            AnswerStage::Repair(fixer) => Some(RepairAgentRef::name(fixer).to_owned()),
            _ => None,
        };
        let kind = match (fact, fixer(answer.next())) {
            (AnswerFact::Read(Err(misread)), _) => EventKind::AnswerFailed {
                answer: answer.text().to_owned(),
                reason: misread.reason.clone(),
            },
            (AnswerFact::Repairing { .. }, Some(fixer)) => EventKind::FixerRequested {
                tool: tool(),
                attempt: answer.candidates.asked(&fixer) + 1,
                fixer,
            },
            (
                AnswerFact::Repaired {
                    answer,
                    tokens,
                    took,
                    ..
                },
                Some(fixer),
            ) => EventKind::FixerReplied {
                tool: tool(),
                fixer,
                answer: answer.clone().map_err(|error| error.to_string()),
                tokens: *tokens,
                took: *took,
            },
            _ => return Vec::new(),
        };
        vec![kind]
    }

    /// Adds the events that follow from the state after the fact, which contains its consequences.
    fn followed(
        &self,
        id: PlaceId,
        of: Subject,
        after: &After,
        masker: &Masker,
        kinds: &mut Vec<EventKind>,
    ) {
        match of {
            Subject::Call(seq) => {
                let Some(call) = self.call_at(id, seq) else {
                    return;
                };
                let (tool_call_id, tool) = (call.call.id.clone(), call.call.name.clone());
                let failed = |error| EventKind::CallFailed {
                    tool_call_id: tool_call_id.clone(),
                    tool: tool.clone(),
                    error,
                };
                match &after.news {
                    Some(News::Failed(error)) => kinds.push(failed((**error).clone())),
                    Some(News::Again(given)) => {
                        kinds.extend(again(&call.candidates, *given, masker).map(failed));
                    }
                    Some(News::Accepted) => {
                        let first = call.candidates.first_new();
                        let mut repairs = of_call(&call.candidates, first, masker);
                        repairs.0.retain(|step| step.kind != RepairKind::Tried);
                        if !repairs.is_empty() {
                            kinds.push(EventKind::CallRepaired {
                                tool_call_id,
                                tool,
                                repairs,
                            });
                        }
                    }
                    None => {}
                }
            }
            Subject::Ticket(seq) => {
                let call = self.call_at(id, seq);
                let ticket = call.and_then(|call| Some((call, call.ticket_name()?)));
                kinds.extend(ticket.map(|(call, ticket)| EventKind::TicketGiven {
                    tool_call_id: call.call.id.clone(),
                    tool: call.call.name.clone(),
                    ticket,
                }));
            }
            Subject::Settled(knowledge) => {
                let Some(receipt) = &after.receipt else {
                    return;
                };
                if let Some(knowledge) = knowledge.filter(|_| receipt.is_ok()) {
                    kinds.push(EventKind::KnowledgeUsed { knowledge });
                }
                kinds.push(EventKind::CallEnded(receipt.clone()));
            }
            Subject::Read => {
                let Some(frame) = &self.place(id).frame else {
                    return;
                };
                let repairs = frame
                    .answer
                    .iter()
                    .map(|answer| of_answer(&answer.candidates, masker));
                for repairs in repairs.filter(|repairs| !repairs.is_empty()) {
                    // The text that the model wrote, whatever changes were made to it since.
                    let answer = match frame.history.messages().last() {
                        Some(Message::Assistant { content, .. }) => content.clone(),
                        _ => String::new(),
                    };
                    kinds.push(EventKind::AnswerRepaired { answer, repairs });
                }
            }
            Subject::Given(text) => {
                let frame = self.place(id).frame.as_ref();
                let answer = frame.and_then(|frame| frame.answer.as_ref());
                if answer.is_some_and(|answer| *answer.next() != AnswerStage::Read) {
                    kinds.push(EventKind::AnswerFailed {
                        answer: masker.text(&text).into_owned(),
                        reason: FAILED_ALREADY.to_owned(),
                    });
                }
            }
            Subject::Other => {}
        }
    }
}
