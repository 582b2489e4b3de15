//! Undoing calls: what an undo came to, and the tool that undoes the calls of another tool.

use super::{
    DynTool, Effects, NeedsApproval, Prepared, ReadError, SharedTool, ToolContext, ToolSpec, read,
    wording,
};
use crate::{
    Json,
    error::{Cause, Code, ToolError},
    evidence,
};
use async_trait::async_trait;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use std::{fmt, hash::Hasher, marker::PhantomData, sync::Arc};

/// Outcome of an undo, as a tool's `undo` returns it.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Effects, tool::{FnTool, conflict, undone}};
/// # use serde_json::{Value, json};
/// # #[derive(Clone)] struct Crm;
/// # impl Crm {
/// #     async fn set(&self, _: &Value) -> Result<Value, std::io::Error> { Ok(json!({"previous": "new"})) }
/// #     async fn restore(&self, _: &Value, _: &Value) -> Result<bool, std::io::Error> { Ok(true) }
/// # }
/// # let schema = json!({"type": "object"});
/// # let (crm, same) = (Crm, Crm);
///
/// let set_status = FnTool::new("set_status", "Sets the status of a lead.", Effects::Writes, schema, move |args, _| {
///     let crm = crm.clone();
///     async move { crm.set(&args).await }
/// })
/// .undo(move |args, output, _| {
///     let crm = same.clone();
///     async move {
///         Ok::<_, std::io::Error>(match crm.restore(&args["lead_id"], &output["previous"]).await? {
///             true => undone(),
///             false => conflict("the lead was changed since"),
///         })
///     }
/// });
/// # use agents::tool::DynTool as _;
/// assert!(set_status.spec().has_undo());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Undone {
    /// The effect of the call is undone.
    Done,
    /// The effect of the call cannot be undone, because something else has happened since; nothing was changed.
    Conflict {
        /// Description of the later change to the same data, which prevents the undo.
        what: String,
    },
}

/// Creates the outcome of an undo that has undone the effect of the call, for an `undo` to return. [`Undone`] shows
/// both outcomes.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::{Undone, conflict, undone};
///
/// // Nobody has written since: the value of before may come back.
/// let restored = |version: u32, now: u32| match version == now {
///     true => undone(),
///     false => conflict(format!("the lead has version {now} by now")),
/// };
/// assert_eq!(restored(3, 3), Undone::Done);
/// ```
pub fn undone() -> Undone {
    Undone::Done
}

/// Creates the outcome of an undo that has changed nothing, because something else has changed the same data since.
pub fn conflict(what: impl Into<String>) -> Undone {
    Undone::Conflict { what: what.into() }
}

impl Undone {
    /// Returns the outcome as the output of a call: `{"undone": true}` or `{"conflict": ".."}`.
    fn output(&self) -> Value {
        match self {
            Undone::Done => json!({ "undone": true }),
            Undone::Conflict { what } => json!({ "conflict": what }),
        }
    }
}

/// Output of an earlier call, as it was stored; [`read`](StoredOutput::read) returns the value.
///
/// See [`Tool::undo`](super::Tool::undo).
///
/// ```
/// # use agents_core as agents;
/// use agents::{Json, tool::StoredOutput};
///
/// #[derive(serde::Deserialize)]
/// struct Changed { previous: String }
///
/// let output = StoredOutput::<Changed>::new(Json::parse(r#"{"previous": "new"}"#)?);
/// assert_eq!(output.read()?.previous, "new");
///
/// // The type has changed since the call: its author is told the field, and the call stays as it is.
/// let error = StoredOutput::<Changed>::new(Json::parse(r#"{"old": "new"}"#)?).read().err().unwrap();
/// assert!(error.to_string().contains("previous"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StoredOutput<T> {
    json: Json,
    of: PhantomData<fn() -> T>,
}

impl<T> StoredOutput<T> {
    /// Creates the output of a call that is to be undone, from its stored JSON.
    pub fn new(json: Json) -> Self {
        StoredOutput {
            json,
            of: PhantomData,
        }
    }

