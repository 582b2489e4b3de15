//! The final answer climbs the same ladder as arguments do: read strictly, then leniently; then the
//! agent's `invalid_output` arms; then back to the model.

use crate::{
    Error,
    agent::{Answer, Brain},
    reader::{Change, ChangeKind, Repairs},
    recovery::{
        ErrorContext, Failed, Fault, FixError, FixerRef, Kind, Move, Plan, Raw, Repair, kinds,
    },
    run::{Cx, EventKind, Stop},
    turn::recover,
};
use serde_json::Value;

/// What became of an answer.
pub(crate) enum Settled<O> {
    /// It is the agent's result.
    Value(O),
    /// It goes back to the model, for this reason.
    Refused(String),
}

/// Reads a final answer, with whatever help the arms give.
pub(crate) async fn settle<O>(
    brain: &Brain<'_>,
    answer: &Answer<O>,
    cx: &Cx,
    text: String,
) -> Result<Settled<O>, Error> {
    let strict = brain.strict || cx.root.settings.strict;
    let mut ladder = Ladder {
        brain,
        cx,
        schema: answer.schema().unwrap_or(&Value::Null),
    };
    let mut text = text;
    let mut fixed = Repairs::default();
    loop {
        let fault = match answer.read(&text, strict) {
            Ok((value, repairs)) => {
                fixed.extend(repairs);
                if !fixed.is_empty() {
                    cx.emit(|| EventKind::AnswerRepaired(fixed));
                }
                return Ok(Settled::Value(value));
            }
            Err(fault) => fault,
        };
        match ladder.next(&text, &fault).await? {
            Some((by, better)) => {
                let note = format!("`{by}` gave the answer anew");
                fixed.extend(Change::new(ChangeKind::Fixed, "", note).into());
                text = better;
            }
            None => {
                let hint = cx.node.with_frame(|frame| frame.hint.take());
                let reason = match hint {
                    Some(hint) => format!("{fault}; {hint}"),
                    None => fault,
                };
                cx.emit(|| EventKind::AnswerRefused {
                    reason: reason.clone(),
                });
                return Ok(Settled::Refused(reason));
            }
        }
    }
}

/// Where an answer that does not fit stands with the arms.
struct Ladder<'a> {
    brain: &'a Brain<'a>,
    cx: &'a Cx,
    schema: &'a Value,
}

impl Ladder<'_> {
    /// Another text to read; `None` when the model has to be told.
    async fn next(&mut self, text: &str, fault: &str) -> Result<Option<(String, String)>, Error> {
        let Some(plan) = self.decide(text, fault) else {
            return Ok(None);
        };
        let failed = Failed {
            text,
            path: "",
            error: fault,
            executions: 0,
            repeatable: false,
            retry_after: None,
        };
        self.cx
            .node
            .with_frame(|frame| frame.progress.follow(plan, &failed));
        loop {
            match self
                .cx
                .node
                .with_frame(|frame| frame.progress.next(&failed, 0.0))
            {
                Move::Read { by, text } => return Ok(Some((by, text))),
                Move::Ask(fixer) => {
                    if let Some(better) = self.ask(fixer, text, fault).await? {
                        return Ok(Some(better));
                    }
                }
                Move::Tell(hint) => {
                    self.cx.node.with_frame(|frame| frame.hint = Some(hint));
                    return Ok(None);
                }
                Move::Escalate { reason, severity } => {
                    return Err(Error::escalated(reason, severity));
                }
                Move::Throw(reason) => self.throw(&self.brain.name, reason).await,
                Move::Retry(_) | Move::Spent => return Ok(None),
            }
        }
    }

    fn decide(&self, text: &str, fault: &str) -> Option<Plan> {
        let context = ErrorContext {
            tool: self.brain.name.to_string(),
            args: None,
            attempt: self.cx.node.with_frame(|frame| frame.turns),
            previous: self
                .cx
                .node
                .with_frame(|frame| frame.progress.tried().to_vec()),
        };
        self.brain.arms.decide_output(
            &Raw::new(text, self.schema),
            &Fault::new("", fault),
            &context,
        )
    }

    async fn ask(
        &self,
        fixer: FixerRef,
        text: &str,
        fault: &str,
    ) -> Result<Option<(String, String)>, Error> {
        let name = fixer.name().to_owned();
        let repair = self.cx.node.with_frame(|frame| Repair {
            tool: self.brain.name.to_string(),
            description: self.brain.description.to_string(),
            stage: kinds::InvalidOutput::NAME.to_owned(),
            raw: text.to_owned(),
            error: fault.to_owned(),
            schema: self.schema.clone(),
            attempt: frame.progress.tries() + 1,
            previous: frame.progress.tried().to_vec(),
        });
        let answer = recover::ask(self.brain, self.cx, &fixer, repair)
            .await
            .answer;
        match answer {
            Ok(better) => {
                let next = self
                    .cx
                    .node
                    .with_frame(|frame| frame.progress.answered(&name, better, text));
                Ok(match next {
                    Some(Move::Read { by, text }) => Some((by, text)),
                    _ => None,
                })
            }
            Err(FixError::Failed(why)) => {
                self.cx
                    .node
                    .with_frame(|frame| frame.progress.gave_nothing(&name, &why));
                Ok(None)
            }
            Err(FixError::Escalated { reason, severity }) => {
                Err(Error::escalated(reason, severity).context(format!("`{name}`")))
            }
            Err(FixError::Thrown(reason)) => self.throw(&name, reason).await,
        }
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
