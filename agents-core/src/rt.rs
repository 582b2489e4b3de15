//! Everything that generated code may name. Not for people: it changes without notice.

pub use crate::{
    Error,
    agent::{
        Agent, AgentBuilder, AgentData, AgentFault, Data, ModelAgent, ModelAnswer, ModelDriven,
        Profile, Skill,
    },
    compose::{branch, go_on},
    error::{AnyError, Code, Failure, Severity, ToolFailure},
    escalation::{Escalation, IntoResolution, Resolution, vocabulary as resolutions},
    recovery::{
        CallError, Decision, ErrorContext, Fallible, Fixer, FixerRef, IntoDecision, Plan,
        RetrySafe, fix_with, kinds, vocabulary,
    },
    run::{Budget, RunContext},
    team::Member,
    tool::{
        Approval, Argument, Cache, Category, Described, Effects, InDoubt, Injected, IntoTool,
        Readable, SharedTool, Tool, ToolContext, ToolFault, ToolName, ToolOutput, ToolSet,
        ToolSpec, Uninjected,
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
    error::chain,
    recovery::{Kind, Step},
};
pub use futures_util::future::BoxFuture;
use std::{error::Error as StdError, marker::PhantomData};

/// What a function returns, taken apart: `<io::Result<T> as Returns>::Ok`.
pub trait Returns {
    /// The value.
    type Ok;
    /// The error.
    type Err;
}

impl<T, E> Returns for std::result::Result<T, E> {
    type Ok = T;
    type Err = E;
}

/// What an error type says besides its text. Generated code asks
/// `(&FailureProbe(error)).facts()`: the inherent method exists only for a [`ToolFailure`].
pub struct FailureProbe<'a, E>(pub &'a E);

impl<E: ToolFailure> FailureProbe<'_, E> {
    /// What the type says.
    pub fn facts(&self) -> (Code, Option<Duration>) {
        (self.0.code(), self.0.retry_after())
    }
}

/// The answer for an error type that says nothing.
pub trait NoFacts {
    /// Unknown.
    fn facts(&self) -> (Code, Option<Duration>) {
        (Code::Unknown, None)
    }
}

impl<E> NoFacts for &FailureProbe<'_, E> {}

/// What an error says of itself and of what caused it. Generated code asks `(&ChainProbe(error)).said()`: the
/// inherent method exists only for a `std::error::Error`.
pub struct ChainProbe<'a, E>(pub &'a E);

impl<E: StdError + 'static> ChainProbe<'_, E> {
    /// Its text and those of its causes.
    pub fn said(&self) -> String {
        chain(self.0)
    }
}

/// The answer for what holds an error and is none itself: `anyhow::Error`, a box of one.
pub trait HoldsError {
    /// The text of what it holds and those of its causes.
    fn said(&self) -> String;
}

impl<E: AsRef<dyn StdError + Send + Sync>> HoldsError for ChainProbe<'_, E> {
    fn said(&self) -> String {
        chain(self.0.as_ref())
    }
}

/// The answer for what is only a text.
pub trait OnlyText {
    /// The text.
    fn said(&self) -> String;
}

impl<E: Display> OnlyText for &ChainProbe<'_, E> {
    fn said(&self) -> String {
        self.0.to_string()
    }
}

/// Whether the error of an agent's own body can be the source of another. Generated code asks
/// `(&SourceProbe(&error)).source()`: the inherent method exists only for what is an error, or becomes one.
pub struct SourceProbe<'a, E>(pub &'a E);

impl<E: Into<Box<dyn StdError + Send + Sync>>> SourceProbe<'_, E> {
    /// How it becomes one.
    pub fn source(&self) -> Option<IntoSource<E>> {
        Some(E::into)
    }
}

/// The answer for what is no error and becomes none.
pub trait NoSource<E> {
    /// Not at all.
    fn source(&self) -> Option<IntoSource<E>> {
        None
    }
}

impl<E> NoSource<E> for &SourceProbe<'_, E> {}

/// What tells one injected value from another. Generated code asks
/// `(&HashProbe(&self.root)).feed(state)`: the inherent method exists only for what is `Hash`.
pub struct HashProbe<'a, T>(pub &'a T);

impl<T: Hash> HashProbe<'_, T> {
    /// The value itself.
    pub fn feed(&self, mut state: &mut dyn Hasher) {
        self.0.hash(&mut state);
    }
}

/// The answer for a value that is not `Hash`, such as a pool of connections.
pub trait NotHashed {
    /// Nothing: all are taken for one.
    fn feed(&self, _: &mut dyn Hasher) {}
}

impl<T> NotHashed for &HashProbe<'_, T> {}

/// Whether a type is a `Result`, whatever it is called. Generated code that takes a return type
/// for a plain value asks, so that `type R<T> = Result<T, E>` is not sent as `{"Ok": ..}`.
pub struct ResultProbe<T>(PhantomData<T>);

impl<T, E> ResultProbe<std::result::Result<T, E>>
where
    std::result::Result<T, E>: serde::Serialize,
{
    /// Yes. One that nobody could send is refused for that, and not once more.
    pub const IS_RESULT: bool = true;
}

/// The answer for any other type.
pub trait NotResult {
    /// No.
    const IS_RESULT: bool = false;
}

impl<T> NotResult for ResultProbe<T> {}

