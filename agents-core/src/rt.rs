//! Everything that generated code may name. Not for people: it changes without notice.

pub use crate::{
    Error,
    agent::{Agent, AgentBuilder, Data, ModelAgent, ModelDriven, Profile, Skill},
    error::{AnyError, Code, ErrorKind, Failure, Severity, ToolFailure},
    escalation::{Escalation, Resolution, vocabulary as resolutions},
    recovery::{
        CallError, Decision, ErrorContext, Fixer, FixerRef, IntoDecision, Plan, fix_with, kinds,
        vocabulary,
    },
    run::{Budget, Cx},
    team::Member,
    tool::{
        Approval, Cache, Category, Effects, Tool, ToolContext, ToolName, ToolSet, ToolSpec,
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
    hash::{Hash, Hasher},
    option::Option::{self, None, Some},
    result::Result::{self, Err, Ok},
    string::String,
    sync::{Arc, LazyLock, OnceLock},
    time::Duration,
    vec::Vec,
};

use crate::{
    agent::IntoInput,
    compose::{Arm, Routed},
    recovery::{Kind, Step},
};
pub use futures_util::future::BoxFuture;
use std::{any::Any, fmt::Display, marker::PhantomData};

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

impl<T, E> ResultProbe<std::result::Result<T, E>> {
    /// Yes.
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

/// What an arm ends with, as what the run carries out.
pub fn arm<K, D: IntoDecision<K>>(decision: D) -> Option<Plan> {
    decision.into_decision().map(Plan::from)
}

/// A tool that can run twice without doing anything twice: it does not write, or is `idempotent`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` writes, so `retry` could apply it twice",
    label = "this tool is neither free of writes nor `idempotent`",
    note = "declare it `idempotent` if running it twice is as good as once, or `escalate(..)` instead; where the `retry` is an agent's default, give the tool arms of its own with `on_error!({Self}, match error {{ .. }})`"
)]
pub trait RetrySafe {}

/// Refuses, at the caller's span, a tool that may not be retried.
pub fn assert_retry_safe<T: RetrySafe>() {}

/// An agent's own body returned `Err`. What came out of another agent goes on as it is.
pub fn failed<E: Display + 'static>(error: E) -> Error {
    match (&error as &dyn Any).downcast_ref::<Error>() {
        Some(error) => error.clone(),
        None => Error::new(ErrorKind::Failed, error.to_string()),
    }
}

/// `approval = when(..)`: tells the closure what it is given.
pub fn ask<A>(args: &A, cx: &ToolContext, when: impl FnOnce(&A, &ToolContext) -> bool) -> bool {
    when(args, cx)
}

/// [`routed`](crate::compose::routed), for agents that are asked one by one what they are.
pub fn branch<A, T, O, F>(agent: A, targets: T, route: F) -> Routed<A, T, F>
where
    A: Agent,
    F: for<'a> Fn(&'a Cx, A::Out, &'a T) -> BoxFuture<'a, Result<O, Error>> + Send + Sync,
{
    Routed::new(agent, targets, route)
}

/// `agent.run(input)` in an arm of `branch!`, of which `first` is in the first one.
pub fn go_on<'a, First, A, O>(
    first: &First,
    agent: &'a A,
    cx: &'a Cx,
    input: impl IntoInput<A::In>,
) -> BoxFuture<'a, Result<O, Error>>
where
    A: Agent + Arm<O, First, <A as Agent>::Out>,
    First: Agent<Out = O>,
{
    let _ = first;
    agent.run_in(cx, input.into_input())
}

/// What a model can send as an argument.
///
/// Generated code bounds a type on this trait and goes through [`Type`](Argument::Type), which is
/// the type itself: so a type that is not fit is one error, at the user's own tokens, where the
/// derives behind would give one for each of their bounds. The traits below do the same.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool",
    label = "a model cannot send this",
    note = "derive both `serde::Deserialize` and `schemars::JsonSchema` for it, and let it own what it holds (`Send + Sync + 'static`)"
)]
pub trait Argument: Sized {
    /// The type itself.
    type Type: serde::de::DeserializeOwned + schemars::JsonSchema + Send + Sync + 'static;
    /// What was sent.
    fn unpack(sent: Self::Type) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: serde::de::DeserializeOwned + schemars::JsonSchema + Send + Sync + 'static> Argument for T {
    type Type = T;
    fn unpack(sent: T) -> T {
        sent
    }
}

/// What a tool can give back.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    label = "a model cannot be told this",
    note = "derive `serde::Serialize` for it"
)]
pub trait ToolOutput {
    /// The type itself.
    type Type: serde::Serialize + Send;
    /// What is told.
    fn pack(self) -> Self::Type;
}

#[diagnostic::do_not_recommend]
impl<T: serde::Serialize + Send> ToolOutput for T {
    type Type = T;
    fn pack(self) -> T {
        self
    }
}

/// What a tool can fail with.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "a model cannot be told this",
    note = "implement `Display` for it, or derive `thiserror::Error`; and let it own what it holds (`Send + Sync + 'static`)"
)]
pub trait ToolFault {
    /// The type itself.
    type Type: Display + Send + Sync + 'static;
    /// What is told.
    fn pack(self) -> Self::Type;
    /// What was returned.
    fn unpack(told: &Self::Type) -> &Self;
}

#[diagnostic::do_not_recommend]
impl<T: Display + Send + Sync + 'static> ToolFault for T {
    type Type = T;
    fn pack(self) -> T {
        self
    }
    fn unpack(told: &T) -> &T {
        told
    }
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

/// What can go into an agent, and what an agent with a body can give.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot go into an agent or come out of one",
    label = "not data that can be stored",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it, and own what it holds: a run that is put down has to be picked up again"
)]
pub trait AgentData: Sized {
    /// The type itself.
    type Type: Data;
    /// What comes out.
    fn pack(self) -> Self::Type;
    /// What went in.
    fn unpack(data: Self::Type) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Data> AgentData for T {
    type Type = T;
    fn pack(self) -> T {
        self
    }
    fn unpack(data: T) -> T {
        data
    }
}

/// What a model can be asked to answer with.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the answer of a model",
    label = "a model cannot be asked for this",
    note = "derive `serde::Serialize`, `serde::Deserialize` and `schemars::JsonSchema` for it: the model is told the schema"
)]
pub trait ModelAnswer {
    /// The type itself.
    type Type: Data + schemars::JsonSchema;
    /// What comes out.
    fn pack(self) -> Self::Type;
}

#[diagnostic::do_not_recommend]
impl<T: Data + schemars::JsonSchema> ModelAnswer for T {
    type Type = T;
    fn pack(self) -> T {
        self
    }
}
