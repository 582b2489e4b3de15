//! Final answer as data. An answer is read and repaired in the same way as the arguments of a call.

use super::candidates::{Candidates, Circumstances, Move};
use crate::{
    Severity,
    reader::{Changes, ReadError},
    recovery::{FixError, Plan, RepairAgentRef},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// State of one final answer of a model, from its text to its acceptance.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct FinalAnswer {
    pub(crate) candidates: Candidates<ReadError>,
    stage: AnswerStage,
    /// Hint that an arm has given for the model, beside the failure.
    hint: Option<String>,
}

/// Stage of a final answer, which determines the next action.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) enum AnswerStage {
    /// The text that is tried now has to be read.
    Read,
    /// The arms have to be asked, since the text does not fit.
    Arms,
    /// The repair agent has to be asked for another text.
    Repair(RepairAgentRef),
    /// The failure was escalated, and an agent above has to decide.
    Climb {
        source: Option<String>,
        reason: String,
        severity: Severity,
    },
    /// The final answer ends the run, for this reason.
    Throw {
        source: Option<String>,
        reason: String,
    },
    /// The answer goes back to the model, which has to write another.
    Refused,
    /// The answer fits its type, and no validator refuses it.
    Accepted,
}

/// Fact about the final answer of a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AnswerFact {
    /// The text that is tried now was read: it fits with these changes, or it does not fit.
    Read(Result<Changes, Misread>),
    /// The arms were asked about the current failure, and gave this plan; `None` if no arm decided.
    Planned(Option<Plan>),
    /// A repair agent is asked for another text, in this turn of the agent.
    Repairing { turn: u32 },
    /// The try of the repair agent is over: its answer or the reason why there is none, its tokens and its duration.
    Repaired {
        turn: u32,
        answer: Result<String, FixError>,
        tokens: u64,
        #[serde(default)]
        took: Duration,
    },
}

/// Error of a final answer that does not fit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Misread {
    #[serde(flatten)]
    pub(crate) error: ReadError,
    /// Text that says what is wrong with the answer, as a failure of its agent.
    #[serde(default)]
    pub(crate) reason: String,
}

impl FinalAnswer {
    pub(crate) fn new(text: String) -> Self {
        FinalAnswer {
            candidates: Candidates::of(text),
            stage: AnswerStage::Read,
            hint: None,
        }
    }

    /// Returns the text that is tried now as the answer.
    pub(crate) fn text(&self) -> &str {
        self.candidates.text()
    }

    /// Returns the stage of the answer, by which the engine knows its next action.
    pub(crate) fn next(&self) -> &AnswerStage {
        &self.stage
    }

    /// Returns the remarks that the model is told beside the failure: an arm's hint, and repairs that were cut short.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = String> {
        let hint = self.hint.clone();
        hint.into_iter().chain(self.candidates.cut_short())
    }

    /// Applies a fact to the state of the answer. Returns `false`, and changes nothing, if the fact does not belong to
    /// the stage.
    pub(crate) fn on(&mut self, fact: AnswerFact) -> bool {
        match (fact, &self.stage) {
            (AnswerFact::Read(Ok(changes)), AnswerStage::Read) => {
                self.candidates.read(changes);
                self.candidates.accept();
                self.stage = AnswerStage::Accepted;
            }
            // An accepted answer is read again when a stored run goes on, and may not fit there.
            (
                AnswerFact::Read(Err(Misread { error, .. })),
                AnswerStage::Read | AnswerStage::Accepted,
            ) => {
                // A given text may fail in a field and be repaired further. If it fails as a whole, it was only a try.
                let was_try = self.candidates.is_given() && error.path().is_empty();
                let text = self.candidates.text().to_owned();
                self.candidates.fail(text, error);
                match was_try {
                    true => self.go_back(),
                    false => self.stage = AnswerStage::Arms,
                }
            }
            (AnswerFact::Planned(Some(plan)), AnswerStage::Arms) => {
                self.candidates.follow(plan);
                self.recover();
            }
            (AnswerFact::Planned(None), AnswerStage::Arms) => self.go_back(),
            (AnswerFact::Repairing { .. }, AnswerStage::Repair(_)) => {}
            (
                AnswerFact::Repaired {
                    turn,
                    answer,
                    tokens,
                    took: _,
                },
                AnswerStage::Repair(fixer),
            ) => {
                let fixer = fixer.name().to_owned();
                let ended = answer.as_ref().err().cloned();
                if self.candidates.answered(&fixer, answer, tokens, turn) {
                    self.stage = AnswerStage::Read;
                    return true;
                }
                let source = Some(fixer);
                match ended {
                    Some(FixError::Escalated { reason, severity }) => {
                        self.stage = AnswerStage::Climb {
                            source,
                            reason,
                            severity,
                        };
                    }
                    Some(FixError::Thrown(reason)) => {
                        self.stage = AnswerStage::Throw { source, reason };
                    }
                    Some(FixError::Failed(_) | FixError::Unable(_)) | None => self.recover(),
                }
            }
            _ => return false,
        }
        true
    }

    /// Returns to the text that was tried before, because no step of a plan is left for the current failure.
    fn go_back(&mut self) {
        match self.candidates.go_back() {
            true => self.recover(),
            false => self.stage = AnswerStage::Refused,
        }
    }

    /// Takes the next step of the arms' plans that is still possible, and sets the stage accordingly.
    fn recover(&mut self) {
        self.stage = match self.candidates.next(|_| Circumstances::default()) {
            Move::Read => AnswerStage::Read,
            Move::Ask(fixer) => AnswerStage::Repair(fixer),
            Move::Tell(hint) => {
                self.hint = Some(hint);
                AnswerStage::Refused
            }
            Move::Escalate { reason, severity } => AnswerStage::Climb {
                source: None,
                reason,
                severity,
            },
            Move::Throw(reason) => AnswerStage::Throw {
                source: None,
                reason,
            },
            Move::Retry(_) | Move::Spent => AnswerStage::Refused,
        };
    }
}

#[cfg(test)]
mod tests;