/// What the function behind a tool returns as `Err`, fit to be told or not: so that arms are read with
/// that type even where it is not.
#[diagnostic::on_unimplemented(
    message = "what `{Self}` fails with is not known from its type",
    label = "no `#[tool]` or `tool!` made this",
    note = "arms for a tool that is written by hand are added with `AgentBuilder::on_error_of`"
)]
pub trait Fails {
    /// The error.
    type With;
}

/// The arms that `on_error!(Tool, ..)` writes; the tool's own `on_error` asks them through
/// [`ArmsProbe`].
pub trait OnError: Fails {
    /// What the arms say.
    fn decide_by_arms(&self, error: CallError<'_, Self::With>, cx: &ErrorContext) -> Option<Plan>;

    /// The repair agents that the arms name.
    fn fixers_of_arms(&self) -> Vec<Arc<dyn Fixer>> {
        Vec::new()
    }
}

/// Whether a tool has arms. Generated code asks `(&ArmsProbe(self)).on_error(error, cx)`: the
/// inherent method exists only for a tool with [`OnError`].
pub struct ArmsProbe<'a, T>(pub &'a T);

impl<T: OnError> ArmsProbe<'_, T> {
    /// What the arms say.
    pub fn on_error(&self, error: CallError<'_, T::With>, cx: &ErrorContext) -> Option<Plan> {
        self.0.decide_by_arms(error, cx)
    }

    /// The repair agents that the arms name.
    pub fn fixers(&self) -> Vec<Arc<dyn Fixer>> {
        self.0.fixers_of_arms()
    }
}

/// The answer for a tool without arms.
pub trait NoArms<E> {
    /// Nothing.
    fn on_error(&self, error: CallError<'_, E>, cx: &ErrorContext) -> Option<Plan> {
        let _ = (error, cx);
        None
    }
}

impl<T: Fails> NoArms<T::With> for &ArmsProbe<'_, T> {}

/// The answer for a tool without arms.
pub trait NoFixers {
    /// None.
    fn fixers(&self) -> Vec<Arc<dyn Fixer>> {
        Vec::new()
    }
}

impl<T: Fails> NoFixers for &ArmsProbe<'_, T> {}

/// What `in_doubt` can say; in scope there by its name.
pub mod doubts {
    pub use crate::tool::{done, not_done, unknown};
}

/// A tool that is asked what became of an execution that was interrupted: one that writes and is not idempotent.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is never asked what became of an interrupted execution",
    label = "no `#[tool]` that writes and is not `idempotent`",
    note = "what does not write, or is `idempotent`, simply runs again: remove this",
    note = "a tool that is written by hand implements `Tool::in_doubt`; of one whose signature is refused only that has to change"
)]
pub trait MayBeInDoubt {
    /// What the model sends to it.
    type Args;
    /// What its function gives, fit to be told or not.
    type Found;
}

/// Why it cannot be found out: what `?` makes of any error with a text.
#[derive(Debug)]
pub struct CannotTell(String);

impl<E: Display> From<E> for CannotTell {
    fn from(error: E) -> Self {
        CannotTell(error.to_string())
    }
}

/// What a `return` in `in_doubt` gives.
///
/// # Errors
/// Never.
pub fn known<T>(known: InDoubt<T>) -> Result<InDoubt<T>, CannotTell> {
    Ok(known)
}

/// What became of an execution, fit to be told; what cannot be found out is logged.
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
            tracing::warn!(tool = %cx.tool(), %error, "whether it took effect cannot be found out");
            InDoubt::Unknown
        }
    }
}

/// The answer for a tool without `in_doubt`, which gives its type a method of this name.
pub trait SaysNothing: MayBeInDoubt {
    /// Unknown.
    fn __in_doubt<A>(
        &self,
        _: A,
        _: &ToolContext,
    ) -> impl Future<Output = Result<InDoubt<Self::Found>, CannotTell>> + Send {
        async { Ok(InDoubt::Unknown) }
    }
}

impl<T: MayBeInDoubt> SaysNothing for T {}

/// The repair agents that these decisions name.
pub fn fixers_of<K: Kind, const N: usize>(decisions: [Decision<K>; N]) -> Vec<Arc<dyn Fixer>> {
    let steps = decisions.iter().flat_map(Decision::steps);
    steps
        .filter_map(|step| match step {
            Step::Ask { fixer, .. } => fixer.live().cloned(),
            _ => None,
        })
        .collect()
}

/// A tool that a list names. Generated code asks `Listing(self).shared()`: the inherent method exists
/// only for what is a tool.
pub struct Listing<T>(pub T);

impl<T: IntoTool> Listing<T> {
    /// The tool, shared.
    pub fn shared(self) -> SharedTool {
        self.0.into_tool()
    }
}

/// The answer for a tool of which rustc has refused an argument, or the result: that is said where the
/// type stands, and not once more in every list.
pub trait Refused: Sized {
    /// Never there to be called.
    fn shared(self) -> SharedTool {
        unreachable!("what does not compile is in no list")
    }
}

impl<T> Refused for Listing<T> {}

/// Whatever else stands in a list: `#[tool]` gives its types a method of this name.
pub trait Listed: Sized {
    /// The thing itself.
    #[must_use]
    fn __listed(self) -> Self {
        self
    }
}

impl<T> Listed for T {}

/// `approval = when(..)`: tells the closure what it is given.
pub fn ask<A>(args: &A, cx: &ToolContext, when: impl FnOnce(&A, &ToolContext) -> bool) -> bool {
    when(args, cx)
}

/// A failure with the error as the function returned it.
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
