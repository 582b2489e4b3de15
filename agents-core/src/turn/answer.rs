//! The final answer climbs the same ladder as arguments do: read strictly, then leniently; then the
//! agent's `invalid_output` arms; then back to the model.

use crate::{
    Error, Severity, ToolError,
    brain::{Answer, Brain},
    error::{Cause, Misfits, escalation::Escalation},
    model::Message,
    panics::guarded,
    reader,
    recovery::{
        ErrorContext, FAILED_ALREADY, Failed, FixError, FixerRef, Kind, Move, Plan, Raw, ReadError,
        Repair, kinds,
    },
    run::{
        EventKind, Given, RunContext, Stop, Unsettled,
        climb::{Climbed, Unhandled, climb},
        gave_none, give_up_replaced,
    },
    tool::{self, ArgumentError},
    turn::{recover, remembered},
};
use serde_json::Value;

/// What a model is told that takes over from one whose answer did not fit.
const TAKEN_OVER: &str = "you take over from the model that gave it";

/// What became of an answer.
pub(crate) enum Settled<O> {
    /// It is the agent's result.
    Value(O),
    /// It goes back to the model, for this reason.
    Refused(String),
}

/// Reads the final answer that the frame holds, with whatever help the arms give.
///
/// Where it stands is in the frame: a run that was put down here goes on here.
pub(crate) async fn settle<O>(
    brain: &Brain<'_>,
    answer: &Answer<O>,
    cx: &RunContext,
) -> Result<Settled<O>, Error> {
    let strict = brain.strict || cx.root.settings.strict;
    let ladder = Ladder {
        brain,
        cx,
        schema: answer.schema().unwrap_or(&Value::Null),
        strict,
    };
    loop {
        let (text, fault) = cx.node.with_frame(|frame| {
            (
                frame.answer.clone().unwrap_or_default(),
                frame.fault.clone(),
            )
        });
        let handed_up = cx.node.with_frame(|frame| frame.climbing.clone());
        if let Some(escalation) = handed_up {
            return match Box::pin(climb(cx, *escalation, Unhandled::Returned)).await {
                Climbed::Continues => Ok(Settled::Refused(TAKEN_OVER.to_owned())),
                Climbed::Unhandled(escalation) => Err(Error::of_escalation(*escalation, true)),
            };
        }
        let climbing = match fault {
            Some(fault) => ladder.climb(&text, &fault).await?,
            None => match guarded(|| answer.read(&text, strict))
                .unwrap_or_else(|panic| Err(ArgumentError::new("", panic)))
            {
                Ok((value, repairs)) => {
                    let (mut fixed, is_cut_off) = cx.node.with_frame(|frame| {
                        give_up_replaced(&mut frame.fixed, 0, &mut frame.replaced);
                        let is_cut_off = frame.cut_off && frame.replaced.is_empty();
                        (frame.fixed.clone(), is_cut_off)
                    });
                    // JSON that fits as it is has come to its end. Of a repair its result is judged.
                    let is_whole = answer.schema().is_some() && repairs.is_empty();
                    if is_cut_off && !is_whole && cx.repair().is_none() {
                        cx.node.mark_partial();
                    }
                    fixed.extend(repairs);
                    if !fixed.is_empty() {
                        let repairs = cx.masker().data(fixed.clone());
                        tracing::info!(agent = %brain.name, %repairs, "answer repaired");
                        cx.root.answer_repaired(&cx.node, &fixed);
                        cx.emit(|| EventKind::AnswerRepaired {
                            answer: said(cx),
                            repairs: fixed,
                        });
                    }
                    return Ok(Settled::Value(value));
                }
                Err(fault) => {
                    let is_given = cx.node.with_frame(|frame| match frame.replaced.last_mut() {
                        Some(given) => {
                            given.failed(&fault.to_string());
                            frame.progress.failed(&fault.to_string());
                            true
                        }
                        None => false,
                    });
                    // What was given may fail in a field and be mended further; as a whole it was a try.
                    match is_given && fault.path.is_empty() {
                        true => ladder.go_back(&text, &fault),
                        false => ladder.ask_the_arms(&text, fault),
                    }
                }
            },
        };
        if let Climbing::Fell(fault) = climbing {
            let said = cx.node.with_frame(|frame| {
                let hint = frame.hint.take();
                hint.into_iter().chain(frame.progress.cut_short())
            });
            let reason = said.fold(fault, |fault, said| format!("{fault}; {said}"));
            let said = cx.masker().text(&reason);
            tracing::info!(agent = %brain.name, reason = %said, "answer refused");
            cx.emit(|| EventKind::AnswerRefused {
                reason: reason.clone(),
            });
            return Ok(Settled::Refused(reason));
        }
    }
}

