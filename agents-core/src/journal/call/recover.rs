//! Recovery of a failed call: the arms are asked, and their plan is followed to the next candidate.

use super::{After, Call, News, Refused, Stage, wording};
use crate::{
    Json,
    error::{Cause, Code, Handed, Severity, ToolError},
    escalation::{Escalation, EscalationHop},
    journal::candidates::{Candidates, Circumstances, Move},
    recovery::{FixError, Plan},
    run::Stop,
};

impl Call {
    /// Records that the arguments do not fit. If the approver gave them, the call is denied. A repair that cannot be
    /// read was a failed try. In any other case, the arms are asked next.
    pub(super) fn misread(&mut self, refused: Refused) -> After {
        let Refused {
            error,
            text,
            changes,
        } = refused;
        if let Some(edited) = self.edited.take() {
            return self.edit_misread(edited.by, text, &error);
        }
        self.candidates.read(changes);
        if !self.candidates.is_given() {
            let news = News::Failed(Box::new(error.receipt()));
            self.shown.get_or_insert_with(|| read_as(&text, &error));
            self.candidates.fail(text, error);
            self.stage = Stage::Arms;
            return After::news(news);
        }
        let given = self.candidates.at_hand();
        let told = error.receipt().with_author(given.by.name());
        let ToolError::Deserialization { path, .. } = &error else {
            // Text that cannot be read counts as a failed attempt.
            self.candidates.fail(text, error);
            return self.go_back().with(News::Failed(Box::new(told)));
        };
        // A value put into the text before has settled its field if another is at fault now, which is the model's.
        let settled = given.is_one_value() && self.is_elsewhere(path);
        let told = match settled {
            true => error.receipt(),
            false => told,
        };
        let news = News::Failed(Box::new(told));
        self.candidates.fail(text, error);
        if settled {
            self.candidates.settle_before();
        }
        self.stage = Stage::Arms;
        After::news(news)
    }

    /// Returns `true` if a fault at this path is not the one for which the repaired text was given.
    fn is_elsewhere(&self, path: &str) -> bool {
        let before = self.candidates.at_hand().instead_of;
        let failed = before.and_then(|before| self.candidates.get(before).failed());
        let Some(field) = failed.and_then(|failed| failed.error.field()) else {
            return false;
        };
        let within = path.strip_prefix(field);
        !path.is_empty()
            && within.is_none_or(|rest| !matches!(rest.bytes().next(), None | Some(b'.' | b'[')))
    }

    /// Records that the tool failed, or that a limiter held the call back. The arms are asked next, unless the tool has
    /// ended the run or has handed an escalation over.
    pub(super) fn failed_to_run(&mut self, args: Json, mut cause: Cause) -> After {
        let text = args.as_str().to_owned();
        let handed = cause.hand_over();
        let thrown = cause.thrown().map(str::to_owned);
        let error = ToolError::Execution { args, cause };
        if error.is_limited() {
            self.held_back += 1;
        } else {
            self.ran(Some(&error));
            self.failed_run = Some(Box::new(error.clone()));
        }
        let news = News::Failed(Box::new(error.receipt()));
        self.candidates.fail(text, error.clone());
        if let Some(reason) = thrown {
            // A throw is no failure of the call: it ends the run.
            return self.throw(self.call.name.clone(), &reason);
        }
        match handed {
            None => {
                self.stage = Stage::Arms;
                After::news(news)
            }
            Some(Handed::Up(escalation)) => {
                self.stage = Stage::Climb {
                    escalation: Box::new(Escalation {
                        original: error,
                        attempts: self.executions() + self.candidates.asked_in_all(),
                        repairs: self.candidates.asked_in_all(),
                        ..escalation
                    }),
                };
                After::news(news)
            }
            Some(Handed::Back(escalation)) => {
                self.unhandled(escalation);
                After::default()
            }
            Some(Handed::Unfit(reason)) => {
                let agent = self.call.name.as_str().into();
                self.end(Stop::Unfit { agent, reason })
            }
        }
    }

    /// Follows the plan that the arms gave. Without a plan, returns to the arguments that were tried before, or settles
    /// the call.
    pub(super) fn planned(&mut self, plan: Option<Plan>) -> After {
        match plan {
            Some(plan) => {
                self.candidates.follow(plan);
                self.recover()
            }
            None => self.go_back(),
        }
    }

    /// Returns to the arguments that were tried before, because no step of a plan is left for the current failure. If
    /// there are no such arguments, settles the call.
    pub(super) fn go_back(&mut self) -> After {
        match self.candidates.go_back() {
            true => self.recover(),
            false => {
                self.settle();
                After::default()
            }
        }
    }

