//! Items that generated code may name. They are not a public interface, and change without notice.

#[cfg(feature = "compose")]
pub use crate::compose::{branch, go_on};
pub use crate::{
    Error, Json,
    agent::{
        Agent, AgentBuilder, AgentData, AgentFault, Data, KnowledgeFolder, ModelAgent, ModelAnswer,
        Profile, Skill, compact, trim,
    },
    error::{AnyError, Code, Failure, Severity, ToolError, ToolFailure},
    escalation::{Escalation, IntoResolution, Resolution, vocabulary as resolutions},
    recovery::{
        CallError, Decision, ErrorContext, Fallible, Fixer, IntoDecision, Plan, RepairAgentRef,
        RetrySafe, fix_with, kinds, vocabulary,
    },
    run::{Budget, RunContext},
    team::Member,
    tool::{
        Argument, Cache, Category, Described, Effects, InDoubt, Injected, IntoTool, NeedsApproval,
        Readable, Risk, SharedTool, StoredOutput, Tool, ToolContext, ToolFault, ToolName,
        ToolOutput, ToolSet, ToolSpec, Undone, Uninjected, UnknownKeys,
        output_schema::{NoSchema, Probe as SchemaProbe},
    },
};
pub use async_trait::async_trait;
pub use schemars;
pub use serde;
pub use serde_json;
pub use std::{
    boxed::Box,
    clone::Clone,
    convert::Infallible,
    fmt::Display,
    hash::{Hash, Hasher},
    option::Option::{self, None, Some},
    result::Result::{self, Err, Ok},
    string::String,
    sync::{Arc, LazyLock, OnceLock},
    time::Duration,
    vec::Vec,
};

use crate::{
    agent::IntoSource,
    error::{Cause, chain},
    recovery::{Kind, PlanStep},
    tool::read_stored,
};
pub use futures_util::future::BoxFuture;
use std::{error::Error as StdError, marker::PhantomData};

/// Type that `#[tool]` or `#[agent]` has made; the macro implements the trait for it by its name. If another type has
/// the name too, the trait is implemented for that type, and the bound on the generated type fails.
#[diagnostic::on_unimplemented(
    message = "the generated type `{Self}` has the name of another type",
    label = "give the generated type another name with `name = \"..\"`",
    note = "the type of a tool or of an agent is named after its function"
)]
pub trait GeneratedType {}

/// Parts of a function's return type, for generated code: `<io::Result<T> as Returns>::Ok`.
pub trait Returns {
    /// Type of the value that the function returns if it succeeds.
    type Ok;
    /// Type of the error that the function returns if it fails.
    type Err;
}

impl<T, E> Returns for std::result::Result<T, E> {
    type Ok = T;
    type Err = E;
}

/// Probe for the error code and the wait that an error type declares. Generated code calls
/// `(&FailureProbe(error)).facts()`: the inherent method exists only for a [`ToolFailure`].
pub struct FailureProbe<'a, E>(pub &'a E);

impl<E: ToolFailure> FailureProbe<'_, E> {
    /// Returns the code that the error type declares, and the wait that it asks for.
    pub fn facts(&self) -> (Code, Option<Duration>) {
        (self.0.code(), self.0.retry_after())
    }
}

/// Fallback of [`FailureProbe`] for an error type that is not a [`ToolFailure`].
pub trait NoFacts {
    /// Returns the code [`Code::Unknown`], and no wait.
    fn facts(&self) -> (Code, Option<Duration>) {
        (Code::Unknown, None)
    }
}

impl<E> NoFacts for &FailureProbe<'_, E> {}

/// Probe for the text of an error and of its sources. Generated code calls `(&ChainProbe(error)).said()`: the inherent
/// method exists only for a `std::error::Error`.
pub struct ChainProbe<'a, E>(pub &'a E);

impl<E: StdError + 'static> ChainProbe<'_, E> {
    /// Returns the text of the error, followed by the texts of its sources.
    pub fn said(&self) -> String {
        chain(self.0)
    }
}

/// Fallback of [`ChainProbe`] for a type that holds an error but is not one: `anyhow::Error`, a boxed error.
pub trait HoldsError {
    /// Returns the text of the error that is held, followed by the texts of its sources.
    fn said(&self) -> String;
}

impl<E: AsRef<dyn StdError + Send + Sync>> HoldsError for ChainProbe<'_, E> {
    fn said(&self) -> String {
        chain(self.0.as_ref())
    }
}

