//! `#[knowledge] fn style(&self) -> String { .. }`, from its function.

use super::{cfgs, wants_no_arguments};
use crate::{
    ast::Function,
    diag::Errors,
    messages,
    model::{Docs, Knowledge},
    syntax::last_name,
};
use syn::{Attribute, FnArg, ReceiverKind, ReturnType};

/// What the user meant by `#[knowledge]`.
pub(super) fn knowledge(
    function: &Function,
    mark: &Attribute,
    errors: &Errors,
) -> Option<Knowledge> {
    let (sig, name) = (&function.sig, &function.sig.ident);
    let mut fits = true;
    let mut refuse = |tokens: &dyn quote::ToTokens, message: String| {
        errors.at(tokens, message);
        fits = false;
    };
    wants_no_arguments(mark, errors, messages::knowledge_takes_nothing());
    if let Some(asyncness) = &sig.asyncness {
        refuse(asyncness, messages::knowledge_at_hand(name));
    }
    match sig.receiver().map(|receiver| (&receiver.kind, receiver)) {
        Some((ReceiverKind::Reference(_, _, None), _)) => {}
        Some((_, receiver)) => refuse(receiver, messages::by_shared_reference("knowledge")),
        None => refuse(name, messages::knowledge_without_self(name)),
    }
    for input in &sig.inputs {
        if let FnArg::Typed(input) = input {
            refuse(input, messages::knowledge_without_input().to_owned());
        }
    }
    if !function.has_body() {
        refuse(name, messages::knowledge_without_body(name));
    }
    let ty = match &sig.output {
        ReturnType::Type(_, ty) if last_name(ty).as_deref() != Some("Result") => {
            Some((**ty).clone())
        }
        ReturnType::Type(_, ty) => {
            refuse(ty, messages::knowledge_at_hand(name));
            None
        }
        ReturnType::Default => {
            refuse(name, messages::knowledge_at_hand(name));
            None
        }
    };
    let mut function = function.clone();
    let docs = Docs::take(&mut function.attrs);
    ty.filter(|_| fits).map(|ty| Knowledge {
        cfgs: cfgs(&function.attrs),
        function,
        docs,
        ty,
    })
}
