//! Bounds on the types in the signature of a tool's function.
//!
//! Generated code bounds the types of a signature on these traits and uses their `Type`, which is the type itself.
//! An unfit type is thus one error, at the user's own tokens. Bounds on the derived traits would give one error
//! for each trait.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Display;

/// Bound on the arguments of a tool: `DeserializeOwned +` [`JsonSchema`] `+ Send + Sync + 'static`.
///
/// No type implements this trait by hand: two derives are enough. For a type without them, attributes of the
/// parameter say how it is read and described: `#[serde(deserialize_with = "..")]`,
/// `#[schemars(with = "String")]`.
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
    note = "it has to own what it holds (`Send + Sync + 'static`); what no model sends, such as a pool of connections, is `#[inject]`ed",
    note = "no model sends an image or a file (`Media`): take its path or its id as a text"
)]
// Public because generated code names it.
#[doc(hidden)]
pub trait Argument: Sized {
    /// Type as which the argument is read: the type itself.
    #[doc(hidden)]
    type Type: DeserializeOwned + JsonSchema + Send + Sync + 'static;
    /// Converts what was read into the value that the tool's function takes: unchanged.
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

/// Bound on an argument whose description comes from `#[schemars(with = "..")]`:
/// `DeserializeOwned + Send + Sync + 'static`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from what a model sends",
    label = "`#[schemars(with = ..)]` describes this type, but nothing reads it",
    note = "say how on the parameter, `#[serde(deserialize_with = \"..\")]`, or derive it: `#[derive(serde::Deserialize)]`; it has to own what it holds (`Send + Sync + 'static`)"
)]
// Public because generated code names it.
#[doc(hidden)]
pub trait Readable: Sized {
    /// Type as which the argument is read: the type itself.
    #[doc(hidden)]
    type Type: DeserializeOwned + Send + Sync + 'static;
    /// Converts what was read into the value that the tool's function takes: unchanged.
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

/// Bound on an argument that `#[serde(deserialize_with = "..")]` reads: [`JsonSchema`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be described to a model",
    label = "`#[serde(deserialize_with = ..)]` reads this type, but nothing describes it",
    note = "say what a model has to send for it, on the parameter: `#[schemars(with = \"String\")]`, or derive it: `#[derive(schemars::JsonSchema)]`, of `schemars = \"1\"`"
)]
// Public because generated code names it.
#[doc(hidden)]
pub trait Described {
    /// Type by which the argument is described: the type itself.
    #[doc(hidden)]
    type Type: JsonSchema;
}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> Described for T {
    type Type = T;
}

/// Bound on a value that is injected into a tool: `Clone + Send + Sync + 'static`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected into a tool",
    label = "a tool is cloned with what it holds, and this cannot be",
    note = "share it: `Arc<{Self}>`; or derive it: `#[derive(Clone)]`; it has to own what it holds (`Send + Sync + 'static`)"
)]
// Public because generated code names it.
#[doc(hidden)]
pub trait Injected: Sized + Send + Sync + 'static {
    /// Returns a clone of the injected value, for one call.
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
// Public because generated code names it.
#[doc(hidden)]
pub trait ToolOutput {
    /// Type of the output as the run gets it: the type itself.
    #[doc(hidden)]
    type Type: Serialize + Send;
    /// Converts the tool's result into the value that the model is told: unchanged.
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
// Public because generated code names it.
#[doc(hidden)]
pub trait ToolFault {
    /// Type of the error as the run gets it: the type itself.
    #[doc(hidden)]
    type Type: Display + Send + Sync + 'static;
    /// Converts the tool's error into the one that the run handles: unchanged.
    #[doc(hidden)]
    fn pack(self) -> Self::Type;
    /// Converts the error that the run handles back into the one that the tool returned: unchanged.
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