/// Fallback of [`ChainProbe`] for a type that implements `Display`, and neither is an error nor holds one.
pub trait OnlyText {
    /// Returns the text that the error's `Display` writes.
    fn said(&self) -> String;
}

impl<E: Display> OnlyText for &ChainProbe<'_, E> {
    fn said(&self) -> String {
        self.0.to_string()
    }
}

/// Probe for a conversion of the error of an agent's own body into the source of another error. Generated code calls
/// `(&SourceProbe(&error)).source()`: the inherent method exists only for an error, or a type that converts into one.
pub struct SourceProbe<'a, E>(pub &'a E);

impl<E: Into<Box<dyn StdError + Send + Sync>>> SourceProbe<'_, E> {
    /// Returns the function that converts such an error into the source of another error.
    pub fn source(&self) -> Option<IntoSource<E>> {
        Some(E::into)
    }
}

/// Fallback of [`SourceProbe`] for a type that is not an error and does not convert into one.
pub trait NoSource<E> {
    /// Returns `None`: no conversion into a source exists for this type.
    fn source(&self) -> Option<IntoSource<E>> {
        None
    }
}

impl<E> NoSource<E> for &SourceProbe<'_, E> {}

/// Probe for a hash that tells one injected value from another. Generated code calls
/// `(&HashProbe(&self.root)).feed(state)`: the inherent method exists only for a type that is `Hash`.
pub struct HashProbe<'a, T>(pub &'a T);

impl<T: Hash> HashProbe<'_, T> {
    /// Feeds the injected value itself to the hash, so that values that differ have different results in a cache.
    pub fn feed(&self, mut state: &mut dyn Hasher) {
        self.0.hash(&mut state);
    }
}

/// Fallback of [`HashProbe`] for a value that is not `Hash`, such as a pool of connections.
pub trait NotHashed {
    /// Feeds nothing: all values of the type count as one.
    fn feed(&self, _: &mut dyn Hasher) {}
}

impl<T> NotHashed for &HashProbe<'_, T> {}

/// Probe for a type that is a `Result`, whatever its name. Generated code that takes a return type for a plain value
/// uses it, so that `type R<T> = Result<T, E>` is not sent as `{"Ok": ..}`.
pub struct ResultProbe<T>(PhantomData<T>);

impl<T, E> ResultProbe<std::result::Result<T, E>>
where
    std::result::Result<T, E>: serde::Serialize,
{
    /// Is `true`. A `Result` that cannot be serialised is already refused for that reason, so it is not reported here.
    pub const IS_RESULT: bool = true;
}

/// Fallback of [`ResultProbe`] for a type that is not a `Result`, or is a `Result` that cannot be serialised.
pub trait NotResult {
    /// Is `false`: the type is not a `Result`, or is a `Result` that cannot be serialised.
    const IS_RESULT: bool = false;
}

impl<T> NotResult for ResultProbe<T> {}

/// Error type of the function behind a tool, whether it fits as a tool's error or not. Arms are compiled with that type
/// even if it does not fit.
#[diagnostic::on_unimplemented(
    message = "what `{Self}` fails with is not known from its type",
    label = "no `#[tool]` or `tool!` made this",
    note = "arms for a tool that is written by hand are added with `AgentBuilder::on_error_of`"
)]
pub trait Fails {
    /// Type of the error that the function behind the tool returns.
    type With;
}

/// Arms that `on_error!(Tool, ..)` writes. The tool's own `on_error` asks them through [`ArmsProbe`].
pub trait OnError: Fails {
    /// Returns the plan of the arms for a failure; `None` if no arm decides.
    fn decide_by_arms(&self, error: CallError<'_, Self::With>, cx: &ErrorContext) -> Option<Plan>;

    /// Returns the repair agents that the arms name.
    fn fixers_of_arms(&self) -> Vec<Arc<dyn Fixer>> {
        Vec::new()
    }
}

/// Probe for the arms of a tool. Generated code calls `(&ArmsProbe(self)).on_error(error, cx)`: the inherent method
/// exists only for a tool with [`OnError`].
pub struct ArmsProbe<'a, T>(pub &'a T);

impl<T: OnError> ArmsProbe<'_, T> {
    /// Returns the plan of the tool's arms for a failure; `None` if no arm decides.
    pub fn on_error(&self, error: CallError<'_, T::With>, cx: &ErrorContext) -> Option<Plan> {
        self.0.decide_by_arms(error, cx)
    }

    /// Returns the repair agents that the tool's arms name.
    pub fn fixers(&self) -> Vec<Arc<dyn Fixer>> {
        self.0.fixers_of_arms()
    }
}

