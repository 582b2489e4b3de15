//! The rules for the parameters of a tool.

use super::signature::{is_concrete, is_owned};
use crate::{
    diag::Errors,
    messages,
    model::Docs,
    names::{is_one_of, plain},
    suggest::{self, attributes},
    syntax::{
        attribute_name, bare, is_lint_level, is_static, is_tool_context, is_unsized_by_name,
        parameter_name, written,
    },
};
use syn::{Attribute, FnArg, Ident, Meta, PatType, Signature, Type};

/// Checks the parameters of a tool, and corrects their attributes where the meaning is clear.
pub(super) fn params(sig: &mut Signature, errors: &Errors) {
    for input in &mut sig.inputs {
        match input {
            FnArg::Receiver(receiver) => errors.at(receiver, messages::TOOL_WITH_SELF),
            FnArg::Typed(typed) => param(typed, errors),
        }
    }
}

fn param(typed: &mut PatType, errors: &Errors) {
    let name = parameter_name(typed).cloned();
    if name.is_none() {
        errors.at(&typed.pat, messages::not_a_name("a parameter"));
    }
    let is_doc = |attribute: &Attribute| attribute.path().is_ident("doc");
    let is_inject = |attribute: &Attribute| attribute.path().is_ident("inject");
    let attrs = typed.attrs.iter();
    let (inject, others): (Vec<_>, Vec<_>) = attrs
        .filter(|attribute| !is_lint_level(attribute) && !is_doc(attribute))
        .partition(|attribute| is_inject(attribute));
    if is_tool_context(&typed.ty) {
        context(typed, &[inject, others].concat(), errors);
    } else if let Some(inject) = inject.first() {
        if !matches!(inject.meta, Meta::Path(_)) {
            errors.at(inject, messages::inject_takes_nothing());
        }
        for attribute in others {
            errors.at(attribute, messages::inject_and_serde());
        }
        injected(&typed.ty, errors);
    } else {
        known_only(&others, name.as_ref(), errors);
        let fits = argument(&typed.ty, name.as_ref(), errors);
        // Nobody looks at a parameter that cannot be had: what else is wrong with it is said here.
        if let (false, Some(name)) = (fits, &name)
            && is_undescribed(typed)
        {
            errors.at(name, messages::undescribed_argument(plain(name)));
        }
        attributes::mend(&mut typed.attrs, name.as_ref(), &typed.ty, errors);
    }
}

fn is_undescribed(typed: &PatType) -> bool {
    Docs::take(&mut typed.attrs.clone()).is_empty()
}

fn context(typed: &PatType, attrs: &[&Attribute], errors: &Errors) {
    for attribute in attrs {
        errors.at(
            attribute,
            messages::context_without_attributes(attribute_name(attribute)),
        );
    }
    let is_lent = matches!(bare(&typed.ty), Type::Reference(lent) if lent.mutability.is_none());
    if !is_lent {
        errors.at(
            bare(&typed.ty),
            messages::context_by_reference("ToolContext"),
        );
    }
}

fn injected(ty: &Type, errors: &Errors) {
    if is_concrete(ty, "an injected value", errors)
        && let Type::Reference(reference) = bare(ty)
        && !is_static(reference)
        && (is_unsized_by_name(&reference.elem) || reference.mutability.is_some())
    {
        let instead = match bare(&reference.elem) {
            elem @ Type::TraitObject(_) => format!("Arc<{}>", written(elem)),
            _ => format!("&{}", suggest::owned(reference)),
        };
        let message = messages::borrowed("a tool", "what is injected into it", instead);
        errors.at(reference, message);
    }
}

fn argument(ty: &Type, name: Option<&Ident>, errors: &Errors) -> bool {
    let what = name.map_or_else(
        || "an argument".to_owned(),
        |name| format!("argument `{}`", plain(name)),
    );
    is_concrete(ty, &what, errors) && is_owned(ty, "a tool", "its arguments", errors)
}

fn known_only(attrs: &[&Attribute], name: Option<&Ident>, errors: &Errors) {
    for attribute in attrs {
        let known = |name: &Ident| is_one_of(name, &["serde", "schemars"]);
        if !attribute.path().get_ident().is_some_and(known) {
            let message = messages::parameter_attribute(&attribute_name(attribute), name);
            errors.at(attribute, message);
        }
    }
}
