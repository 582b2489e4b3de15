use crate::{Error, context::RunContext};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{any::Any, fmt, sync::Arc};

/// Name of the model as the author of a text, in reports for repair agents.
pub(crate) const THE_MODEL: &str = "the model";

/// Input of a repair agent: the text that failed, the reason, and the tries before.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{AgentBuilder, Skill};
/// use agents::recovery::Repair;
/// use agents::{Agent, Error};
///
/// // An agent that takes one is a repair agent.
/// let fixer = AgentBuilder::<Repair, String>::new("quotes").skill(Skill::native(
///     "repair",
///     "Puts the right quotes.",
///     |repair: Repair| async move { Ok::<_, Error>(repair.raw.replace('\'', "\"")) },
/// )).build();
/// assert_eq!(fixer.name(), "quotes");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Repair {
    /// Name of the tool whose call failed, or of the agent whose answer failed.
    pub tool: String,
    /// Description of that tool or agent.
    pub description: String,
    /// Kind of failure: `invalid_args`, `deserialization_error`, `execution_error` or
    /// `invalid_output`.
    pub stage: String,
    /// Text that failed: the model's text, or a repair of it that failed in its turn. If arguments were read as an
    /// object, the JSON that was read.
    pub raw: String,
    /// Description of what is wrong with the text, and where.
    pub error: String,
    /// JSON Schema that the text has to follow.
    pub schema: Value,
    /// Number of this repair agent's try at this call or answer, from 1.
    pub attempt: u32,
    /// Other texts that failed. The model's text comes first, unless `raw` is that text. The repairs that were tried
    /// follow in order, whoever gave them.
    pub previous: Vec<FailedRepair>,
}

/// Text that was tried and failed.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// // In a repair agent with a body: what has failed once is not given again.
/// fn next(repair: &Repair) -> Option<String> {
///     let candidates = [repair.raw.replace('\'', "\""), format!("{}}}", repair.raw)];
///     candidates.into_iter().find(|text| repair.previous.iter().all(|tried| tried.text != *text))
/// }
/// # let _ = next;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FailedRepair {
    /// Source of the text: the name of a repair agent; `fix` or `sanitize` for an arm; `the approver`; `the model` for
    /// the text that was to be repaired.
    pub by: String,
    /// Text that was tried; empty if a repair agent gave none.
    pub text: String,
    /// Reason why the text did not help. If arms were asked about this text, their remarks follow.
    pub error: String,
}

/// Input of a repair agent that takes a `String`.
///
/// By default, an agent with a body, whether a function, a [native skill](crate::agent::Skill::native) or a
/// hand-written [`Agent`](crate::Agent), is given the text. An agent that a model drives, if only by one of its skills,
/// is given the report. For several agents composed into one, the first of them decides.
/// [`AgentBuilder::repair_input`](crate::AgentBuilder::repair_input) and
/// [`Profile::repair_input`](crate::agent::Profile::repair_input) override the default.
///
/// ```
/// # use agents_core as agents;
/// use agents::{AgentBuilder, recovery::RepairInput};
///
/// // A model that was trained on broken texts alone.
/// let mender = AgentBuilder::<String, String>::new("mender").repair_input(RepairInput::Raw).build();
/// # let _ = mender;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairInput {
    /// The repair agent is given the text that failed and nothing else: [`Repair::raw`].
    Raw,
    /// The repair agent is given the whole [`Repair`] in words: the tool, the error, the schema, the tries before, and
    /// the text.
    Report,
}

impl RepairInput {
    /// Converts the report into the input of a repair agent. Only an input of type `String` can be the bare text.
    pub(crate) fn of<I: From<Repair> + 'static>(self, repair: Repair) -> I {
        let mut raw = (self == RepairInput::Raw).then(|| repair.raw.clone());
        let raw: Option<&mut Option<I>> = (&mut raw as &mut dyn Any).downcast_mut();
        raw.and_then(Option::take).unwrap_or_else(|| repair.into())
    }
}

/// Writes the report in words, as the input of a repair agent that takes a `String`.
impl From<Repair> for String {
    fn from(repair: Repair) -> String {
        repair.to_string()
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repair {
            tool,
            description,
            raw,
            error,
            schema,
            previous,
            ..
        } = self;
        write!(f, "The JSON for `{tool}`")?;
        if !description.is_empty() {
            write!(f, " ({description})")?;
        }
        writeln!(f, " cannot be used.")?;
        writeln!(f, "What is wrong: {error}")?;
        writeln!(f, "It has to follow this JSON Schema: {schema}")?;
        for FailedRepair { by, text, error } in previous {
            match &**text {
                text if by == THE_MODEL => {
                    writeln!(f, "The model wrote this at first ({error}): {text}")?;
                }
                "" => writeln!(f, "`{by}` gave nothing ({error})")?,
                text => writeln!(f, "`{by}` tried this in vain ({error}): {text}")?,
            }
        }
        write!(f, "The JSON: {raw}")
    }
}

