//! What a function has to take and give to be a tool.
//!
//! Generated code bounds the types of a signature on these traits and goes through their `Type`,
//! which is the type itself: so a type that is not fit is one error, at the user's own tokens, where
//! the derives behind would give one for each of their bounds.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Display;

/// Bound on the arguments of a tool: `DeserializeOwned +` [`JsonSchema`] `+ Send + Sync + 'static`.
///
/// Nobody implements it; two derives are all that it takes.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::Argument;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Place {
///     /// In degrees, north is positive.
///     latitude: f64,
///     longitude: f64,
/// }
///
/// fn can_be_sent<T: Argument>() {}
/// can_be_sent::<Place>();
/// can_be_sent::<Option<Vec<Place>>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool",
    label = "a model cannot send this",
    note = "derive what it takes to be read and described, for the type and for all that it holds: `#[derive(serde::Deserialize, schemars::JsonSchema)]`",
    note = "it has to own what it holds (`Send + Sync + 'static`); what no model sends, such as a pool of connections, is `#[inject]`ed"
)]
pub trait Argument: Sized {
    /// The type itself.
    #[doc(hidden)]
    type Type: DeserializeOwned + JsonSchema + Send + Sync + 'static;
    /// What was sent.
    #[doc(hidden)]
    fn unpack(sent: Self::Type) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Argument for T {
    type Type = T;
    fn unpack(sent: T) -> T {
        sent
    }
}

/// Bound on the output of a tool: any [`Serialize`] type.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::ToolOutput;
///
/// #[derive(serde::Serialize)]
/// struct Weather<'a> { city: &'a str, degrees: i8 }
///
/// fn can_be_given_back<T: ToolOutput>() {}
/// can_be_given_back::<Option<Weather<'_>>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    label = "a model cannot be told this",
    note = "derive it, for the type and for all that it holds: `#[derive(serde::Serialize)]`; a `Result` is written out: `-> Result<.., ..>`"
)]
pub trait ToolOutput {
    /// The type itself.
    #[doc(hidden)]
    type Type: Serialize + Send;
    /// What is told.
    #[doc(hidden)]
    fn pack(self) -> Self::Type;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + Send> ToolOutput for T {
    type Type = T;
    fn pack(self) -> T {
        self
    }
}

/// Bound on the error type of a tool: any [`Display`] type that owns its data, `anyhow::Error`
/// included.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::ToolFault;
///
/// // No `std::error::Error` is needed, only a text that a model can read.
/// struct OutOfStock { left: u32 }
///
/// impl std::fmt::Display for OutOfStock {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         write!(f, "only {} are left", self.left)
///     }
/// }
///
/// fn can_be_told<E: ToolFault>() {}
/// can_be_told::<OutOfStock>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "a model cannot be told this",
    note = "give it a text: `impl std::fmt::Display for {Self}`, or `#[derive(thiserror::Error)]`; it has to own what it holds (`Send + Sync + 'static`)",
    note = "of errors of all kinds write `Box<dyn std::error::Error + Send + Sync>`, or `anyhow::Error`"
)]
pub trait ToolFault {
    /// The type itself.
    #[doc(hidden)]
    type Type: Display + Send + Sync + 'static;
    /// What is told.
    #[doc(hidden)]
    fn pack(self) -> Self::Type;
    /// What was returned.
    #[doc(hidden)]
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
