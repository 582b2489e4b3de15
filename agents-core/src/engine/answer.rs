//! Reading of the final answer: strictly, then leniently, as arguments are read. Then the agent's `invalid_output` arms
//! may repair the answer; at last, the model has to write it again.

use super::wording;
use crate::{
    Error, ToolError,
    context::RunContext,
    definition::{AgentDefinition, Answer, Validators},
    engine::{climb::climb, repair},
    error::{Cause, Misfits, ReadError},
    escalation::Escalation,
    journal::{AnswerFact, AnswerStage, Fact, Failed, FinalAnswer, Misread, Raiser},
    panics::{self, guarded, guarded_while},
    reader,
    recovery::{ErrorContext, Kind, Plan, Raw, Repair, RepairAgentRef, kinds},
    run::Stop,
    tool,
};
use serde_json::Value;

/// Result of reading and repairing the final answer of a model.
pub(crate) enum Settled<O> {
    /// The final answer fits; this is the agent's output.
    Value(O),
    /// The answer is refused and goes back to the model, for this reason.
    Refused(String),
    /// Another model takes over the conversation, and is told what failed.
    TakenOver,
}

/// Reads the agent's final answer, with repairs by its arms, and returns the output.
///
/// The progress is in the agent's stored state (its frame): a run that was put down in the middle goes on from there.
pub(crate) async fn settle<O>(
    definition: &AgentDefinition<'_>,
    answer: &Answer<O>,
    validators: &Validators<'_, O>,
    cx: &RunContext,
) -> Result<Settled<O>, Error> {
    let place = AnswerSite {
        definition,
        answer,
        cx,
    };
    loop {
        let stage = place.with(|answer| answer.next().clone());
        let fact = match stage {
            AnswerStage::Read | AnswerStage::Accepted => {
                let text = place.with(|answer| answer.text().to_owned());
                // The verdict about an accepted answer is a fact already.
                let is_new = stage == AnswerStage::Read;
                let read = match is_new && place.is_empty(&text) {
                    true => Ok(Err(ReadError::new("", wording::EMPTY_ANSWER))),
                    false => guarded(|| answer.read(&text, place.is_strict(), &cx.root)),
                };
                let read = read.unwrap_or_else(|panic| Err(ReadError::new("", panic)));
                let refused = match &read {
                    Ok(_) if is_new && !validators.is_empty() => {
                        Box::pin(place.refused_by(validators, &text)).await?
                    }
                    _ => None,
                };
                match read {
                    Ok(_) if let Some(error) = refused => {
                        let reason = error.to_string();
                        AnswerFact::Read(Err(Misread { error, reason }))
                    }
                    Ok((value, changes)) => {
                        place.add(AnswerFact::Read(Ok(changes)));
                        place.mark_cut_off();
                        return Ok(Settled::Value(value));
                    }
                    Err(fault) => {
                        let fault = place.in_words_of_the_schema(&text, fault);
                        let reason = place.failure(&text, &fault).to_string();
                        AnswerFact::Read(Err(Misread {
                            error: fault,
                            reason,
                        }))
                    }
                }
            }
            AnswerStage::Arms => {
                let decided = guarded(|| place.decide());
                AnswerFact::Planned(decided.unwrap_or_default())
            }
            AnswerStage::Repair(fixer) => place.ask(&fixer).await,
            AnswerStage::Climb {
                source,
                reason,
                severity,
            } => {
                let source = source.unwrap_or_else(|| definition.name.to_string());
                let Some(Failed { text, error }) = place.own_failure() else {
                    return Ok(Settled::Refused(reason));
                };
                let tries = place.with(|answer| answer.candidates.asked_in_all());
                let escalation = Escalation {
                    source,
                    reason,
                    severity,
                    original: place.failure(&text, &error),
                    attempts: tries,
                    repairs: tries,
                    raised: Vec::new(),
                    path: Vec::new(),
                    refused: Vec::new(),
                };
                return match Box::pin(climb(cx, escalation, Raiser::Answer)).await {
                    Ok(()) => Ok(Settled::TakenOver),
                    Err(escalation) => Err(Error::of_escalation(*escalation, true)),
                };
            }
            AnswerStage::Throw { source, reason } => {
                let source = source.map_or_else(|| (*definition.name).into(), String::into);
                match cx.stop(Stop::Thrown { source, reason }).await {}
            }
            AnswerStage::Refused => return Ok(Settled::Refused(place.refusal())),
        };
        place.add(fact);
    }
}

/// Final answer that is being settled: the agent that gave it, and the place of its state.
struct AnswerSite<'a, O> {
    definition: &'a AgentDefinition<'a>,
    answer: &'a Answer<O>,
    cx: &'a RunContext,
}

