//! What one call does next, and what it makes of what has happened: [`CallState`] on its way through the
//! stages. Nothing here waits, asks or runs anything.

mod act;
mod recovering;

pub(crate) use act::{Act, Event};

use super::args;
use crate::{
    Json,
    error::{Cause, ToolError},
    run::{Approval, CallState, Ready, Stage, Stop},
    run::{RepairKind, Repairs},
    secret::Masker,
};

impl CallState {
    /// What to do next, as far as reading and the arms decide it.
    pub(crate) fn next(&mut self, rules: &args::Rules<'_>) -> Act {
        loop {
            match &self.stage {
                Stage::Read { raw } => match args::read(rules, raw) {
                    Ok(accepted) => self.accepted(accepted),
                    Err(refused) => self.refused(*refused),
                },
                Stage::Approve { args } => return Act::Approve(args.clone()),
                Stage::Execute { args } => match self.prepared.0.take() {
                    Some(prepared) => return Act::Execute(prepared),
                    // For another attempt, or after a reload: the accepted text is read again.
                    None => match args::read(rules, args.as_str()) {
                        Ok(args::Accepted {
                            denied: Some(reason),
                            args,
                            ..
                        }) => self.denied(args, Cause::denied(reason)),
                        Ok(accepted) => return Act::Execute(accepted.prepared),
                        Err(refused) => self.refused(*refused),
                    },
                },
                Stage::BackOff { until, wait, .. } => {
                    let left = rules.until(*until);
                    let wait = wait.unwrap_or(left);
                    return Act::Sleep { wait, left };
                }
                Stage::Failed { .. } => self.ask_the_arms(rules),
                Stage::Recover { .. } => {
                    if let Some(act) = self.recover(rules) {
                        return act;
                    }
                }
                Stage::Climb { escalation } => return Act::Climb(escalation.clone()),
                Stage::Done { .. } => return Act::Done,
            }
        }
    }

    fn accepted(&mut self, accepted: args::Accepted) {
        let args::Accepted {
            args,
            prepared,
            repairs,
            approval,
            denied,
        } = accepted;
        self.repairs.extend(repairs);
        if let Some(reason) = denied {
            return self.denied(args, Cause::denied(reason));
        }
        self.use_text();
        let changes = self.repairs.iter().skip(self.outdated);
        let changes = changes.filter(|change| change.kind != RepairKind::Tried);
        self.mended = Repairs(changes.cloned().collect());
        self.outdated = self.repairs.len();
        self.given.clear();
        self.prepared = Ready(Some(prepared));
        self.stage = if approval {
            Stage::Approve { args }
        } else {
            Stage::Execute { args }
        };
    }

    fn refused(&mut self, refused: args::Refused) {
        let args::Refused {
            error,
            text,
            repairs,
        } = refused;
        self.repairs.extend(repairs);
        match self.given.last_mut() {
            Some(given) => {
                given.failed(&error.to_string());
                self.refused_again(text, error);
            }
            None => {
                self.shown.get_or_insert_with(|| read_as(&text, &error));
                self.failed(text, error);
            }
        }
    }

    fn failed(&mut self, text: String, error: ToolError) {
        self.news.push(error.receipt());
        self.stage = Stage::Failed { text, error };
    }

    /// What has happened. An event that does not belong to the stage changes nothing.
    pub(crate) fn on(&mut self, event: Event, masker: &Masker) -> Option<Stop> {
        match (event, &self.stage) {
            (Event::Decided(approval), Stage::Approve { args }) => {
                let args = args.clone();
                let why = match approval {
                    Approval::Approve => {
                        self.stage = Stage::Execute { args };
                        return None;
                    }
                    Approval::Deny { reason } => format!("not approved: {reason}"),
                    Approval::Revise { note } => {
                        format!("not approved as it is: {note}; change the call and make it again")
                    }
                };
                self.not_run();
                self.denied(args, Cause::denied(why));
            }
            (Event::Executed(result), Stage::Execute { args }) => {
                let args = args.clone();
                self.shown = Some(args.clone());
                match result {
                    Ok(output) => {
                        self.ran(None);
                        self.stage = Stage::Done {
                            input: args,
                            result: Ok(output),
                        };
                    }
                    Err(cause) => {
                        let text = args.as_str().to_owned();
                        let handed = cause.handed().cloned();
                        let thrown = cause.thrown().map(str::to_owned);
                        let error = ToolError::Execution { args, cause };
                        self.came_to_nothing(&error);
                        if let Some(reason) = thrown {
                            self.failed(text, error);
                            return Some(self.thrown(&reason));
                        }
                        return self.came_back(handed, text, error);
                    }
                }
            }
            (Event::Cached(output), Stage::Execute { args }) => {
                self.cached = true;
                self.stage = Stage::Done {
                    input: args.clone(),
                    result: Ok(output),
                };
            }
            (Event::Woke, Stage::BackOff { args, .. }) => {
                self.stage = Stage::Execute { args: args.clone() }
            }
            (Event::Answered(fixer, answer), Stage::Recover { .. }) => {
                return self.answered(fixer.name(), answer, masker);
            }
            (Event::Climbed(climbed), Stage::Climb { escalation }) => {
                let escalation = (**escalation).clone();
                self.climbed(escalation, climbed);
            }
            _ => {}
        }
        None
    }

    /// What the model asked for is denied, and that is told. What was given for a failure was a try: it did not run,
    /// and what is wrong is wrong still.
    fn denied(&mut self, args: Json, cause: Cause) {
        let error = ToolError::Execution {
            args: args.clone(),
            cause,
        };
        if !self.unsettled.is_empty() {
            return self.refused_text(error);
        }
        self.use_text();
        self.stage = Stage::Done {
            input: args,
            result: Err(error),
        };
    }
}

/// What failed arguments are in a receipt: JSON as far as they could be read.
fn read_as(text: &str, error: &ToolError) -> Json {
    match error {
        ToolError::InvalidArgs { .. } => Json::string(text),
        _ => Json::parse(text).unwrap_or_else(|_| Json::string(text)),
    }
}
