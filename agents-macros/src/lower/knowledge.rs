//! `#[knowledge] fn style(&self) -> String { .. }`

use super::cfgs;
use crate::{
    ast::Function,
    model::{Docs, Knowledge},
    syntax::{last_name, takes_self_by_reference},
};
use syn::ReturnType;

/// Lowers one `#[knowledge]`, if its signature is that of text at hand. The rules report any other.
pub(super) fn knowledge(function: &Function) -> Option<Knowledge> {
    let sig = &function.sig;
    let fits = !function.is_async()
        && takes_self_by_reference(sig)
        && sig.inputs.len() == 1
        && function.has_body();
    let ty = match &sig.output {
        ReturnType::Type(_, ty) if fits && last_name(ty).as_deref() != Some("Result") => ty.clone(),
        _ => return None,
    };
    let mut function = function.clone();
    let docs = Docs::take(&mut function.attrs);
    Some(Knowledge {
        cfgs: cfgs(&function.attrs),
        function,
        docs,
        ty: *ty,
    })
}