/// How an answer that does not fit goes on.
enum Climbing {
    /// The frame says how.
    On,
    /// The model has to be told that this is wrong.
    Fell(String),
}

/// Where an answer that does not fit stands with the arms.
struct Ladder<'a> {
    brain: &'a Brain<'a>,
    cx: &'a RunContext,
    schema: &'a Value,
    strict: bool,
}

impl Ladder<'_> {
    /// A new fault: the arms are asked, and what they say is written down.
    fn ask_the_arms(&self, text: &str, fault: ArgumentError) -> Climbing {
        let decided = guarded(|| self.decide(text, &fault));
        let Some(plan) = decided.unwrap_or_default() else {
            return self.go_back(text, &fault);
        };
        self.cx.node.with_frame(|frame| {
            frame
                .progress
                .follow(plan, &failed(text, &fault.to_string()));
            frame.fault = Some(fault);
        });
        Climbing::On
    }

    /// Nothing is left to be done about this fault. If it is one of what was given for another answer, that one is still
    /// there, and its plan goes on.
    fn go_back(&self, text: &str, fault: &ArgumentError) -> Climbing {
        self.cx.node.with_frame(|frame| {
            let Some(before) = frame.unsettled.pop() else {
                return Climbing::Fell(self.failure(text, fault).to_string());
            };
            before.give_up_since(&mut frame.fixed, &mut frame.replaced);
            frame.progress.go_on_with(before.plan);
            frame.answer = Some(before.text);
            frame.fault = Some(before.failure);
            Climbing::On
        })
    }

    /// Whether the text at hand was given in place of the model's.
    fn is_given(&self) -> bool {
        self.cx.node.with_frame(|frame| !frame.unsettled.is_empty())
    }

    /// The answer as the model gave it, and what is wrong with it; not with what was given in its place.
    fn own_fault(&self, text: &str, fault: &ArgumentError) -> (String, ArgumentError) {
        let first = self
            .cx
            .node
            .with_frame(|frame| frame.unsettled.drain(..).next());
        match first {
            Some(first) => (first.text, first.failure),
            None => (text.to_owned(), fault.clone()),
        }
    }

    /// The next step of the plan.
    async fn climb(&self, text: &str, fault: &ArgumentError) -> Result<Climbing, Error> {
        let next = self
            .cx
            .node
            .with_frame(|frame| frame.progress.next(&failed(text, &fault.to_string()), 0.0));
        match next {
            Move::Read { by, text: new } => self.replace(&by, new, 0, text, fault),
            Move::Ask(fixer) => self.ask(&fixer, text, fault).await?,
            Move::Tell(said) | Move::Escalate { reason: said, .. } if self.is_given() => {
                self.cx.node.with_frame(|frame| {
                    frame.progress.remark(&said);
                    if let Some(given) = frame.replaced.last_mut() {
                        given.remark(&said);
                    }
                });
                return Ok(self.go_back(text, fault));
            }
            Move::Tell(hint) => {
                self.cx.node.with_frame(|frame| frame.hint = Some(hint));
                return Ok(Climbing::Fell(self.failure(text, fault).to_string()));
            }
            Move::Escalate { reason, severity } => {
                self.give_up(&self.brain.name, reason, severity, text, fault);
            }
            Move::Throw(reason) => self.throw(&self.brain.name, reason).await,
            Move::Retry(_) | Move::Withhold { .. } | Move::Spent => {
                return Ok(self.go_back(text, fault));
            }
        }
        Ok(Climbing::On)
    }

    /// This text is read in place of what failed.
    fn replace(&self, by: &str, text: String, tokens: u64, failed: &str, fault: &ArgumentError) {
        self.cx.node.with_frame(|frame| {
            let unsettled = Unsettled::new(
                failed.to_owned(),
                fault.clone(),
                &mut frame.progress,
                &frame.replaced,
                &frame.fixed,
            );
            frame.unsettled.push(unsettled);
            let masker = self.cx.masker();
            let given = Given::new(by, &masker.text(&text), tokens);
            let failed = masker.text(failed);
            frame.fixed.extend(given.used("the answer", &failed));
            frame.replaced.push(given);
            frame.answer = Some(text);
            frame.fault = None;
        });
    }

    fn decide(&self, text: &str, fault: &ArgumentError) -> Option<Plan> {
        let context = ErrorContext {
            tool: self.brain.name.to_string(),
            args: None,
            attempt: self.cx.node.with_frame(|frame| frame.turns),
            previous: self
                .cx
                .node
                .with_frame(|frame| frame.progress.tried().to_vec()),
            run_id: self.cx.root.run_id.clone(),
            scope: self.cx.scope().clone(),
            time_left: self.cx.time_left(),
        };
        let all = self.misfits(text, fault);
        let asked = || {
            self.brain.arms.decide_output(
                &Raw::new(text, self.schema),
                &ReadError::new(&fault.path, &fault.message).among(&all.listed),
                &context,
            )
        };
        let turn = self.cx.node.with_frame(|frame| frame.turns);
        let path = self.cx.node.path();
        let at = format!("{path}/turn{turn:04}/arms{}", context.previous.len());
        remembered::decided(self.cx, at, &self.failure(text, fault), asked)
    }

    async fn ask(&self, fixer: &FixerRef, text: &str, fault: &ArgumentError) -> Result<(), Error> {
        let name = fixer.name().to_owned();
        let (turn, repair) = self.cx.node.with_frame(|frame| {
            let repair = Repair {
                tool: self.brain.name.to_string(),
                description: self.brain.description.to_string(),
                stage: kinds::InvalidOutput::NAME.to_owned(),
                raw: text.to_owned(),
                error: self.failure(text, fault).to_string(),
                schema: self.schema.clone(),
                attempt: frame.progress.asked(&name) + 1,
                previous: frame.progress.before(),
            };
            (frame.turns, repair)
        });
        let place = self.cx.in_answer(turn);
        let recover::Repaired { answer, tokens, .. } =
            recover::ask(self.brain, &place, fixer, repair).await;
        let none = match answer {
            Ok(better) => {
                let told = self.cx.masker().text(&better).into_owned();
                let mut given = Given::new(&name, &told, tokens);
                let next = self
                    .cx
                    .node
                    .with_frame(|frame| frame.progress.answered(&name, better, text));
                match next {
                    Some(Move::Read { by, text: new }) => {
                        self.replace(&by, new, tokens, text, fault);
                    }
                    _ => {
                        given.failed(FAILED_ALREADY);
                        self.cx
                            .node
                            .with_frame(|frame| frame.fixed.extend(given.in_vain()));
                    }
                }
                return Ok(());
            }
            Err(none) => none,
        };
        self.cx.node.with_frame(|frame| {
            frame.fixed.extend(gave_none(&name, &none, tokens));
            frame.progress.gave_none(&name, &none);
        });
        match none {
            FixError::Failed(_) | FixError::Unable(_) => {}
            FixError::Escalated { reason, severity } => {
                self.give_up(&name, reason, severity, text, fault);
            }
            FixError::Thrown(reason) => self.throw(&name, reason).await,
        }
        Ok(())
    }

    /// What is wrong with the answer, as a failure of its agent.
    fn failure(&self, text: &str, fault: &ArgumentError) -> ToolError {
        ToolError::Deserialization {
            raw_value: text.to_owned(),
            path: fault.path.clone(),
            target_type: self.brain.name.to_string(),
            cause: Cause::misfit(fault.message.clone(), self.misfits(text, fault)),
        }
    }

    /// All that is wrong with it, where an object can be made out.
    fn misfits(&self, text: &str, fault: &ArgumentError) -> Misfits {
        match reader::lenient(text) {
            Ok(reading) => tool::misfits(fault, self.schema, &reading.json, !self.strict),
            Err(_) => Misfits::default(),
        }
    }

    /// The answer is handed up: whoever is above is asked next.
    fn give_up(
        &self,
        source: &str,
        reason: String,
        severity: Severity,
        text: &str,
        fault: &ArgumentError,
    ) {
        let (text, fault) = self.own_fault(text, fault);
        let original = self.failure(&text, &fault);
        self.cx.node.with_frame(|frame| {
            frame.climbing = Some(Box::new(Escalation {
                source: source.to_owned(),
                reason,
                severity,
                original,
                attempts: frame.progress.tries(),
                repairs: frame.progress.tries(),
                raised: Vec::new(),
                path: Vec::new(),
                refused: Vec::new(),
            }));
        });
    }

    async fn throw<T>(&self, source: &str, reason: String) -> T {
        match self
            .cx
            .stop(Stop::Thrown {
                source: source.into(),
                reason,
            })
            .await {}
    }
}

/// What a plan's steps have to know of the fault.
fn failed<'a>(text: &'a str, fault: &'a str) -> Failed<'a> {
    Failed {
        text,
        error: fault,
        ..Failed::default()
    }
}

/// What the model said last, whatever has been made of it since.
fn said(cx: &RunContext) -> String {
    cx.node
        .with_frame(|frame| match frame.history.messages().last() {
            Some(Message::Assistant { content, .. }) => content.clone(),
            _ => String::new(),
        })
}