/// Fallback of [`ArmsProbe::on_error`] for a tool without arms.
pub trait NoArms<E> {
    /// Returns no plan for the failure of a call: the tool has no arms.
    fn on_error(&self, error: CallError<'_, E>, cx: &ErrorContext) -> Option<Plan> {
        let _ = (error, cx);
        None
    }
}

impl<T: Fails> NoArms<T::With> for &ArmsProbe<'_, T> {}

/// Fallback of [`ArmsProbe::fixers`] for a tool without arms.
pub trait NoFixers {
    /// Returns no repair agents: the tool has no arms that could name any.
    fn fixers(&self) -> Vec<Arc<dyn Fixer>> {
        Vec::new()
    }
}

impl<T: Fails> NoFixers for &ArmsProbe<'_, T> {}

/// Functions that give the result of `in_doubt`, such as `done`; they are in scope there by their names.
pub mod doubts {
    pub use crate::tool::{done, not_done, unknown};
}

/// Tool that may be asked about the effect of an interrupted execution: a tool that writes, and that is not idempotent
/// or is idempotent only for a time. The trait holds the types that an `in_doubt!` beside the tool needs.
///
/// The macro also implements the trait for a tool with a mistake in its effects, its `in_doubt` or its signature, so
/// that the mistake causes no further compile errors.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is never asked what became of an interrupted execution",
    label = "no `#[tool]` that writes and is not `idempotent`",
    note = "what does not write, or is `idempotent`, simply runs again: remove this",
    note = "a tool that is written by hand implements `Tool::in_doubt`; of one whose signature is refused only that has to change"
)]
pub trait MayBeInDoubt {
    /// Type of the arguments that the model sends.
    type Args;
    /// Type of the function's output, whether it fits as a tool's output or not.
    type Found;
}

/// Reason why `in_doubt` cannot find out whether an interrupted execution took effect. In the body of `in_doubt`, `?`
/// converts any error that has a text into such a reason.
#[derive(Debug)]
pub struct CannotTell(String);

impl<E: Display> From<E> for CannotTell {
    fn from(error: E) -> Self {
        CannotTell(error.to_string())
    }
}

/// Wraps the value of a `return` in `in_doubt`.
///
/// # Errors
/// Never.
pub fn known<T>(known: InDoubt<T>) -> Result<InDoubt<T>, CannotTell> {
    Ok(known)
}

/// Converts the result of `in_doubt` for the run. An error is logged, and becomes [`InDoubt::Unknown`].
pub fn found_out<T: ToolOutput>(
    known: Result<InDoubt<T>, CannotTell>,
    cx: &ToolContext,
) -> InDoubt<T::Type> {
    match known {
        Ok(InDoubt::Done(output)) => InDoubt::Done(output.pack()),
        Ok(InDoubt::NotDone) => InDoubt::NotDone,
        Ok(InDoubt::Unknown) => InDoubt::Unknown,
        Err(CannotTell(error)) => {
            let error = cx.masker().text(&error);
            tracing::warn!(tool = %cx.tool(), %error, "it cannot be found out whether the interrupted execution took effect");
            InDoubt::Unknown
        }
    }
}

/// Fallback for a tool without `in_doubt`: generated code then finds the method of this trait, which returns that the
/// effect of the execution is unknown.
pub trait SaysNothing: MayBeInDoubt {
    /// Returns that the effect of the execution is unknown.
    fn __in_doubt<A>(
        &self,
        _: A,
        _: &ToolContext,
    ) -> impl Future<Output = Result<InDoubt<Self::Found>, CannotTell>> + Send {
        async { Ok(InDoubt::Unknown) }
    }
}

impl<T: MayBeInDoubt> SaysNothing for T {}

/// Functions that give the result of `undo`, such as `undone`; they are in scope there by their names.
pub mod undos {
    pub use crate::tool::{conflict, undone};
}

/// Tool whose calls can be undone: a tool that writes, and that is not irreversible. The trait holds the types that an
/// `undo!` beside the tool needs.
///
/// The macro also implements the trait for a tool with a mistake in its effects, its `undo` or its signature, so that
/// the mistake causes no further compile errors.
#[diagnostic::on_unimplemented(
    message = "calls of `{Self}` cannot be undone",
    label = "no `#[tool]` that writes and is not `irreversible`",
    note = "what does not write leaves nothing to undo: remove this",
    note = "a tool that is written by hand implements `Tool::undo`; of one whose signature is refused only that has to change"
)]
pub trait MayBeUndone {
    /// Type of the arguments that the model sends.
    type Args;
    /// Type of the function's output, whether it fits as a tool's output or not.
    type Output;
}