    /// Returns the output of the execution that is undone, as JSON.
    pub fn json(&self) -> &Json {
        &self.json
    }

    /// Reads the output of the call as a `T`, strictly.
    ///
    /// # Errors
    /// When the stored JSON does not fit the type, for instance because the type has changed since.
    pub fn read(&self) -> Result<T, ToolError>
    where
        T: DeserializeOwned,
    {
        read_stored(&self.json)
    }
}

impl<T> Clone for StoredOutput<T> {
    fn clone(&self) -> Self {
        Self::new(self.json.clone())
    }
}

impl<T> fmt::Debug for StoredOutput<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoredOutput").field(&self.json).finish()
    }
}

/// Reads the output of an earlier call into its type, so that the call can be undone; the error says why the output
/// does not fit.
pub(crate) fn read_stored<T: DeserializeOwned>(output: &Json) -> Result<T, ToolError> {
    read(output.as_str()).map_err(|misfit| {
        let path = misfit.path();
        let at = match path {
            "" => String::new(),
            path => format!("field `{path}`: "),
        };
        wording::undo_unfit(&format!("{at}{}", misfit.message())).into()
    })
}

/// Returns the tool that undoes calls of this tool, or `None` if the tool has no undo.
///
/// The returned tool is called `undo_NAME`, and has the same version. Its arguments are the arguments and the output of
/// the call that is undone: `{"args": {..}, "output": ..}`. They are read strictly. The output of the undo is
/// `{"undone": true}` or `{"conflict": ".."}`.
///
/// The undo counts as a tool that writes. It has the risk and the timeout of the tool, and is external or idempotent if
/// the tool is. If every call of the tool needs approval, so does every undo. The same holds if approval depends on the
/// arguments of a call, because that condition says nothing about an undo. The undo of a blocked or deprecated tool
/// stays active, because a tool may be blocked for the harm that its calls did.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Effects, tool::{FnTool, IntoTool, undo_tool, undone}};
/// use serde_json::json;
///
/// let schema = json!({"type": "object"});
/// let pay = FnTool::new("pay", "Pays.", Effects::Writes, schema, |_, _| async { Ok::<_, std::io::Error>("paid") });
/// assert!(undo_tool(&pay.clone().into_tool()).is_none());
///
/// let pay = pay.undo(|_, _, _| async { Ok::<_, std::io::Error>(undone()) }).into_tool();
/// let undo = undo_tool(&pay).expect("it has an undo");
/// assert_eq!(undo.spec().name, "undo_pay");
/// ```
pub fn undo_tool(tool: &SharedTool) -> Option<SharedTool> {
    let spec = tool.spec();
    spec.has_undo().then(|| {
        Arc::new(Undo {
            spec: spec_of_undo(spec),
            tool: tool.clone(),
        }) as SharedTool
    })
}

/// Tool that undoes the calls of another tool, as [`undo_tool`] returns it.
struct Undo {
    tool: SharedTool,
    spec: ToolSpec,
}

/// Arguments of an undo: the arguments and the output of the execution that is undone.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UndoArgs {
    args: Json,
    output: Json,
}

/// Arguments of an undo that were read, ready for one execution.
struct Ready {
    args: Prepared,
    output: Json,
}

#[async_trait]
impl DynTool for Undo {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, arguments: &str) -> Result<Prepared, ReadError> {
        // Numbers stay as they were stored: neither value passes through a tree of values.
        let UndoArgs { args, output } = read(arguments)?;
        let args = evidence::stored(|| self.tool.prepare(args.as_str())).map_err(|misfit| {
            let path = match misfit.path() {
                "" => "args".to_owned(),
                path => format!("args.{path}"),
            };
            ReadError::new(path, misfit.message())
        })?;
        Ok(Prepared(Box::new(Ready { args, output })))
    }

    fn hash_instance(&self, state: &mut dyn Hasher) {
        self.tool.hash_instance(state);
    }

    fn needs_approval(&self, _: &Prepared, _: &ToolContext) -> bool {
        true
    }

    async fn execute(&self, prepared: Prepared, cx: &ToolContext) -> Result<Json, Cause> {
        let Ok(ready) = prepared.0.downcast::<Ready>() else {
            return Err(wording::of_another_tool());
        };
        let Ready { args, output } = *ready;
        match self.tool.undo(args, output, cx).await {
            Ok(undone) => Json::of(&undone.output())
                .map_err(|error| Cause::text(Code::Unknown, error.to_string())),
            Err(ToolError::Execution { cause, .. }) => Err(cause),
            Err(error) => Err(Cause::text(error.code(), error.to_string())),
        }
    }
}

