//! One call, as data: what was asked for, how far it has come, and what to do next.

use super::{Attachment, Attempt, ToolEnvelope};
use crate::{
    Json,
    error::{Cause, Code, ErrorReceipt, ToolError, escalation::Escalation},
    model::ToolCall,
    reader::Repairs,
    recovery::Progress,
    tool::{Prepared, ToolSpec},
};
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// Where one call stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CallState {
    pub(crate) call: ToolCall,
    /// Which call of its agent this is, from 0.
    pub(crate) seq: u32,
    pub(crate) stage: Stage,
    /// The id in the receipt; settled when the arguments are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<Arc<str>>,
    pub(crate) attempts: Vec<Attempt>,
    #[serde(default, skip_serializing_if = "Repairs::is_empty")]
    pub(crate) repairs: Repairs,
    /// How many of these were made to texts that are no longer at hand.
    #[serde(default)]
    pub(crate) outdated: usize,
    #[serde(default)]
    pub(crate) progress: Progress,
    /// What an arm wants the model to be told beside the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// The attempt that is being prepared, and the tokens that repairs have cost in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) accounted: Option<(u32, u64)>,
    /// How many seconds the next execution was held back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) waited: Option<f64>,
    /// The version of the tool, if the agent has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// The tool's own name, where the model knows it by another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_name: Option<String>,
    /// The result came from a cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cached: bool,
    /// What belongs to the receipt and lies elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) attachments: Vec<Attachment>,
    /// What is left of the call, once it is settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) receipt: Option<Arc<ToolEnvelope>>,
    /// Milliseconds since 1970; 0 until the call is taken up.
    #[serde(default)]
    pub(crate) started: u64,
    /// Failures that nobody has been told of.
    #[serde(skip)]
    pub(crate) news: Vec<ErrorReceipt>,
    /// How the arguments were changed that have been accepted, if nobody has been told.
    #[serde(skip)]
    pub(crate) mended: Repairs,
    /// The arguments as the tool will take them: made again from the text after a reload.
    #[serde(skip)]
    pub(crate) prepared: Ready,
}

/// How far a call has come.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// The arguments have to be read.
    Read { raw: String },
    /// Somebody has to approve.
    Approve { args: Json },
    /// The tool has to run.
    Execute { args: Json },
    /// The tool has to run again, but not before this time.
    BackOff { args: Json, until: u64 },
    /// It failed, and nobody has been asked what to do.
    Failed { text: String, error: ToolError },
    /// It failed, and an arm has said what to do; the plan is in `progress`.
    Recover { text: String, error: ToolError },
    /// It was given up, and whoever is above is asked.
    Climb {
        text: String,
        escalation: Box<Escalation>,
    },
    /// Settled.
    Done {
        input: Json,
        result: Result<Json, ToolError>,
    },
}

impl CallState {
    pub(crate) fn new(seq: u32, call: ToolCall) -> CallState {
        CallState {
            stage: Stage::Read {
                raw: call.arguments.clone(),
            },
            call,
            seq,
            id: None,
            attempts: Vec::new(),
            repairs: Repairs::default(),
            outdated: 0,
            progress: Progress::default(),
            hint: None,
            accounted: None,
            waited: None,
            version: None,
            own_name: None,
            cached: false,
            attachments: Vec::new(),
            receipt: None,
            started: 0,
            news: Vec::new(),
            mended: Repairs::default(),
            prepared: Ready(None),
        }
    }

    /// The tool that is called is this one.
    pub(crate) fn is_of(&mut self, spec: &ToolSpec) {
        self.version = Some(spec.version.to_string());
        self.own_name = Some(spec.own_name())
            .filter(|own| *own != self.call.name)
            .map(str::to_owned);
    }

    /// The name of the tool, as receipts have it.
    pub(crate) fn tool(&self) -> &str {
        self.own_name.as_ref().unwrap_or(&self.call.name)
    }

    /// The call is refused before anything is read.
    pub(crate) fn refuse(&mut self, error: ToolError) {
        let input = Json::string(&self.call.arguments);
        self.stage = Stage::Done {
            input,
            result: Err(error),
        };
    }

    /// This is what comes of the call, whatever would have.
    pub(crate) fn settle_as(&mut self, input: Json, result: Result<Json, Cause>) {
        let result = result.map_err(|cause| ToolError::Execution {
            args: input.clone(),
            cause,
        });
        self.stage = Stage::Done { input, result };
    }

    /// How many times the tool has run.
    pub(crate) fn executions(&self) -> u32 {
        u32::try_from(self.attempts.len()).unwrap_or(u32::MAX)
    }

    /// Which execution comes next, from 1.
    pub(crate) fn attempt(&self) -> u32 {
        self.executions().saturating_add(1)
    }

    /// Settles the call with an error: the arguments as JSON if that is what they are.
    pub(crate) fn settle(&mut self, text: &str, error: ToolError) {
        let input = match &error {
            ToolError::InvalidArgs { .. } => Json::string(text),
            _ => Json::parse(text).unwrap_or_else(|_| Json::string(text)),
        };
        self.stage = Stage::Done {
            input,
            result: Err(error),
        };
    }

    /// The arguments as they stand.
    pub(crate) fn input(&self) -> Json {
        match &self.stage {
            Stage::Read { raw } => Json::string(raw),
            Stage::Approve { args } | Stage::Execute { args } | Stage::BackOff { args, .. } => {
                args.clone()
            }
            Stage::Failed { text, .. }
            | Stage::Recover { text, .. }
            | Stage::Climb { text, .. } => Json::string(text),
            Stage::Done { input, .. } => input.clone(),
        }
    }

    /// Whether the arguments have been accepted, or never will be: then the id can be settled.
    pub(crate) fn is_identified(&self) -> bool {
        !matches!(
            self.stage,
            Stage::Read { .. } | Stage::Failed { .. } | Stage::Recover { .. } | Stage::Climb { .. }
        )
    }

    /// What the call is a part of ends before the call is settled: it ends with the failure that was being dealt with,
    /// or with having been left undone.
    pub(crate) fn abandon(&mut self, why: &str) {
        if self.result().is_some() {
            return;
        }
        let (text, error) = match &self.stage {
            Stage::Failed { text, error } | Stage::Recover { text, error } => {
                (text.clone(), error.clone())
            }
            Stage::Climb { text, escalation } => {
                (text.clone(), ToolError::from((**escalation).clone()))
            }
            stage => {
                let args = match stage {
                    Stage::Approve { args }
                    | Stage::Execute { args }
                    | Stage::BackOff { args, .. } => args.clone(),
                    _ => Json::string(&self.call.arguments),
                };
                let cause = Cause::text(Code::Unknown, why);
                (
                    args.as_str().to_owned(),
                    ToolError::Execution { args, cause },
                )
            }
        };
        self.settle(&text, error);
    }

    /// What came of the call, once it is settled.
    pub(crate) fn result(&self) -> Option<&Result<Json, ToolError>> {
        match &self.stage {
            Stage::Done { result, .. } => Some(result),
            _ => None,
        }
    }
}

/// Prepared arguments are live values: a copy of the state has none.
#[derive(Default)]
pub(crate) struct Ready(pub(crate) Option<Prepared>);

impl Clone for Ready {
    fn clone(&self) -> Self {
        Ready(None)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "prepared"
        } else {
            "not prepared"
        })
    }
}