/// Output of a tool that `undo` reads back from what was stored.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read back for `undo`",
    label = "`undo` is handed this output, as it was stored",
    note = "derive it, for the type and for all that it holds: `#[derive(serde::Serialize, serde::Deserialize)]`; it has to own what it holds",
    note = "if the arguments are enough, write `undo(_) => ..`, or `undo!(.., |_| ..)`"
)]
pub trait ReadBack: Sized {
    /// Reads the output of a call that was stored, so that it can be undone.
    ///
    /// # Errors
    /// When the stored output does not fit the type.
    fn read_back(output: &Json) -> Result<Self, CannotUndo>;
}

#[diagnostic::do_not_recommend]
impl<T: serde::de::DeserializeOwned> ReadBack for T {
    fn read_back(output: &Json) -> Result<Self, CannotUndo> {
        read_stored(output).map_err(CannotUndo)
    }
}

/// Reason why a call could not be undone. In the body of `undo`, `?` converts any error that has a text into such a
/// reason.
#[derive(Debug)]
pub struct CannotUndo(ToolError);

impl<E: Display> From<E> for CannotUndo {
    fn from(error: E) -> Self {
        CannotUndo(Cause::text(Code::Unknown, error.to_string()).into())
    }
}

/// Value of an `undo`. Generated code calls `Undoing(value).said()`: the inherent methods are for a `Result` whose
/// error type nothing else determines, as in `Ok(undone())`.
pub struct Undoing<T>(pub T);

impl Undoing<Result<Undone, CannotUndo>> {
    /// Returns the result of the tool's `undo` as it is.
    ///
    /// # Errors
    /// The error of the value, if the call could not be undone.
    pub fn said(self) -> Result<Undone, CannotUndo> {
        self.0
    }
}

impl Undoing<Result<(), CannotUndo>> {
    /// Returns that the call is undone, for an `undo` that ends with `Ok(())`.
    ///
    /// # Errors
    /// The error of the value, if the call could not be undone.
    pub fn said(self) -> Result<Undone, CannotUndo> {
        self.0.map(|()| Undone::Done)
    }
}

/// Conversion of the value of an `undo` that has another type.
pub trait Said<T> {
    /// Converts the value that the tool's `undo` gives into the outcome for the run.
    ///
    /// # Errors
    /// When the call could not be undone.
    fn said(self) -> Result<Undone, CannotUndo>
    where
        T: SaysUndone;
}

impl<T> Said<T> for Undoing<T> {
    fn said(self) -> Result<Undone, CannotUndo>
    where
        T: SaysUndone,
    {
        self.0.says_undone()
    }
}

/// Value that an `undo` may return: [`Undone`], or a `Result` of [`Undone`] or of `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what the undo came to",
    label = "expected `undone()`, `conflict(\"..\")`, or a `Result` of them or of `()`",
    note = "write `Ok(undone())` or `Ok(conflict(\"what was changed since\"))` behind what undoes the call; a future is awaited, `.await`"
)]
pub trait SaysUndone {
    /// Converts the value into what became of the call, for the run.
    ///
    /// # Errors
    /// When the call could not be undone.
    fn says_undone(self) -> Result<Undone, CannotUndo>;
}

impl SaysUndone for Undone {
    fn says_undone(self) -> Result<Undone, CannotUndo> {
        Ok(self)
    }
}

impl<E: Display> SaysUndone for Result<Undone, E> {
    fn says_undone(self) -> Result<Undone, CannotUndo> {
        self.map_err(CannotUndo::from)
    }
}

impl<E: Display> SaysUndone for Result<(), E> {
    fn says_undone(self) -> Result<Undone, CannotUndo> {
        self.map(|()| Undone::Done).map_err(CannotUndo::from)
    }
}

/// Converts the result of the tool's `undo` into the result of [`Tool::undo`].
///
/// # Errors
/// When the call could not be undone.
pub fn undoing(undone: Result<Undone, CannotUndo>) -> Result<Undone, ToolError> {
    undone.map_err(|CannotUndo(error)| error)
}

/// Fallback for a tool without `undo`: generated code then finds this constant and this method.
pub trait HasNoUndo: MayBeUndone + Tool {
    /// Is `false`: the tool has no undo.
    const __HAS_UNDO: bool = false;

