//! Requirements on the types that a function takes and returns to be an agent. Generated code uses these traits as
//! described in `tool/signature.rs`.

use super::Data;
use crate::Error;
use schemars::JsonSchema;
use std::{any::Any, error::Error as StdError, fmt::Display};

/// Bound on an agent's input, and on the output of an agent with a body:
/// `Serialize + DeserializeOwned + Send + 'static`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot go into an agent or come out of one",
    label = "not data that can be stored",
    note = "derive both, for the type and for all that it holds: `#[derive(serde::Serialize, serde::Deserialize)]`",
    note = "a run that is put down has to be picked up again, so what goes in and out owns what it holds, and is data",
    note = "what can fail gives a `Result`, which is known by that name alone: write `-> Result<.., ..>` and no alias"
)]
// Public because generated code names it.
#[doc(hidden)]
pub trait AgentData: Sized {
    /// Type of the value as an agent gets it: the type itself.
    #[doc(hidden)]
    type Type: Data;
    /// Converts a value of the user's function into an output of the agent.
    #[doc(hidden)]
    fn pack(self) -> Self::Type;
    /// Converts an input of the agent into the value that the user's function takes.
    #[doc(hidden)]
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

/// Bound on the output of an agent that a model drives: `Serialize + DeserializeOwned +`
/// [`JsonSchema`] `+ Send + 'static`.
///
/// The trait is implemented for all such types; three derives are all that it takes.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::ModelAnswer;
///
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct Summary {
///     /// One sentence.
///     gist: String,
///     files: Vec<String>,
/// }
///
/// fn can_be_asked_for<T: ModelAnswer>() {}
/// can_be_asked_for::<Summary>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the answer of a model",
    label = "a model cannot be asked for this",
    note = "derive what it takes to be described, read and stored, for the type and for all that it holds: `#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]`, of `schemars = \"1\"`",
    note = "no model gives an image or a file (`Media`): a tool gives it, and its receipt keeps it; or an agent with a body gives it"
)]
// Public because generated code names it.
#[doc(hidden)]
pub trait ModelAnswer {
    /// Type of the answer as the agent gives it: the type itself.
    #[doc(hidden)]
    type Type: Data + JsonSchema;
    /// Converts an answer of the model into an output of the agent.
    #[doc(hidden)]
    fn pack(self) -> Self::Type;
}

#[diagnostic::do_not_recommend]
impl<T: Data + JsonSchema> ModelAnswer for T {
    type Type = T;
    fn pack(self) -> T {
        self
    }
}

/// Bound on the error type of an agent's own body: any [`Display`] type that owns its data.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of an agent",
    label = "whoever runs the agent cannot be told this",
    note = "give it a text: `impl std::fmt::Display for {Self}`, or `#[derive(thiserror::Error)]`; it has to own what it holds"
)]
// Public because generated code names it.
#[doc(hidden)]
pub trait AgentFault {
    /// Converts an error of the user's function into the error of the run, with the former as its source if it can be
    /// one. The error of another agent is passed on unchanged.
    #[doc(hidden)]
    fn failed(self, source: Option<IntoSource<Self>>) -> Error
    where
        Self: Sized;
}

/// Function that turns an error of the user's into the source of an [`Error`].
pub(crate) type IntoSource<E> = fn(E) -> Box<dyn StdError + Send + Sync>;

#[diagnostic::do_not_recommend]
impl<E: Display + 'static> AgentFault for E {
    fn failed(self, source: Option<IntoSource<E>>) -> Error {
        let failed = Error::of_displayed(&self);
        match source.filter(|_| !(&self as &dyn Any).is::<Error>()) {
            Some(source) => failed.caused_by(source(self)),
            None => failed,
        }
    }
}
