//! Tools: async functions that a model can call, with their specifications.
//!
//! `tool!` implements [`Tool`]; a run holds tools as [`DynTool`]. A [`ToolSet`] holds the tools that an agent may
//! call. [`FnTool`] makes a tool from a closure at run time. A [`ToolSource`] lists its tools when an agent begins its
//! work. A [`Registry`] holds several versions of tools, from which agents pick theirs.
//!
//! ```
//! # use agents_core as agents;
//! use agents::{Agent, AgentBuilder, Effects, tool::FnTool};
//! # use agents::testing::{Script, ScriptedModel};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), agents::Error> {
//! // What `#[tool]` writes, by hand:
//! let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
//! let weather = FnTool::new("weather", "Tells the weather.", Effects::Reads, schema, |args, _| async move {
//!     Ok::<_, std::io::Error>(format!("It rains in {}.", args["city"].as_str().unwrap_or_default()))
//! });
//! # let (model, _) = ScriptedModel::new([Script::call("weather", r#"{"city": "Bergen"}"#), Script::text("Take an umbrella.")]);
//! let guide = AgentBuilder::<String, String>::new("guide").tool(weather).model(model).build();
//! assert_eq!(guide.run("I go to Bergen.").await?, "Take an umbrella.");
//! # Ok(())
//! # }
//! ```

mod alias;
mod approval;
mod ask;
mod background;
mod cache;
mod category;
mod context;
mod deferred;
mod description;
mod effects;
mod erased;
mod error_text;
mod execution;
mod expected;
mod fn_tool;
mod formats;
mod in_doubt;
mod misfits;
mod output;
mod pattern;
mod policy;
mod registry;
mod remote;
mod risk;
mod schema;
mod set;
mod signature;
mod source;
mod spec;
mod status;
mod statuses;
mod type_names;
mod undo;
mod uninjected;
mod unknown_keys;
mod version;
mod wording;

pub use crate::{error::ReadError, scope::Scope};
pub use alias::alias;
pub use approval::NeedsApproval;
pub use ask::{AnswerForm, Ask, Asking, choices_of};
pub(crate) use background::Background;
pub use cache::Cache;
pub use category::Category;
pub use context::ToolContext;
pub use deferred::deferred;
pub use description::ToolDescription;
pub use effects::Effects;
pub(crate) use erased::read;
pub use erased::{DynTool, ErrorType, Prepared};
pub use error_text::ErrorText;
pub(crate) use execution::Execution;
use expected::expectation;
pub(crate) use expected::of_the_field;
pub use fn_tool::FnTool;
pub(crate) use formats::in_words_of;
pub use in_doubt::{InDoubt, done, not_done, unknown};
pub(crate) use misfits::{as_read, explain, misfits};
pub use pattern::Pattern;
pub use policy::ToolPolicy;
pub use registry::Registry;
pub use remote::{Annotations, RemoteTool};
pub use risk::Risk;
pub(crate) use schema::{Expected, constrained, schema_with_claims};
pub use schema::{output_schema, schema_of};
pub(crate) use set::nearest;
pub use set::{IntoTool, SharedTool, ToolSet};
pub use signature::{Argument, Described, Injected, Readable, ToolFault, ToolOutput};
pub(crate) use source::SharedSource;
pub use source::ToolSource;
#[doc(hidden)]
pub use source::{Asked, Each, IntoTools, Whole};
pub use spec::ToolSpec;
pub use status::Status;
pub use statuses::ToolStatuses;
pub(crate) use type_names::{type_at, without_modules};
pub(crate) use undo::read_stored;
pub use undo::{StoredOutput, Undone, conflict, undo_tool, undone};
pub use uninjected::{Uninjected, WithoutFields};
pub use unknown_keys::UnknownKeys;

use crate::{
    error::{Code, ToolError},
    recovery::{self, CallError, ErrorContext, Fixer, Plan},
};
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt, future::Future, hash::Hasher, sync::Arc, time::Duration};