/// Agent that can repair a call or an answer. Its input is a [`Repair`], or a type made from a `Repair` such as
/// `String`, and its output is the new text. [`RepairInput`] tells what a `String` input holds.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::{Decision, InvalidArgs, fix, fix_with};
/// use agents::AgentBuilder;
///
/// let mender = AgentBuilder::<String, String>::new("mender").prompt("Answer with the JSON alone.").build();
/// let decision: Decision<InvalidArgs> = fix(None).or(fix_with(mender).retries(2));
/// assert_eq!(decision.steps().len(), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot repair a call",
    label = "not a repair agent",
    note = "a repair agent is an agent whose `In` is `String`, `Repair` or any other `From<Repair>`, and whose `Out` is `String`"
)]
#[async_trait]
pub trait Fixer: Send + Sync + 'static {
    // The hidden methods are for the engine: every agent of the right types has them.
    /// Returns the name of the repair agent.
    #[doc(hidden)]
    fn fixer_name(&self) -> &str;

    /// Runs the agent as a part of the run that `cx` belongs to.
    ///
    /// # Errors
    /// When the repair agent fails.
    #[doc(hidden)]
    async fn repair(&self, cx: &RunContext, repair: Repair) -> Result<String, Error>;
}

pub(crate) type SharedFixer = Arc<dyn Fixer>;

/// Reference to a repair agent by its name.
///
/// A reference made in this process holds the repair agent itself. The name of a reference that was read from a stored
/// run is looked up among the `fixers` of the agent that calls, and of the tool.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RepairAgentRef {
    name: String,
    #[serde(skip)]
    live: Option<SharedFixer>,
}

impl RepairAgentRef {
    pub(super) fn new(agent: impl Fixer) -> Self {
        RepairAgentRef {
            name: agent.fixer_name().to_owned(),
            live: Some(Arc::new(agent)),
        }
    }

    /// Returns the name of the repair agent that is referred to.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn live(&self) -> Option<&SharedFixer> {
        self.live.as_ref()
    }
}

impl PartialEq for RepairAgentRef {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for RepairAgentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Reason why a repair agent gave no text. The kind of reason decides how the recovery goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FixError {
    /// The repair agent failed, which uses up a try.
    Failed(String),
    /// The repair agent cannot be asked, and another try would not change that: the next step is taken.
    Unable(String),
    /// The repair agent escalated the failure.
    Escalated {
        reason: String,
        severity: crate::Severity,
    },
    /// The repair agent ended the run, for this reason.
    Thrown(String),
}

impl FixError {
    /// Returns the reason in words why there is no text.
    pub(crate) fn reason(&self) -> &str {
        match self {
            FixError::Failed(why) | FixError::Unable(why) | FixError::Thrown(why) => why,
            FixError::Escalated { reason, .. } => reason,
        }
    }
}

impl fmt::Display for FixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FixError::Failed(why) | FixError::Unable(why) => f.write_str(why),
            FixError::Escalated { reason, severity } => {
                write!(f, "escalated ({severity}): {reason}")
            }
            FixError::Thrown(reason) => write!(f, "thrown: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FailedRepair, Repair};
    use serde_json::json;

    #[test]
    fn a_repair_in_words() {
        let repair = |description: &str| Repair {
            tool: "read_file".into(),
            description: description.into(),
            stage: "invalid_args".into(),
            raw: "a.txt, please".into(),
            error: "no JSON".into(),
            schema: json!({"type": "object"}),
            attempt: 2,
            previous: vec![FailedRepair {
                by: "fix".into(),
                text: "{".into(),
                error: "it ends early".into(),
            }],
        };
        let rest = "What is wrong: no JSON\n\
            It has to follow this JSON Schema: {\"type\":\"object\"}\n\
            `fix` tried this in vain (it ends early): {\n\
            The JSON: a.txt, please";
        assert_eq!(
            repair("Reads.").to_string(),
            format!("The JSON for `read_file` (Reads.) cannot be used.\n{rest}")
        );
        assert_eq!(
            repair("").to_string(),
            format!("The JSON for `read_file` cannot be used.\n{rest}")
        );
    }
}
