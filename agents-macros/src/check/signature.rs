//! The rules for the types in a signature.

use crate::{
    diag::Errors,
    messages, suggest,
    syntax::{borrow_in, is_opaque},
};
use syn::{Type, TypeImplTrait, visit::Visit};

/// Tells whether a type can be named elsewhere. Each `impl Trait` in it is reported; rustc reports a `_`.
pub(super) fn is_concrete(ty: &Type, what: &str, errors: &Errors) -> bool {
    struct Opaque<'e>(&'e Errors, &'e str);
    impl<'ast> Visit<'ast> for Opaque<'_> {
        fn visit_type_impl_trait(&mut self, ty: &'ast TypeImplTrait) {
            self.0.at(ty, messages::no_impl_trait(self.1));
        }
    }
    Opaque(errors, what).visit_type(ty);
    !is_opaque(ty)
}

/// Tells whether a type borrows nothing. `owner` is who has to own `it`.
pub(super) fn is_owned(ty: &Type, owner: &str, it: &str, errors: &Errors) -> bool {
    let Some(reference) = borrow_in(ty) else {
        return true;
    };
    let instead = suggest::owned(&reference);
    errors.at(reference, messages::borrowed(owner, it, instead));
    false
}
