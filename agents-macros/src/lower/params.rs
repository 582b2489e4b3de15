//! The parameters of a tool: arguments, injected values, and the context of the call.

use super::{
    returns::{borrow_in, is_static, owned, refuse_impl_trait},
    wants_no_arguments,
};
use crate::{
    diag::Errors,
    messages,
    model::{Docs, Param, ParamKind},
    names::plain,
    suggest::attributes,
    syntax::{attribute_name, bare, is_lint_level, last_name, written},
};
use syn::{Attribute, FnArg, Ident, Pat, PatType, Signature, Type};

/// Sorts the parameters. `None` stands for one that cannot be had.
pub(super) fn params(sig: &Signature, errors: &Errors) -> Vec<Option<Param>> {
    sig.inputs
        .iter()
        .map(|input| param(input, errors))
        .collect()
}

fn param(input: &FnArg, errors: &Errors) -> Option<Param> {
    let typed = match input {
        FnArg::Receiver(receiver) => {
            errors.at(receiver, messages::TOOL_WITH_SELF);
            return None;
        }
        FnArg::Typed(typed) => typed,
    };
    let mut attrs = typed.attrs.clone();
    attrs.retain(|attribute| !is_lint_level(attribute));
    let docs = Docs::take(&mut attrs);
    let ident = name(typed, "a parameter", errors);
    if is_context(&typed.ty) {
        let param = context(typed, &attrs, errors);
        return Some(Param {
            ident: ident?,
            ty: (*typed.ty).clone(),
            kind: param?,
            docs,
        });
    }
    let (inject, attrs): (Vec<_>, Vec<_>) = attrs
        .into_iter()
        .partition(|attribute| attribute.path().is_ident("inject"));
    let (kind, ty) = match inject.first() {
        Some(inject) => {
            wants_no_arguments(inject, errors, messages::inject_takes_nothing());
            for attribute in &attrs {
                errors.at(attribute, messages::inject_and_serde());
            }
            injected(&typed.ty, errors)?
        }
        None => {
            known_only(&attrs, ident.as_ref(), errors);
            let ty = argument(&typed.ty, ident.as_ref(), errors);
            // Nobody looks at a parameter that cannot be had: what else is wrong with it is said here.
            if let (None, Some(name)) = (&ty, &ident)
                && docs.is_empty()
            {
                errors.at(name, messages::undescribed_argument(plain(name)));
            }
            let attrs = attributes::mended(attrs, ident.as_ref(), &typed.ty, errors);
            (ParamKind::Argument(attrs), ty?)
        }
    };
    Some(Param {
        ident: ident?,
        ty,
        kind,
        docs,
    })
}

/// `mut path` in `mut path: PathBuf`; anything that takes a value apart is refused.
pub(super) fn name(typed: &PatType, what: &str, errors: &Errors) -> Option<Ident> {
    match &*typed.pat {
        Pat::Ident(pattern) if pattern.subpat.is_none() && pattern.by_ref.is_none() => {
            Some(pattern.ident.clone())
        }
        other => {
            errors.at(other, messages::not_a_name(what));
            None
        }
    }
}

/// `ToolContext`, `&ToolContext`, `&mut agents::ToolContext`
fn is_context(ty: &Type) -> bool {
    match bare(ty) {
        Type::Reference(reference) => is_context(&reference.elem),
        other => last_name(other).as_deref() == Some("ToolContext"),
    }
}

fn context(typed: &PatType, attrs: &[Attribute], errors: &Errors) -> Option<ParamKind> {
    for attribute in attrs {
        let name = attribute_name(attribute);
        errors.at(
            attribute,
            format!("the context takes no attributes; remove `#[{name}]`"),
        );
    }
    match bare(&typed.ty) {
        Type::Reference(reference) if reference.mutability.is_none() => Some(ParamKind::Context),
        other => {
            errors.at(other, messages::context_by_reference("ToolContext"));
            None
        }
    }
}

/// `T` is a field that is cloned, `&T` one that is lent.
fn injected(ty: &Type, errors: &Errors) -> Option<(ParamKind, Type)> {
    if refuse_impl_trait(ty, "an injected value", errors) {
        return None;
    }
    let Type::Reference(reference) = bare(ty) else {
        return Some((
            ParamKind::Injected {
                by_reference: false,
            },
            ty.clone(),
        ));
    };
    if is_static(reference) {
        return Some((
            ParamKind::Injected {
                by_reference: false,
            },
            ty.clone(),
        ));
    }
    let unsized_ = matches!(bare(&reference.elem), Type::Slice(_) | Type::TraitObject(_))
        || matches!(last_name(&reference.elem).as_deref(), Some("str" | "Path"));
    if unsized_ || reference.mutability.is_some() {
        let instead = match bare(&reference.elem) {
            elem @ Type::TraitObject(_) => format!("Arc<{}>", written(elem)),
            _ => format!("&{}", owned(reference)),
        };
        errors.at(
            reference,
            messages::borrowed("a tool", "what is injected into it", instead),
        );
        return None;
    }
    Some((
        ParamKind::Injected { by_reference: true },
        (*reference.elem).clone(),
    ))
}

fn argument(ty: &Type, name: Option<&Ident>, errors: &Errors) -> Option<Type> {
    let what = name.map_or_else(
        || "an argument".to_owned(),
        |name| format!("argument `{}`", plain(name)),
    );
    if refuse_impl_trait(ty, &what, errors) {
        return None;
    }
    if let Some(reference) = borrow_in(ty) {
        errors.at(
            &reference,
            messages::borrowed("a tool", "its arguments", owned(&reference)),
        );
        return None;
    }
    Some(ty.clone())
}

fn known_only(attrs: &[Attribute], name: Option<&Ident>, errors: &Errors) {
    for attribute in attrs {
        if !["serde", "schemars"]
            .iter()
            .any(|known| attribute.path().is_ident(known))
        {
            errors.at(
                attribute,
                messages::parameter_attribute(&attribute_name(attribute), name),
            );
        }
    }
}
