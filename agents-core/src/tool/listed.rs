use super::{Approval, Effects, FnTool, Told, ToolContext, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::future::Future;

/// A tool as a server lists it, in the form of MCP's `tools/list`.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::{Approval, DynTool, Effects, ListedTool};
/// use serde_json::json;
///
/// let listed: Vec<ListedTool> = serde_json::from_value(json!([
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
/// assert_eq!(tools[1].spec().approval, Approval::Always, "it may do anything, to anybody");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedTool {
    /// Name by which the model calls the tool; add a prefix where two servers have tools of one
    /// name.
    pub name: String,
    /// Description for the model; the name if there is none.
    #[serde(default)]
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// JSON Schema of the result, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints of the server; overwrite what you know better.
    #[serde(default)]
    pub annotations: Annotations,
}

/// Hints of a server about what one of its tools does, as in MCP.
///
/// They are hints: whoever trusts the server trusts them, and who does not says so with a
/// [`ToolPolicy`](super::ToolPolicy).
///
/// What is not said is what MCP lays down, which is the worst: the tool writes, twice is not as good as
/// once, and it reaches whomever it likes; so its calls need approval.
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
    /// Whether the tool changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// Whether its changes may destroy something; if so, its calls need approval wherever it
    /// reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Whether calling it twice has no further effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// Whether it reaches beyond the organisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl Annotations {
    /// Returns the effects that these hints amount to.
    pub fn effects(&self) -> Effects {
        match self.read_only_hint {
            Some(true) => Effects::Reads,
            _ => Effects::Writes,
        }
    }
}

impl ListedTool {
    /// Returns the tool's specification.
    pub fn spec(&self) -> ToolSpec {
        let ListedTool {
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
        // Not the tool's own word, but its server's: a policy may say otherwise.
        if effects == Effects::Writes && annotations.destructive_hint == Some(true) {
            spec.approval = Approval::Always;
        }
        spec
    }

    /// Converts into a tool that runs `body`.
    pub fn into_tool<F, Fut, T, E, How>(self, body: F) -> FnTool
    where
        F: Fn(Value, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        T: Serialize,
        E: Told<How>,
    {
        FnTool::with_spec(self.spec(), body)
    }
}
