use super::{InDoubt, ReadError, Risk, StoredOutput, Tool, ToolContext, ToolSpec, Undone, wording};
use crate::{
    Json,
    error::{Cause, ToolError},
    recovery::{ErrorContext, Fixer, Plan},
};
use async_trait::async_trait;
use serde::de::DeserializeOwned;
use std::{
    any::{Any, TypeId, type_name},
    fmt,
    hash::Hasher,
    sync::Arc,
};

/// Arguments that have been read and fit the schema, ready for one execution.
// Public because hidden methods of `DynTool` name it.
#[doc(hidden)]
pub struct Prepared(pub(crate) Box<dyn Any + Send + Sync>);

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}

/// Type of the errors that a tool returns, by which arms for another error type are rejected.
// Public because a hidden method of `DynTool` names it.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ErrorType {
    id: TypeId,
    name: &'static str,
}

impl ErrorType {
    /// Creates the value for tools whose errors have the type `E`.
    pub fn of<E: 'static>() -> Self {
        ErrorType {
            id: TypeId::of::<E>(),
            name: type_name::<E>(),
        }
    }
}

impl fmt::Display for ErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for ErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A tool in the form in which a run holds it: its types are hidden.
///
/// Every [`Tool`] is a `DynTool`, and so are [`FnTool`](super::FnTool) and delegates. Programs ask a `DynTool` for its
/// [`spec`](DynTool::spec).
///
/// ```
/// # use agents_core as agents;
/// use agents::{Effects, tool::{DynTool, FnTool}};
///
/// /// Lists what the tools may change, for a page about an agent.
/// fn writers(tools: &[&dyn DynTool]) -> Vec<String> {
///     let specs = tools.iter().map(|tool| tool.spec());
///     specs.filter(|spec| spec.effects == Effects::Writes).map(|spec| spec.name.to_string()).collect()
/// }
///
/// let schema = serde_json::json!({"type": "object"});
/// let look = FnTool::new("look", "Looks.", Effects::Reads, schema.clone(), |_, _| async { Ok::<_, std::io::Error>("dark") });
/// let pay = FnTool::new("pay", "Pays.", Effects::Writes, schema, |_, _| async { Ok::<_, std::io::Error>("paid") });
/// assert_eq!(writers(&[&look, &pay]), ["pay"]);
/// ```
// The hidden methods are for the engine. A program that calls tools itself would leave out what the engine checks.
#[async_trait]
pub trait DynTool: Send + Sync + 'static {
    /// Returns the specification of the tool: its name, its schema, its effects.
    fn spec(&self) -> &ToolSpec;

    /// Reads the arguments strictly: only JSON that fits is accepted.
    ///
    /// # Errors
    /// When the text is not JSON or does not fit the arguments' type or schema.
    #[doc(hidden)]
    fn prepare(&self, arguments: &str) -> Result<Prepared, ReadError>;

    /// Asks the tool's own arms about a failure; `None` if no arm decides. See [`Tool::on_error`].
    #[doc(hidden)]
    fn decide(&self, error: &ToolError, cx: &ErrorContext) -> Option<Plan> {
        let _ = (error, cx);
        None
    }

    /// Returns the repair agents that the tool's own arms name; see [`Tool::fixers`].
    #[doc(hidden)]
    fn fixers(&self) -> Vec<Arc<dyn Fixer>> {
        Vec::new()
    }

    /// Returns the type of the tool's errors; `None` if it is not known.
    #[doc(hidden)]
    fn error_type(&self) -> Option<ErrorType> {
        None
    }

    /// Hashes what distinguishes this tool from others of the same type, so that the cache keeps their results apart;
    /// see [`Tool::hash_instance`].
    #[doc(hidden)]
    fn hash_instance(&self, state: &mut dyn Hasher) {
        let _ = state;
    }

    /// Returns `true` if a call with these arguments needs approval; see [`Tool::needs_approval`].
    #[doc(hidden)]
    fn needs_approval(&self, prepared: &Prepared, cx: &ToolContext) -> bool;

    /// Returns the risk of a call with these arguments; see [`Tool::risk_of`].
    #[doc(hidden)]
    fn risk_of(&self, prepared: &Prepared, cx: &ToolContext) -> Risk {
        let _ = (prepared, cx);
        self.spec().risk_level()
    }

    /// Returns `true` if the tool's work is a part of the run, as the work of a delegate is. When a stored run is
    /// resumed, such work continues where it stopped.
    #[doc(hidden)]
    fn is_part_of_the_run(&self) -> bool {
        false
    }

    /// Finds out what an execution has done that was interrupted by the end of its process; see [`Tool::in_doubt`].
    #[doc(hidden)]
    async fn in_doubt(&self, prepared: Prepared, cx: &ToolContext) -> InDoubt<Json> {
        let _ = (prepared, cx);
        InDoubt::Unknown
    }

    /// Undoes a call that had these arguments and this output; see [`Tool::undo`].
    ///
    /// # Errors
    /// When the call could not be undone, or the tool has no undo.
    #[doc(hidden)]
    async fn undo(
        &self,
        prepared: Prepared,
        output: Json,
        cx: &ToolContext,
    ) -> Result<Undone, ToolError> {
        let _ = (prepared, output, cx);
        Err(wording::no_undo(self.spec().own_name()).into())
    }

    /// Executes the tool with the arguments that [`prepare`](DynTool::prepare) returned.
    ///
    /// # Errors
    /// The error that the tool returned, or the reason why the arguments or the result cannot be used.
    #[doc(hidden)]
    async fn execute(&self, prepared: Prepared, cx: &ToolContext) -> Result<Json, Cause>;
}

