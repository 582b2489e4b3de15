//! Arguments that fit, and the approval that they need.

use super::{Accepted, After, Call, CallFact, News, Stage, wording};
use crate::{
    Json,
    error::{Cause, DenialReason, ToolError},
    journal::executions::{Denied, ExecutionNews, args_digest},
    run::{Approval, ApprovalDecision, ApprovalReason, EarlierDenial, Timestamp},
    tool::Risk,
};
use std::{sync::Arc, time::Duration};

/// Approval of the arguments of a call, by a person or a program.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(super) struct Approved {
    /// Name of the person or program that approved the arguments, if the approver gave one.
    pub(super) by: Option<String>,
    /// Time that the decision took; `None` once an execution has recorded it.
    pub(super) took: Option<Duration>,
    /// Highest risk that the approver may approve; `None` if there is no bound.
    pub(super) at_most: Option<Risk>,
    /// Id of the request that was approved; `None` if no request was made.
    pub(super) request: Option<Arc<str>>,
    /// Answer to the question of the call; `None` if the call asks nothing.
    pub(super) answer: Option<Box<Answered>>,
}

/// Answer to the question of a call.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(super) enum Answered {
    /// A person has answered this.
    Given(Json),
    /// The default, since nobody has answered in time.
    Default(Json),
}

impl Call {
    /// Records that the arguments fit. They run next, unless a policy refuses them or a person has to approve them.
    pub(super) fn accepted(&mut self, accepted: Accepted) -> After {
        let Accepted {
            args,
            changes,
            mut approval,
            reasons,
            risk,
            known,
            denied,
            because,
        } = accepted;
        let is_new = matches!(self.stage, Stage::Read);
        (self.reasons, self.risk, self.known) = (reasons, risk, known);
        if is_new {
            self.candidates.read(changes);
            let edited = self.edited.take().map(|edited| *edited);
            (self.approved, self.begun, self.follows) = (edited, None, None);
            approval |= self.asks_anew();
        }
        if let Some(reason) = denied {
            (self.denied_by, self.revised) = (None, false);
            let cause = Cause::denied(reason);
            return self.denied(
                args,
                match because {
                    Some(because) => cause.because(because),
                    None => cause,
                },
            );
        }
        self.candidates.accept();
        self.stage = match approval && self.approved.is_none() {
            true => Stage::Approve { args, asked: None },
            false => Stage::Execute { args },
        };
        match is_new {
            true => After::news(News::Accepted),
            false => After::default(),
        }
    }

    /// Takes the approval away from arguments that the approver gave, if the approval does not cover them: a person is
    /// asked anew. Returns `true` if the approval was taken away.
    fn asks_anew(&mut self) -> bool {
        let risk = self.risk();
        let is_too_risky = |approved: &Approved| approved.at_most.is_some_and(|most| risk > most);
        if self.approved.as_ref().is_some_and(is_too_risky) {
            self.reasons.push(ApprovalReason::RiskierArguments);
        } else if !self.reasons.iter().any(is_about_the_arguments) {
            return false;
        }
        let Some(given) = self.approved.take() else {
            return false;
        };
        self.follows = given.request.as_deref().map(str::to_owned);
        true
    }

    pub(super) fn decided(
        &mut self,
        args: Json,
        decided: ApprovalDecision,
        took: Duration,
        reason: Option<DenialReason>,
    ) -> After {
        let request = self.key().cloned();
        let ApprovalDecision {
            approval,
            by,
            at_most,
        } = decided;
        self.revised = matches!(approval, Approval::Revise { .. });
        let mut approved = Approved {
            by,
            took: Some(took),
            at_most,
            request,
            answer: None,
        };
        let form = self.answers();
        let default = form.and_then(|form| form.default.clone());
        let why = match (approval, form.is_some()) {
            (Approval::Approve, false) => {
                self.approved = Some(approved);
                self.stage = Stage::Execute { args };
                return After::default();
            }
            (Approval::ApproveWith { args }, false) => {
                self.edited = Some(Box::new(approved));
                self.candidates.edit(args.as_str().to_owned(), self.round());
                self.stage = Stage::Read;
                return After::default();
            }
            (Approval::Answer { answer }, true) => {
                approved.answer = Some(Box::new(Answered::Given(answer)));
                return self.answered(args, approved);
            }
            (Approval::Expired { reason }, true) => match default {
                Some(default) => {
                    approved.answer = Some(Box::new(Answered::Default(default)));
                    self.remark = Some(wording::BY_DEFAULT.to_owned());
                    return self.answered(args, approved);
                }
                None => wording::unanswered(&reason),
            },
            (Approval::Approve | Approval::ApproveWith { .. }, true) => {
                wording::NEEDS_AN_ANSWER.to_owned()
            }
            (Approval::Answer { .. }, false) => wording::ASKS_NOTHING.to_owned(),
            (Approval::Deny { reason }, true) => wording::unanswered(&reason),
            (Approval::Revise { note }, true) => wording::to_be_asked_otherwise(&note),
            (Approval::Deny { reason } | Approval::Expired { reason }, false) => {
                wording::denied(&reason)
            }
            (Approval::Revise { note }, false) => wording::to_be_revised(&note),
        };
        let by = approved.by;
        self.denied_by = by;
        self.candidates.withdraw();
        let cause = Cause::denied(why);
        self.denied(
            args,
            match reason {
                Some(reason) => cause.because(reason),
                None => cause,
            },
        )
    }