    /// Returns the error which says that the tool has no undo.
    fn __undo<A>(
        &self,
        _: A,
        _: &Json,
        _: &ToolContext,
    ) -> impl Future<Output = Result<Undone, CannotUndo>> + Send {
        let error = CannotUndo::from(format!("`{}` has no undo", self.spec().own_name()));
        async { Err(error) }
    }
}

impl<T: MayBeUndone + Tool> HasNoUndo for T {}

/// Returns the tool's spec; if `has_undo` is `true`, the spec declares that calls can be undone.
#[must_use]
pub fn with_undo(spec: ToolSpec, has_undo: bool) -> ToolSpec {
    match has_undo {
        true => spec.undoable(),
        false => spec,
    }
}

/// Placeholder for each argument when the compiler looks up the names in `effect_description = ".."`. It can be
/// printed, which the argument's type need not be.
#[derive(Clone, Copy, Debug)]
pub struct Shown;

impl Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("..")
    }
}

/// Returns the repair agents that the decisions name.
pub fn fixers_of<K: Kind, const N: usize>(decisions: [Decision<K>; N]) -> Vec<Arc<dyn Fixer>> {
    let steps = decisions.iter().flat_map(Decision::steps);
    steps
        .filter_map(|step| match step {
            PlanStep::Ask { fixer, .. } => fixer.live().cloned(),
            _ => None,
        })
        .collect()
}

/// Item of a list of tools in `#[agent]`. Generated code calls `Listing(self).shared()`: the inherent method exists
/// only for a tool.
pub struct Listing<T>(pub T);

impl<T: IntoTool> Listing<T> {
    /// Returns the item as a tool that several agents may share.
    pub fn shared(self) -> SharedTool {
        self.0.into_tool()
    }
}

/// Fallback for a tool with an argument or a result that rustc has refused. The error is reported at that type, and not
/// once more in every list.
pub trait Refused: Sized {
    /// Exists for the compiler only, and is never called.
    fn shared(self) -> SharedTool {
        unreachable!("what does not compile is in no list")
    }
}

impl<T> Refused for Listing<T> {}

/// Fallback for any other item of a list: `#[tool]` gives its types a method of this name.
pub trait Listed: Sized {
    /// Returns the item itself, as an item of another type than the tools of `#[tool]`.
    #[must_use]
    fn __listed(self) -> Self {
        self
    }
}

impl<T> Listed for T {}

/// Tools behind `..` in a list that are taken by value: a [`ToolSet`], or a value that iterates over tools.
///
/// Generated code calls `(more).__spread()`. Other values are borrowed by [`SpreadSource`], so that a source of tools
/// may be a static.
pub trait SpreadTools: Sized {
    /// Returns the tools unchanged, for the list to take. The tools are a [`ToolSet`], or a value that iterates over
    /// tools, such as a `Vec`.
    #[must_use]
    fn __spread(self) -> Self {
        self
    }
}

impl<T: IntoIterator<Item: IntoTool>> SpreadTools for T {}

impl SpreadTools for ToolSet {}

/// Fallback of [`SpreadTools`] for any other value, such as a source of tools.
pub trait SpreadSource {
    /// Borrows the value, such as a source of tools, which may be a static.
    #[must_use]
    fn __spread(&self) -> &Self {
        self
    }
}

impl<T: ?Sized> SpreadSource for T {}

/// Calls the closure of `approval = when(..)`, and gives the compiler the types of its arguments.
pub fn ask<A>(args: &A, cx: &ToolContext, when: impl FnOnce(&A, &ToolContext) -> bool) -> bool {
    when(args, cx)
}

/// Converts a failure's error, which was stored in the form for arms, back to the type that the function returned.
pub fn unpacked<F: ToolFault>(error: CallError<'_, F::Type>) -> CallError<'_, F> {
    match error {
        CallError::InvalidArgs(raw, fault) => CallError::InvalidArgs(raw, fault),
        CallError::Deserialization(value, fault) => CallError::Deserialization(value, fault),
        CallError::InvalidOutput(raw, fault) => CallError::InvalidOutput(raw, fault),
        CallError::Execution(failure) => CallError::Execution(match failure {
            Failure::Returned(told) => Failure::Returned(F::unpack(told)),
            Failure::TimedOut(after) => Failure::TimedOut(after),
            Failure::Panicked(said) => Failure::Panicked(said),
        }),
    }
}
