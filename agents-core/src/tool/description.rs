//! Descriptions of tools, as data for people and programs that do not have the tools.

use super::{Cache, Category, Effects, NeedsApproval, Risk, Status, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// Description of a tool as data, for people and programs that do not have the tool: the data of its [`ToolSpec`].
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::{Effects, Risk, ToolSpec};
/// # #[derive(schemars::JsonSchema)] struct Mail { to: String }
///
/// let send = ToolSpec::of::<Mail>("send", "Sends a mail.", Effects::Writes).external().secret("smtp");
/// let described = send.describe();
/// assert_eq!((described.risk, &described.secrets[..]), (Risk::High, &["smtp".to_owned()][..]));
/// let json = serde_json::to_value(&described).unwrap();
/// assert_eq!(json["input_schema"]["required"][0], "to");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolDescription {
    /// Name by which models call the tool.
    pub name: String,
    /// Version of the tool, such as `1.2.0`.
    pub version: String,
    /// Description of the tool, as models read it.
    pub description: String,
    /// Effects of the tool on the outside world.
    pub effects: Effects,
    /// Is `true` if the tool's effects leave the organisation.
    pub external: bool,
    /// Is `true` if a second execution with the same arguments has no further effect.
    pub idempotent: bool,
    /// Category of the tool, for people who choose among many tools.
    pub category: Category,
    /// Risk of the tool's calls: how much a mistake would cost.
    pub risk: Risk,
    /// Rule by which calls of the tool need a person's approval.
    pub approval: NeedsApproval,
    /// Status of this version of the tool: active, deprecated or blocked.
    pub status: Status,
    /// Rule by which results of the tool are reused.
    pub cache: Cache,
    /// Timeout of one execution; `None` for the run's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Is `true` if the tool can undo its calls.
    pub has_undo: bool,
    /// Reason why the effect of a call cannot be undone; `None` if the tool is not irreversible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<String>,
    /// Names of the secrets that the tool looks up, as far as they were declared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// JSON Schema (draft 7) of the arguments.
    pub input_schema: Value,
    /// JSON Schema (draft 7) of the result; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Worked examples of arguments, which are shown to models that are offered tools
    /// [by prompt](crate::model::prompted).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Value>,
}

impl ToolSpec {
    /// Returns the description of the tool as data, without its code.
    pub fn describe(&self) -> ToolDescription {
        ToolDescription {
            name: self.name.to_string(),
            version: self.version.to_string(),
            description: self.description.to_string(),
            effects: self.effects,
            external: self.external,
            idempotent: self.idempotent,
            category: self.category,
            risk: self.risk_level(),
            approval: self.approval,
            status: self.status.clone(),
            cache: self.cache,
            timeout: self.timeout,
            has_undo: self.has_undo(),
            irreversible: self.irreversible.as_deref().map(str::to_owned),
            secrets: self.secrets.iter().map(ToString::to_string).collect(),
            input_schema: self.input_schema.clone(),
            output_schema: self.output_schema.clone(),
            examples: self.examples.clone(),
        }
    }
}