    /// Takes the next step of the arms' plan that is still allowed, such as a retry or a repair.
    fn recover(&mut self) -> After {
        let (rounds, repeatable) = (self.rounds(), self.is_repeatable());
        let in_doubt = self.may_have_taken_effect();
        let next = self.candidates.next(|failure| Circumstances {
            rounds,
            // A repeated execution would have the same missing credentials.
            repeatable: failure.code() != Code::AuthRequired
                && (repeatable || failure.is_limited()),
            in_doubt,
            retry_after: match failure {
                ToolError::Execution { cause, .. } => cause.retry_after(),
                _ => None,
            },
        });
        if self.candidates.any_withheld() {
            self.remark
                .get_or_insert_with(|| wording::WITHHELD.to_owned());
        }
        match next {
            Move::Read => self.stage = Stage::Read,
            Move::Ask(fixer) => self.stage = Stage::Repair(fixer),
            Move::Retry(wait) => match self.candidates.failed().map(|failed| &failed.error) {
                Some(ToolError::Execution { args, .. }) => {
                    let args = args.clone();
                    self.stage = Stage::BackOff { args, wait };
                }
                _ => self.settle(),
            },
            Move::Tell(hint) => {
                self.hint = Some(hint);
                self.settle();
            }
            Move::Escalate { reason, severity } => {
                self.give_up(self.call.name.clone(), reason, severity);
            }
            Move::Throw(reason) => return self.throw(self.call.name.clone(), &reason),
            Move::Spent => self.settle(),
        }
        After::default()
    }

    /// Records the answer of a repair agent: a text that is read next, or the reason why there is none.
    pub(super) fn repaired(
        &mut self,
        fixer: &str,
        answer: Result<String, FixError>,
        tokens: u64,
    ) -> After {
        let round = self.round();
        let (is_text, ended) = match &answer {
            Ok(_) => (true, None),
            Err(why) => (false, Some(why.clone())),
        };
        if self.candidates.answered(fixer, answer, tokens, round) {
            self.stage = Stage::Read;
            return After::default();
        }
        match ended {
            Some(FixError::Escalated { reason, severity }) => {
                self.give_up(fixer.to_owned(), reason, severity);
                After::default()
            }
            Some(FixError::Thrown(reason)) => self.throw(fixer.to_owned(), &reason),
            Some(FixError::Failed(_) | FixError::Unable(_)) | None => {
                let given = self.candidates.iter().count() - 1;
                let after = self.recover();
                match is_text {
                    true => after.with(News::Again(given)),
                    false => after,
                }
            }
        }
    }

    /// Escalates the failure of the call: the agents above are asked next.
    fn give_up(&mut self, source: String, reason: String, severity: Severity) {
        let Some(original) = own_failure(&self.candidates) else {
            return;
        };
        let escalation = Box::new(Escalation {
            source,
            reason,
            severity,
            original,
            attempts: self.executions() + self.candidates.asked_in_all(),
            repairs: self.candidates.asked_in_all(),
            raised: Vec::new(),
            path: Vec::new(),
            refused: Vec::new(),
        });
        self.stage = Stage::Climb { escalation };
    }

    /// Settles the call with the escalation as its error, and a remark for the model that takes over from the one that
    /// made the call.
    pub(super) fn taken_over(&mut self, raised: Escalation) {
        let remark = match self.is_in_doubt() {
            true => wording::TAKEN_OVER_IN_DOUBT,
            false => wording::TAKEN_OVER,
        };
        self.climbed(raised, remark);
    }

    /// Settles the call with an escalation that no agent above has handled and that does not end the run; the model is
    /// told of it.
    pub(super) fn unhandled(&mut self, escalation: Escalation) {
        self.climbed(escalation, wording::UNSETTLED);
    }

    /// Settles the call with the escalation as its error and a remark for the model; the agent goes on.
    fn climbed(&mut self, escalation: Escalation, remark: &str) {
        let above = escalation
            .raised
            .iter()
            .skip(1)
            .map(EscalationHop::passed_on);
        let remarks: Vec<_> = above.chain([remark.to_owned()]).collect();
        self.remark = Some(remarks.join("; "));
        self.settle_with(escalation.into());
    }

    /// Ends the run because of this call, for this reason.
    fn throw(&mut self, source: String, reason: &str) -> After {
        self.thrown = Some(reason.to_owned());
        self.end(Stop::Thrown {
            source: source.into(),
            reason: reason.to_owned(),
        })
    }

    fn end(&mut self, stop: Stop) -> After {
        self.stage = Stage::EndsRun;
        self.ends = Some(Box::new(stop.clone()));
        After::stop(stop)
    }
}

/// Returns the failure that the call itself is reported with: that of the model's own arguments or of an execution, not
/// that of a repair.
pub(super) fn own_failure(candidates: &Candidates<ToolError>) -> Option<ToolError> {
    candidates.own_failure().map(|failed| failed.error.clone())
}

/// Returns arguments that failed as a receipt shows them: as JSON if an object could be read from them, else as a text.
fn read_as(text: &str, error: &ToolError) -> Json {
    match error {
        ToolError::InvalidArgs { .. } => Json::string(text),
        _ => Json::parse(text).unwrap_or_else(|_| Json::string(text)),
    }
}
