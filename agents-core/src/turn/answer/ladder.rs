//! What is done about an answer that does not fit: the arms decide, and their plan is followed step by step.

use super::refused;
use crate::{
    Error, Severity, ToolError,
    brain::Brain,
    error::{Cause, Misfits, ReadError, escalation::Escalation},
    panics::guarded,
    reader::{self, Schema},
    recovery::{
        ErrorContext, FAILED_ALREADY, Failed, FixError, FixerRef, Kind, Move, Plan, Raw, Repair,
        kinds,
    },
    run::{EventKind, Given, RunContext, Stop, Unsettled, gave_none},
    tool,
    turn::{recover, remembered},
};
use serde_json::Value;

/// How an answer that does not fit goes on.
pub(super) enum Climbing {
    /// The frame says how.
    On,
    /// The model has to be told that this is wrong.
    Fell(String),
}

/// Where an answer that does not fit stands with the arms.
pub(super) struct Ladder<'a> {
    pub(super) brain: &'a Brain<'a>,
    pub(super) cx: &'a RunContext,
    pub(super) schema: &'a Value,
    pub(super) compiled: Option<&'a Schema>,
    pub(super) strict: bool,
}

impl Ladder<'_> {
    /// This text does not fit: the model's, or one that was given in its place.
    pub(super) fn tell(&self, text: &str, reason: &str) {
        let said = self.cx.masker().text(reason);
        tracing::info!(agent = %self.brain.name, error = %said, "answer failed");
        refused(self.cx, true);
        self.cx.emit(|| EventKind::AnswerFailed {
            answer: text.to_owned(),
            reason: reason.to_owned(),
        });
    }

    /// A new fault: the arms are asked, and what they say is written down.
    pub(super) fn ask_the_arms(&self, text: &str, fault: ReadError) -> Climbing {
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
    pub(super) fn go_back(&self, text: &str, fault: &ReadError) -> Climbing {
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
    fn own_fault(&self, text: &str, fault: &ReadError) -> (String, ReadError) {
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
    pub(super) async fn climb(&self, text: &str, fault: &ReadError) -> Result<Climbing, Error> {
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
    fn replace(&self, by: &str, text: String, tokens: u64, failed: &str, fault: &ReadError) {
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

    fn decide(&self, text: &str, fault: &ReadError) -> Option<Plan> {
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
                &ReadError::new(fault.path(), fault.message()).among(all.listed.clone()),
                &context,
            )
        };
        let turn = self.cx.node.with_frame(|frame| frame.turns);
        let path = self.cx.node.path();
        let at = format!("{path}/turn{turn:04}/arms{}", context.previous.len());
        remembered::decided(self.cx, at, &self.failure(text, fault), asked)
    }

    async fn ask(&self, fixer: &FixerRef, text: &str, fault: &ReadError) -> Result<(), Error> {
        let name = fixer.name().to_owned();
        let (turn, repair) = self.cx.node.with_frame(|frame| {
            let repair = Repair {
                tool: self.brain.name.to_string(),
                description: self.brain.described().to_owned(),
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
                        self.tell(&told, FAILED_ALREADY);
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
    pub(super) fn failure(&self, text: &str, fault: &ReadError) -> ToolError {
        ToolError::Deserialization {
            raw_value: text.to_owned(),
            path: fault.path().to_owned(),
            target_type: self.brain.name.to_string(),
            cause: Cause::misfit(fault.message().to_owned(), self.misfits(text, fault)),
        }
    }

    /// All that is wrong with it, where an object can be made out.
    fn misfits(&self, text: &str, fault: &ReadError) -> Misfits {
        let (Some(compiled), Ok(reading)) = (self.compiled, reader::lenient(text)) else {
            return Misfits::default();
        };
        let found = match self.strict {
            true => compiled.diagnose_strictly(&reading.json),
            false => reader::diagnose(&reading.json, compiled),
        };
        tool::misfits(fault, self.schema, &found, &reading.json)
    }

    /// The answer is handed up: whoever is above is asked next.
    fn give_up(
        &self,
        source: &str,
        reason: String,
        severity: Severity,
        text: &str,
        fault: &ReadError,
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