#[async_trait]
impl<T: Tool> DynTool for T {
    fn spec(&self) -> &ToolSpec {
        Tool::spec(self)
    }

    fn prepare(&self, arguments: &str) -> Result<Prepared, ReadError> {
        // Arguments mostly fit. Only if they do not, a slower reading follows the path of each field.
        match serde_json::from_str::<T::Args>(arguments) {
            Ok(args) => Ok(Prepared(Box::new(args))),
            Err(_) => read::<T::Args>(arguments).map(|args| Prepared(Box::new(args))),
        }
    }

    fn decide(&self, error: &ToolError, cx: &ErrorContext) -> Option<Plan> {
        Tool::decide(self, error, cx)
    }

    fn fixers(&self) -> Vec<Arc<dyn Fixer>> {
        Tool::fixers(self)
    }

    fn error_type(&self) -> Option<ErrorType> {
        Some(ErrorType::of::<T::Err>())
    }

    fn hash_instance(&self, state: &mut dyn Hasher) {
        Tool::hash_instance(self, state);
    }

    fn needs_approval(&self, prepared: &Prepared, cx: &ToolContext) -> bool {
        // Arguments of another type cannot occur here. If they did, a person would have to approve the call.
        prepared
            .0
            .downcast_ref()
            .is_none_or(|args| Tool::needs_approval(self, args, cx))
    }

    fn risk_of(&self, prepared: &Prepared, cx: &ToolContext) -> Risk {
        let args = prepared.0.downcast_ref();
        args.map_or(Risk::High, |args| Tool::risk_of(self, args, cx))
    }

    async fn in_doubt(&self, prepared: Prepared, cx: &ToolContext) -> InDoubt<Json> {
        let Ok(args) = prepared.0.downcast::<T::Args>() else {
            return InDoubt::Unknown;
        };
        match Tool::in_doubt(self, *args, cx).await {
            InDoubt::Done(output) => cx
                .output_of(&output)
                .map_or(InDoubt::Unknown, InDoubt::Done),
            InDoubt::NotDone => InDoubt::NotDone,
            InDoubt::Unknown => InDoubt::Unknown,
        }
    }

    async fn undo(
        &self,
        prepared: Prepared,
        output: Json,
        cx: &ToolContext,
    ) -> Result<Undone, ToolError> {
        let Ok(args) = prepared.0.downcast::<T::Args>() else {
            return Err(wording::of_another_tool().into());
        };
        Tool::undo(self, *args, StoredOutput::new(output), cx).await
    }

    async fn execute(&self, prepared: Prepared, cx: &ToolContext) -> Result<Json, Cause> {
        let Ok(args) = prepared.0.downcast::<T::Args>() else {
            return Err(wording::of_another_tool());
        };
        match self.call(*args, cx).await {
            Ok(value) => cx
                .output_of(&value)
                .map_err(|error| wording::output_unwritable(&error, Tool::spec(self).effects)),
            Err(error) => {
                let (code, retry_after) = T::failure(&error);
                let told = T::told(&error);
                Err(Cause::returned_saying(told, error, code, retry_after))
            }
        }
    }
}

/// Reads arguments strictly; an error names the path of the field that does not fit.
pub(crate) fn read<T: DeserializeOwned>(arguments: &str) -> Result<T, ReadError> {
    let mut json = serde_json::Deserializer::from_str(arguments);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = known(&error.path().to_string()).to_owned();
        ReadError::new(path, without_position(&error.into_inner()))
    })?;
    json.end()
        .map_err(|error| ReadError::new("", error.to_string()))?;
    Ok(value)
}

/// Returns the part of serde's path to a fault that is of use to a model. In it, `.` stands for the whole, and `?` for
/// a place without a name, such as a key that is not a string.
fn known(path: &str) -> &str {
    match path {
        "." | "?" => "",
        path => path.strip_suffix(".?").unwrap_or(path),
    }
}

/// Returns the message of a serde_json error without the position at its end, which is of no use if a field is named.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    if error.is_data() {
        text.strip_suffix(&position).unwrap_or(&text).to_owned()
    } else {
        text
    }
}
