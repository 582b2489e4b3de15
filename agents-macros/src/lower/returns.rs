//! The type that a function returns.

use crate::{model::Returns, syntax::last_name};
use syn::{ReturnType, Signature};

/// Reads the return type. A type whose name ends in `Result` is one; rustc finds a type alias of another name, through
/// the probe in the expansion.
pub(super) fn returns(sig: &Signature) -> Returns {
    match &sig.output {
        ReturnType::Default => Returns::Nothing(sig.ident.span()),
        ReturnType::Type(_, ty) if last_name(ty).as_deref() == Some("Result") => {
            Returns::Result((**ty).clone())
        }
        ReturnType::Type(_, ty) => Returns::Value((**ty).clone()),
    }
}