    /// Returns the denial that a fact tells of, for later calls like this one; `None` if the fact is another, or the call
    /// asks a question.
    pub(super) fn denial(&self, fact: &CallFact, at: Timestamp) -> Option<ExecutionNews> {
        let CallFact::Decided { decided, .. } = fact else {
            return None;
        };
        let (Approval::Deny { reason } | Approval::Revise { note: reason }) = &decided.approval
        else {
            return None;
        };
        if self.answers().is_some() {
            return None;
        }
        Some(ExecutionNews::Denied(Box::new(Denied {
            tool: self.tool().to_owned(),
            args: args_digest(&self.input()),
            denial: EarlierDenial {
                request: self.key()?.to_string(),
                at,
                by: decided.by.clone(),
                reason: reason.clone(),
            },
        })))
    }

    /// Records the answer to the question that the call asks.
    fn answered(&mut self, args: Json, approved: Approved) -> After {
        self.approved = Some(approved);
        self.stage = Stage::Execute { args };
        After::default()
    }

    /// Records that the arguments which the approver gave do not fit.
    pub(super) fn edit_misread(
        &mut self,
        by: Option<String>,
        text: String,
        error: &ToolError,
    ) -> After {
        self.denied_by = by;
        let args = Json::parse(&*text).unwrap_or_else(|_| Json::string(&text));
        self.denied(args, Cause::denied(wording::edit_misread(error)))
    }

    /// Records that the arguments may not run. If they are the model's own or the approver's, the call ends with this
    /// error. If they are a repair that was not accepted before, the failure that they were to repair is open again.
    fn denied(&mut self, args: Json, cause: Cause) -> After {
        let text = args.as_str().to_owned();
        let error = ToolError::Execution {
            args: args.clone(),
            cause,
        };
        if self.candidates.is_given() {
            let news = News::Failed(Box::new(error.receipt()));
            self.candidates.fail(text, error);
            return self.go_back().with(news);
        }
        self.candidates.accept();
        self.stage = Stage::Done {
            input: args,
            result: Err(error),
        };
        After::default()
    }

    /// Returns `true` if the call was approved with its current arguments.
    pub(crate) fn is_approved(&self) -> bool {
        self.approved.is_some()
    }

    /// Returns the answer to the question of the call: the one that a person gave, or the default; `None` if there is
    /// no answer yet, or the call asks nothing.
    pub(crate) fn answer(&self) -> Option<Json> {
        match self.approved.as_ref()?.answer.as_deref()? {
            Answered::Given(answer) | Answered::Default(answer) => Some(answer.clone()),
        }
    }

    /// Returns `true` if a person has answered the question of the call.
    pub(crate) fn is_answered(&self) -> bool {
        let approved = self.approved.as_ref();
        let answer = approved.and_then(|approved| approved.answer.as_deref());
        matches!(answer, Some(Answered::Given(_)))
    }

    /// Returns `true` if an execution uses an approval that somebody gave: a default answer is none.
    #[cfg(feature = "recordings")]
    pub(crate) fn uses_approval(&self) -> bool {
        self.approved.as_ref().is_some_and(|approved| {
            !matches!(approved.answer.as_deref(), Some(Answered::Default(_)))
        })
    }

    /// Returns the time at which the approver was first asked about the current arguments; `None` unless the decision
    /// is open.
    pub(crate) fn asked_at(&self) -> Option<Timestamp> {
        match self.stage {
            Stage::Approve { asked, .. } => asked,
            _ => None,
        }
    }

    /// Returns `true` if the approver gave the current text, and the text was not read yet.
    pub(crate) fn is_edited(&self) -> bool {
        self.edited.is_some()
    }

    /// Returns the name of the person or program that approved the current arguments, if the approver gave one.
    pub(crate) fn approver(&self) -> Option<String> {
        self.approved.as_ref()?.by.clone()
    }
}

/// Returns `true` if the reason for an approval concerns only these arguments, so that whoever gave the arguments could
/// not know the reason.
fn is_about_the_arguments(reason: &ApprovalReason) -> bool {
    matches!(
        reason,
        ApprovalReason::Repeated(_) | ApprovalReason::DeniedBefore(_)
    )
}