/// Returns the specification of the tool that undoes the calls of a tool.
fn spec_of_undo(spec: &ToolSpec) -> ToolSpec {
    let own_name = spec.own_name();
    let mut undo = ToolSpec::new(
        format!("undo_{own_name}"),
        format!("Undoes a call of `{own_name}`, with the arguments and the output of that call."),
        Effects::Writes,
        schema_of_undo(&spec.input_schema),
    );
    undo.version = spec.version.clone();
    undo.idempotent = spec.idempotent;
    undo.idempotent_for = spec.idempotent_for;
    undo.external = spec.external;
    undo.category = spec.category;
    undo.timeout = spec.timeout;
    undo.approval = match spec.approval {
        NeedsApproval::Never => NeedsApproval::Never,
        NeedsApproval::Always | NeedsApproval::When => NeedsApproval::Always,
    };
    undo.has_said = spec.has_said;
    undo.strict = true;
    undo.sequential = spec.sequential;
    undo.declared_risk = Some(spec.risk_level());
    undo.effect_description = Some(effect_of_undo(spec).into());
    match spec.name == own_name {
        true => undo,
        false => undo.renamed(format!("undo_{}", spec.name).into()),
    }
}

/// Returns the schema of an undo's arguments, `{"args": {..}, "output": ..}`. References are relative to the root of a
/// schema, so the definitions move there.
fn schema_of_undo(args: &Value) -> Value {
    let mut args = args.clone();
    let mut schema = Map::new();
    if let Value::Object(members) = &mut args {
        for key in ["definitions", "$defs"] {
            schema.extend(members.remove_entry(key));
        }
    }
    rooted(&mut args);
    schema.extend([
        ("type".to_owned(), json!("object")),
        (
            "properties".to_owned(),
            json!({
                "args": args,
                "output": { "description": "Output of the call that is undone." },
            }),
        ),
        ("required".to_owned(), json!(["args", "output"])),
        ("additionalProperties".to_owned(), json!(false)),
    ]);
    let mut schema = Value::Object(schema);
    for key in ["definitions", "$defs"] {
        if let Some(definitions) = schema.get_mut(key) {
            rooted(definitions);
        }
    }
    schema
}

/// Redirects references to the whole schema of the call's arguments, which is no longer at the root.
fn rooted(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(to) if key == "$ref" && to == "#" => {
                        "#/properties/args".clone_into(to);
                    }
                    value => rooted(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(rooted),
        _ => {}
    }
}

/// Returns the words for the approver of an undo. The arguments of the call are in `args`.
fn effect_of_undo(spec: &ToolSpec) -> String {
    let Some(effect) = &spec.effect_description else {
        return format!("undo: a call of {}", spec.own_name());
    };
    let properties = spec.input_schema.get("properties");
    let is_argument = |path: &str| {
        let name = path.split('.').next().unwrap_or(path);
        properties.is_some_and(|named| named.get(name).is_some())
    };
    let mut words = "undo: ".to_owned();
    let mut rest = &**effect;
    while let Some((before, after)) = rest.split_once('{') {
        words.push_str(before);
        words.push('{');
        rest = after;
        if let Some(after) = after.strip_prefix('{') {
            words.push('{');
            rest = after;
        } else if let Some((path, _)) = after.split_once('}')
            && is_argument(path)
        {
            words.push_str("args.");
        }
    }
    words + rest
}

#[cfg(test)]
mod tests;
