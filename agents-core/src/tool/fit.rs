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
/// Nobody implements it; two derives are all that it takes. Of a type that has them not, the parameter says how it is
/// read and described: `#[serde(deserialize_with = "..")]`, `#[schemars(with = "String")]`.
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
    note = "derive what it takes to be read and described, for the type and for all that it holds: `#[derive(serde::Deserialize, schemars::JsonSchema)]`, of `schemars = \"1\"`",
    note = "of a type from elsewhere say on the parameter how it is read and described: `#[serde(deserialize_with = \"..\")] #[schemars(with = \"String\")]`; or put it into a type of your own",
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

/// Bound on an argument of which `#[schemars(with = "..")]` says how it is described:
/// `DeserializeOwned + Send + Sync + 'static`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from what a model sends",
    label = "it is said how this is described, and not how it is read",
    note = "say how on the parameter, `#[serde(deserialize_with = \"..\")]`, or derive it: `#[derive(serde::Deserialize)]`; it has to own what it holds (`Send + Sync + 'static`)"
)]
pub trait Readable: Sized {
    /// The type itself.
    #[doc(hidden)]
    type Type: DeserializeOwned + Send + Sync + 'static;
    /// What was sent.
    #[doc(hidden)]
    fn unpack(sent: Self::Type) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + Send + Sync + 'static> Readable for T {
    type Type = T;
    fn unpack(sent: T) -> T {
        sent
    }
}

/// Bound on an argument of which `#[serde(deserialize_with = "..")]` says how it is read: [`JsonSchema`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be described to a model",
    label = "it is said how this is read, and not what it looks like",
    note = "say what a model has to send for it, on the parameter: `#[schemars(with = \"String\")]`, or derive it: `#[derive(schemars::JsonSchema)]`, of `schemars = \"1\"`"
)]
pub trait Described {
    /// The type itself.
    #[doc(hidden)]
    type Type: JsonSchema;
}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> Described for T {
    type Type = T;
}

/// Bound on what is injected into a tool: `Clone + Send + Sync + 'static`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected into a tool",
    label = "a tool is cloned with what it holds, and this cannot be",
    note = "share it: `Arc<{Self}>`; or derive it: `#[derive(Clone)]`; it has to own what it holds (`Send + Sync + 'static`)"
)]
pub trait Injected: Sized + Send + Sync + 'static {
    /// A clone.
    #[doc(hidden)]
    #[must_use]
    fn copied(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> Injected for T {
    fn copied(&self) -> T {
        self.clone()
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
    note = "derive it, for the type and for all that it holds: `#[derive(serde::Serialize)]`",
    note = "a `Result` is known by that name alone: write `-> Result<.., ..>` and no alias"
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
