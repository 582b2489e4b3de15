use super::{Effects, ErrorText, FnTool, NeedsApproval, ToolContext, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::future::Future;

/// A tool as a server lists it, in the form of MCP's `tools/list`.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::{NeedsApproval, DynTool, Effects, RemoteTool};
/// use serde_json::json;
///
/// let listed: Vec<RemoteTool> = serde_json::from_value(json!([
///     {"name": "get_issue", "description": "Reads an issue.",
///      "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
///      "annotations": {"readOnlyHint": true}},
///     {"name": "close_issue", "inputSchema": {"type": "object"}},
/// ]))?;
/// let tools: Vec<_> = listed
///     .into_iter()
///     .map(|tool| {
///         let name = tool.name.clone();
///         tool.into_tool(move |args, _| {
///             let name = name.clone();
///             // Here the server would be asked.
///             async move { Ok::<_, std::io::Error>(format!("{name} {args}")) }
///         })
///     })
///     .collect();
/// assert_eq!(tools[0].spec().effects, Effects::Reads);
/// assert_eq!(tools[1].spec().approval, NeedsApproval::Always, "it may do anything, to anybody");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteTool {
    /// Name by which the model calls the tool. Add a prefix if two servers have tools of the same name.
    pub name: String,
    /// Description for the model; if it is blank, the name is used.
    #[serde(default)]
    pub description: String,
    /// JSON Schema of the arguments, as the server declares it.
    pub input_schema: Value,
    /// JSON Schema of the result; `None` if the server does not declare it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints that the server gives about the tool; overwrite those that you know better.
    #[serde(default)]
    pub annotations: Annotations,
}

/// Hints of a server about what one of its tools does, as in MCP.
///
/// Hints may be wrong. If you do not trust the server, override them with a [`ToolPolicy`](super::ToolPolicy).
///
/// If a server gives no hint, the worst case of MCP is taken: the tool writes, may destroy something, a second call has a
/// further effect, and the tool reaches beyond the organisation. Calls of such a tool need approval.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Effects, tool::Annotations};
///
/// let said: Annotations = serde_json::from_str(r#"{"readOnlyHint": true, "openWorldHint": false}"#)?;
/// assert_eq!(said.effects(), Effects::Reads);
/// assert_eq!(Annotations::default().effects(), Effects::Writes, "nothing said: the worst");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// Is `true` if the tool changes nothing; `None` if the server does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// Is `false` if the tool's changes only add something, and `true` if they may destroy something; `None` if the server
    /// does not say, which counts as `true`. Unless it is `false`, the calls of a tool that writes need approval even if
    /// the tool reaches nothing outside of the organisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Is `true` if a second call with the same arguments has no further effect; `None` if the server does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// Is `true` if the tool reaches beyond the organisation; `None` if the server does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl Annotations {
    /// Returns the effects that follow from the hints: `Reads` if the server says that the tool changes nothing, else
    /// `Writes`.
    pub fn effects(&self) -> Effects {
        match self.read_only_hint {
            Some(true) => Effects::Reads,
            _ => Effects::Writes,
        }
    }
}

impl RemoteTool {
    /// Returns the specification of the tool, for its use in an agent.
    pub fn spec(&self) -> ToolSpec {
        let RemoteTool {
            name,
            description,
            input_schema,
            output_schema,
            annotations,
        } = self;
        let description = match description.trim() {
            "" => name,
            _ => description,
        };
        let effects = annotations.effects();
        let mut spec = ToolSpec::new(
            name.clone(),
            description.clone(),
            effects,
            input_schema.clone(),
        )
        .output_schema(output_schema.clone());
        if annotations.idempotent_hint == Some(true) {
            spec = spec.idempotent();
        }
        if annotations.open_world_hint != Some(false) {
            spec = spec.external();
        }
        // The approval is declared by the server, not by the author of the tool: a policy may loosen it.
        if effects == Effects::Writes && annotations.destructive_hint != Some(false) {
            spec.approval = NeedsApproval::Always;
        }
        spec
    }

    /// Converts the listed tool into a tool that runs `body`.
    pub fn into_tool<F, Fut, T, E, How>(self, body: F) -> FnTool
    where
        F: Fn(Value, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        T: Serialize,
        E: ErrorText<How>,
    {
        FnTool::with_spec(self.spec(), body)
    }
}
