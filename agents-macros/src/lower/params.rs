//! The parameters of a tool: arguments, injected values, and the context of the call.

use crate::{
    model::{Docs, Param, ParamKind},
    syntax::{
        bare, borrow_in, is_lint_level, is_opaque, is_static, is_tool_context, is_unsized_by_name,
        parameter_name, typed,
    },
};
use syn::{Attribute, PatType, Signature, Type};

/// Reads the parameters of a tool's function, except those that the check reports.
pub(super) fn params(sig: &Signature) -> Vec<Param> {
    typed(sig).into_iter().filter_map(param).collect()
}

fn param(typed: &PatType) -> Option<Param> {
    let mut attrs = typed.attrs.clone();
    attrs.retain(|attribute| !is_lint_level(attribute));
    let docs = Docs::take(&mut attrs);
    let ident = parameter_name(typed)?.clone();
    let is_injected = attrs.iter().any(|one| one.path().is_ident("inject"));
    let (kind, ty) = match is_tool_context(&typed.ty) {
        true => (context(&typed.ty)?, (*typed.ty).clone()),
        false if is_injected => injected(&typed.ty)?,
        false => argument(&typed.ty, attrs)?,
    };
    Some(Param {
        ident,
        ty,
        kind,
        docs,
    })
}

fn context(ty: &Type) -> Option<ParamKind> {
    match bare(ty) {
        Type::Reference(reference) if reference.mutability.is_none() => Some(ParamKind::Context),
        _ => None,
    }
}

/// Reads the type of an injected parameter. The tool has a field of type `T`, which is cloned for `T` and lent for
/// `&T`.
fn injected(ty: &Type) -> Option<(ParamKind, Type)> {
    if is_opaque(ty) {
        return None;
    }
    match bare(ty) {
        Type::Reference(reference) if !is_static(reference) => {
            let is_field = !is_unsized_by_name(&reference.elem) && reference.mutability.is_none();
            let kind = ParamKind::Injected { by_reference: true };
            is_field.then(|| (kind, (*reference.elem).clone()))
        }
        _ => {
            let by_reference = false;
            Some((ParamKind::Injected { by_reference }, ty.clone()))
        }
    }
}

fn argument(ty: &Type, attrs: Vec<Attribute>) -> Option<(ParamKind, Type)> {
    let can_be_had = !is_opaque(ty) && borrow_in(ty).is_none();
    can_be_had.then(|| (ParamKind::Argument(attrs), ty.clone()))
}
