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
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FinalAnswer {
    pub(crate) candidates: Candidates<ReadError>,
    stage: AnswerStage,
    /// Hint of an arm for the model.
    hint: Option<String>,
}

/// Stage of an answer, which determines the next action.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AnswerStage {
    /// The current text has to be read.
    Read,
    /// The arms have to be asked: the answer does not fit.
    Arms,
    /// A repair agent has to answer.
    Repair(RepairAgentRef),
    /// The failure was handed up, and an agent above has to answer.
    Climb {
        source: Option<String>,
        reason: String,
        severity: Severity,
    },
    /// The answer ends the run, for this reason.
    Throw {
        source: Option<String>,
        reason: String,
    },
    /// The answer goes back to the model.
    Refused,
    /// The answer fits its type, and no validator refuses it.
    Accepted,
}

/// Fact about the final answer of a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AnswerFact {
    /// The current text was read: it fits with these changes, or it does not fit.
    Read(Result<Changes, Misread>),
    /// The arms were asked about the current failure.
    Planned(Option<Plan>),
    /// The repair agent that is to answer is asked, in this turn.
    Repairing { turn: u32 },
    /// The repair agent has answered, after this time.
    Repaired {
        turn: u32,
        answer: Result<String, FixError>,
        tokens: u64,
        #[serde(default)]
        took: Duration,
    },
}

/// Error of an answer that does not fit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Misread {
    #[serde(flatten)]
    pub(crate) error: ReadError,
    /// Text that says what is wrong, in the form of a failure of the agent.
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

    /// Returns the next action, as the stage of the answer.
    pub(crate) fn next(&self) -> &AnswerStage {
        &self.stage
    }

    /// Returns the remarks that the model is told in addition to the failure.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = String> {
        let hint = self.hint.clone();
        hint.into_iter().chain(self.candidates.cut_short())
    }

    /// Applies a fact. Returns `false`, and changes nothing, if the fact does not belong to the stage.
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

    /// Returns to the previous candidate, because no step is left for the current failure.
    fn go_back(&mut self) {
        match self.candidates.go_back() {
            true => self.recover(),
            false => self.stage = AnswerStage::Refused,
        }
    }

    /// Takes the next step that the plan of the arms still allows.
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