/// A tool with typed arguments, a typed result and a typed error.
///
/// `tool!` and `#[tool]` write this implementation for you. By hand it looks as follows:
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::{Effects, Tool, ToolContext, ToolSpec};
/// use std::{convert::Infallible, sync::LazyLock};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct AddArgs { /** Left operand. */ left: i64, /** Right operand. */ right: i64 }
///
/// struct Add;
/// impl Tool for Add {
///     type Args = AddArgs;
///     type Ok = i64;
///     type Err = Infallible;
///
///     fn spec(&self) -> &ToolSpec {
///         static SPEC: LazyLock<ToolSpec> =
///             LazyLock::new(|| ToolSpec::of::<AddArgs>("add", "Adds two integers.", Effects::None));
///         &SPEC
///     }
///     async fn call(&self, args: AddArgs, _: &ToolContext) -> Result<i64, Infallible> {
///         Ok(args.left + args.right)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "expected a tool here",
    note = "a tool is the CamelCase type that `#[tool]` or `tool!` leaves beside the function: for `async fn read_file(..)` write `ReadFile`, or `ReadFile {{ .. }}` if it has `#[inject]` parameters"
)]
pub trait Tool: Send + Sync + 'static {
    /// Type of the arguments that a model has to send.
    type Args: DeserializeOwned + Send + Sync + 'static;
    /// Type of the result that the model is told.
    type Ok: Serialize + Send;
    /// Type of the error that the tool fails with.
    type Err: fmt::Display + Send + Sync + 'static;

    /// Returns the specification of the tool: its name, its schema, its effects.
    fn spec(&self) -> &ToolSpec;

    /// Executes the tool with arguments that fit, and returns its result.
    ///
    /// # Errors
    /// The tool's own error. The tool's arms are asked about it; an error that no arm settles is told to the
    /// model.
    fn call(
        &self,
        args: Self::Args,
        cx: &ToolContext,
    ) -> impl Future<Output = Result<Self::Ok, Self::Err>> + Send;

    /// Returns the error code of an error and the time to wait before a retry; see [`ToolFailure`](crate::ToolFailure).
    /// By default, the code is [`Code::Unknown`], and no time is known.
    fn failure(error: &Self::Err) -> (Code, Option<Duration>) {
        let _ = error;
        (Code::Unknown, None)
    }

    /// Returns the text of an error for the model, the receipt and handlers; by default, the text that the error
    /// displays. Tools made by macros add the texts of the error's causes.
    fn told(error: &Self::Err) -> String {
        error.to_string()
    }

    /// Asks the tool's own arms about a failure; `None`, the default, asks the next layer. `tool!` and `#[tool]`
    /// implement this method from their `on_error`.
    fn on_error(&self, error: CallError<'_, Self::Err>, cx: &ErrorContext) -> Option<Plan> {
        let _ = (error, cx);
        None
    }

    /// Returns the repair agents that the tool's own arms name, so that a resumed run can find them by name; none by
    /// default.
    fn fixers(&self) -> Vec<Arc<dyn Fixer>> {
        Vec::new()
    }

    /// Asks the tool's own arms about a failure, given as the error of the call. `None` asks the next layer. The method
    /// is public for unit tests of the arms.
    fn decide(&self, error: &ToolError, cx: &ErrorContext) -> Option<Plan> {
        recovery::with_error(error, &self.spec().input_schema, |error| {
            self.on_error(error, cx)
        })
    }

    /// Hashes what distinguishes this tool from others of the same type, so that their cached results are kept
    /// apart.
    ///
    /// By default, nothing is hashed. Tools made by macros hash their injected values, as far as these are `Hash`.
    fn hash_instance(&self, state: &mut dyn Hasher) {
        let _ = state;
    }

    /// Finds out what an interrupted execution has done, that is, an execution during which its process ended; by
    /// default, [`InDoubt::Unknown`]. `tool!` and `#[tool]` implement this method from their `in_doubt`.
    ///
    /// The method is called only for a tool that writes and must not simply run again: when a run is resumed, and
    /// before another execution, if the time of [`idempotent_for`](ToolSpec::idempotent_for) is over.
    fn in_doubt(
        &self,
        args: Self::Args,
        cx: &ToolContext,
    ) -> impl Future<Output = InDoubt<Self::Ok>> + Send {
        let _ = (args, cx);
        async { InDoubt::Unknown }
    }

    /// Undoes a call that had these arguments and this output; by default, the tool has no undo, and the method returns
    /// an error. `tool!` and `#[tool]` implement this method from their `undo`. The tool of [`undo_tool`] calls the
    /// method.
    ///
    /// A tool that implements the method by hand declares that with [`ToolSpec::undoable`].
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{
    ///     Effects, Tool, ToolContext, ToolError,
    ///     error::{Cause, Code},
    ///     tool::{StoredOutput, ToolSpec, Undone, undone},
    /// };
    /// use std::{convert::Infallible, sync::{LazyLock, Mutex}};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct SetArgs { /** New status. */ status: String }
    ///
    /// struct SetStatus(Mutex<String>);
    /// impl Tool for SetStatus {
    ///     type Args = SetArgs;
    ///     type Ok = String;
    ///     type Err = Infallible;
    ///
    ///     fn spec(&self) -> &ToolSpec {
    ///         static SPEC: LazyLock<ToolSpec> =
    ///             LazyLock::new(|| ToolSpec::of::<SetArgs>("set_status", "Sets the status.", Effects::Writes).undoable());
    ///         &SPEC
    ///     }
    ///     async fn call(&self, args: SetArgs, _: &ToolContext) -> Result<String, Infallible> {
    ///         Ok(std::mem::replace(&mut *self.0.lock().unwrap(), args.status))
    ///     }
    ///     async fn undo(&self, _: SetArgs, previous: StoredOutput<String>, _: &ToolContext) -> Result<Undone, ToolError> {
    ///         let previous = previous.read()?;
    ///         let mut now = self.0.lock().map_err(|_| Cause::text(Code::Unknown, "the status is not known"))?;
    ///         *now = previous;
    ///         Ok(undone())
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// When the call could not be undone; an undo that found a conflict is no error.
    fn undo(
        &self,
        args: Self::Args,
        output: StoredOutput<Self::Ok>,
        cx: &ToolContext,
    ) -> impl Future<Output = Result<Undone, ToolError>> + Send {
        let _ = (args, output, cx);
        let error = wording::no_undo(self.spec().own_name());
        async { Err(error.into()) }
    }

    /// Returns the risk of a call with these arguments; by default that of the [specification](ToolSpec::risk_level).
    fn risk_of(&self, args: &Self::Args, cx: &ToolContext) -> Risk {
        let _ = (args, cx);
        self.spec().risk_level()
    }

    /// Returns `true` if a call with these arguments needs approval; by default, every call does.
    ///
    /// The method is called only if the tool declares [`NeedsApproval::When`]. At that time,
    /// [`ToolContext::call_id`] may still be empty.
    fn needs_approval(&self, args: &Self::Args, cx: &ToolContext) -> bool {
        let _ = (args, cx);
        true
    }
}

/// A tool whose name is known from its type alone, such as one made by `tool!` or `#[tool]`.
///
/// A [`Member`](crate::team::Member) of a team is granted tools by their types. A tool that is written by hand
/// implements the trait as follows:
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::ToolName;
///
/// struct Add;
/// impl ToolName for Add {
///     const NAME: &'static str = "add";
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the name of `{Self}` is not known from its type",
    label = "no `#[tool]` or `tool!` made this",
    note = "a tool goes by the CamelCase type that `#[tool]` leaves: for `async fn read_file(..)` write `ReadFile`",
    note = "for a tool that is written by hand implement `ToolName`, or name it: `grant_named(\"..\")`, `confirm_named(\"..\")`, `on_error_of(\"..\", ..)`"
)]
pub trait ToolName {
    /// Name by which the model calls the tool.
    const NAME: &'static str;
}
