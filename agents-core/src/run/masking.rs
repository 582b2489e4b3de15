//! Events without secrets. Every variant is named here, so that a new variant cannot be added without deciding which of
//! its texts may hold a secret.

use super::EventKind;
use crate::{Error, secret::Masker};

impl Masker {
    fn string(&self, text: String) -> String {
        match self.text(&text) {
            std::borrow::Cow::Owned(masked) => masked,
            std::borrow::Cow::Borrowed(_) => text,
        }
    }

    /// Returns the event with its secrets replaced by placeholders.
    pub(crate) fn event(&self, kind: EventKind) -> EventKind {
        match kind {
            EventKind::CallStarted {
                tool_call_id,
                tool,
                arguments,
            } => EventKind::CallStarted {
                tool_call_id,
                tool: self.string(tool),
                arguments: self.string(arguments),
            },
            EventKind::CallRepaired {
                tool_call_id,
                tool,
                repairs,
            } => EventKind::CallRepaired {
                tool_call_id,
                tool,
                repairs: self.mask(repairs),
            },
            EventKind::ApprovalRequested(request) => {
                EventKind::ApprovalRequested(self.mask(request))
            }
            EventKind::ApprovalDecided {
                call_id,
                approval,
                by,
            } => EventKind::ApprovalDecided {
                call_id,
                approval: self.mask(approval),
                by: by.map(|by| self.string(by)),
            },
            EventKind::FixerReplied {
                tool,
                fixer,
                answer,
                tokens,
                took,
            } => EventKind::FixerReplied {
                tool,
                fixer,
                answer: match answer {
                    Ok(text) => Ok(self.string(text)),
                    Err(why) => Err(self.string(why)),
                },
                tokens,
                took,
            },
            EventKind::CallFailed {
                tool_call_id,
                tool,
                error,
            } => EventKind::CallFailed {
                tool_call_id,
                tool: self.string(tool),
                error: self.mask(error),
            },
            EventKind::Escalated(escalation) => {
                EventKind::Escalated(Box::new(self.mask(*escalation)))
            }
            EventKind::ResolutionRefused(refused) => {
                EventKind::ResolutionRefused(self.mask(refused))
            }
            EventKind::EscalationSettled(receipt) => {
                EventKind::EscalationSettled(Box::new(self.mask(*receipt)))
            }
            EventKind::AnswerRepaired { answer, repairs } => EventKind::AnswerRepaired {
                answer: self.string(answer),
                repairs: self.mask(repairs),
            },
            EventKind::AnswerFailed { answer, reason } => EventKind::AnswerFailed {
                answer: self.string(answer),
                reason: self.string(reason),
            },
            EventKind::AnswerRefused { reason } => EventKind::AnswerRefused {
                reason: self.string(reason),
            },
            EventKind::Stopped(stopped) => EventKind::Stopped(self.mask(stopped)),
            EventKind::Failed { kind, reason } => EventKind::Failed {
                kind,
                reason: self.string(reason),
            },
            EventKind::Instructed(instruction) => EventKind::Instructed(self.mask(instruction)),
            EventKind::Text(text) => EventKind::Text(self.string(text)),
            EventKind::Thinking(text) => EventKind::Thinking(self.string(text)),
            EventKind::RunStarted { .. }
            | EventKind::AgentStarted
            | EventKind::AgentEnded { .. }
            | EventKind::ModelRequested { .. }
            | EventKind::SkillChosen { .. }
            | EventKind::HandedOff { .. }
            | EventKind::Shortened { .. }
            | EventKind::KnowledgeUsed { .. }
            | EventKind::ModelReplied { .. }
            | EventKind::AttemptStarted { .. }
            | EventKind::TicketGiven { .. }
            | EventKind::SecretLookup { .. }
            | EventKind::BackingOff { .. }
            | EventKind::FixerRequested { .. }
            // Receipts hold no secrets from the beginning.
            | EventKind::CallEnded(_)
            | EventKind::RunEnded { .. } => kind,
        }
    }

    /// Returns the same error with its secrets masked. Its source is kept unless its text, or that of one of its own
    /// sources, has a secret.
    pub(crate) fn error(&self, error: Error) -> Error {
        match self.is_empty() {
            true => error,
            false => error.mapped(|text| self.string(text), |value| self.mask(value)),
        }
    }
}