impl<O> AnswerSite<'_, O> {
    fn with<R>(&self, f: impl FnOnce(&FinalAnswer) -> R) -> R {
        self.cx.node.frame(|frame| match &frame.answer {
            Some(answer) => f(answer),
            None => f(&FinalAnswer::new(String::new())),
        })
    }

    fn add(&self, fact: AnswerFact) {
        self.cx.node.add(Fact::Answer(fact));
    }

    fn is_strict(&self) -> bool {
        self.definition.strict || self.cx.root.settings.strict
    }

    /// Returns `true` for a text without a word, which is no answer. Only a repair agent may answer with nothing.
    fn is_empty(&self, text: &str) -> bool {
        self.answer.schema().is_none() && text.trim().is_empty() && self.cx.repair().is_none()
    }

    fn schema(&self) -> &Value {
        self.answer.schema().unwrap_or(&Value::Null)
    }

    /// Marks the agent's result as partial if the model's output limit cut the answer off.
    fn mark_cut_off(&self) {
        let cx = self.cx;
        let (is_own, is_as_written) = self.with(|answer| {
            let candidates = &answer.candidates;
            (
                candidates.at() == 0,
                candidates.at_hand().changes.is_empty(),
            )
        });
        // JSON that fits unchanged has come to its end. A repaired text is judged by its result.
        let is_whole = self.answer.schema().is_some() && is_as_written;
        let is_cut_off = cx.node.frame(|frame| frame.cut_off) && is_own;
        if is_cut_off && !is_whole && cx.repair().is_none() {
            cx.node.mark_partial();
        }
    }

    /// Returns the text that refuses the answer, for the model: what is wrong with it.
    fn refusal(&self) -> String {
        let reason = self.own_failure().map_or_else(String::new, |failed| {
            self.failure(&failed.text, &failed.error).to_string()
        });
        let remarks: Vec<_> = self.with(|answer| answer.remarks().collect());
        let remarks = remarks.into_iter();
        remarks.fold(reason, |reason, remark| format!("{reason}; {remark}"))
    }

    /// Returns the failure of the answer as the model itself gave it, before any repair; `None` if that answer has not
    /// failed.
    fn own_failure(&self) -> Option<Failed<ReadError>> {
        self.with(|answer| answer.candidates.own_failure().cloned())
    }

    /// Asks the agent's arms what to do about the current failure of the answer; `None` if no arm decides.
    fn decide(&self) -> Option<Plan> {
        let (failed, previous) = self.with(|answer| {
            let candidates = &answer.candidates;
            (candidates.failed().cloned(), candidates.tried())
        });
        let Failed { text, error } = failed?;
        let context = ErrorContext {
            tool: self.definition.name.to_string(),
            args: None,
            attempt: self.turn(),
            previous,
            run_id: self.cx.root.run_id.clone(),
            scope: self.cx.scope().clone(),
            time_left: self.cx.time_left(),
        };
        let all = self.misfits(&text, &error);
        self.definition.arms.decide_output(
            &Raw::new(&text, self.schema()),
            &ReadError::new(error.path(), error.message()).with_others(all.listed),
            &context,
        )
    }

    /// Asks a repair agent for a text in place of the answer, and returns the result as a fact.
    async fn ask(&self, fixer: &RepairAgentRef) -> AnswerFact {
        let turn = self.turn();
        let (failed, attempt, previous, before) = self.with(|answer| {
            let candidates = &answer.candidates;
            (
                candidates.failed().cloned(),
                candidates.asked(fixer.name()) + 1,
                candidates.previous(),
                candidates.tokens_in(turn),
            )
        });
        let (raw, error) = match failed {
            Some(Failed { text, error }) => {
                let error = self.failure(&text, &error).to_string();
                (text, error)
            }
            None => Default::default(),
        };
        let repair = Repair {
            tool: self.definition.name.to_string(),
            description: self.definition.described().to_owned(),
            stage: kinds::InvalidOutput::NAME.to_owned(),
            raw,
            error,
            schema: self.schema().clone(),
            attempt,
            previous,
        };
        self.add(AnswerFact::Repairing { turn });
        let place = self.cx.in_answer(turn);
        let asked = repair::ask(self.definition, &place, fixer, repair);
        let repair::Repaired {
            answer,
            spent,
            took,
        } = asked.await;
        AnswerFact::Repaired {
            turn,
            answer,
            tokens: spent.saturating_sub(before),
            took,
        }
    }

    fn turn(&self) -> u32 {
        self.cx.node.frame(|frame| frame.turns)
    }

    /// Returns the reason for which a validator refuses the answer; `None` if all accept it. Each validator gets a
    /// value of its own.
    async fn refused_by(
        &self,
        validators: &Validators<'_, O>,
        text: &str,
    ) -> Result<Option<ReadError>, Error> {
        let what = || wording::validator_of(&self.definition.name);
        for validator in validators {
            let Ok((value, _)) = self.answer.read(text, self.is_strict(), &self.cx.root) else {
                continue;
            };
            // The call that makes the future may panic, as well as the future itself.
            let work = async { validator(value).await };
            let place = self.cx.in_answer(self.turn());
            let verdict = guarded_while(place.enter(work)).await;
            if let Err(refused) = verdict.map_err(panics::error(what()))? {
                return Ok(Some(refused));
            }
        }
        Ok(None)
    }

    /// Returns an error of reading in the words of the schema, so that a model can act on it.
    fn in_words_of_the_schema(&self, text: &str, fault: ReadError) -> ReadError {
        let Some(schema) = self.answer.schema() else {
            return fault;
        };
        match reader::lenient(text) {
            Ok(reading) => tool::in_words_of(fault, schema, &reading.json),
            Err(_) => tool::in_words_of(fault, schema, text),
        }
    }

    /// Returns what is wrong with the answer, as a failure of its agent.
    fn failure(&self, text: &str, fault: &ReadError) -> ToolError {
        ToolError::Deserialization {
            raw_value: text.to_owned(),
            path: fault.path().to_owned(),
            target_type: match fault.path() {
                "" => self.answer.type_name(),
                path => tool::type_at(self.schema(), text, path),
            },
            cause: Cause::misfit(fault.message().to_owned(), self.misfits(text, fault)),
        }
    }

    /// Returns the faults of the text for the error, if there are several and JSON can be read from the text; else an
    /// empty list.
    fn misfits(&self, text: &str, fault: &ReadError) -> Misfits {
        let (Some(compiled), Ok(reading)) = (self.answer.compiled(), reader::lenient(text)) else {
            return Misfits::default();
        };
        let found = match self.is_strict() {
            true => compiled.diagnose_strictly(&reading.json),
            false => reader::diagnose(&reading.json, compiled),
        };
        tool::misfits(fault, self.schema(), &found, &reading.json)
    }
}
