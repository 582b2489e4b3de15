//! What a function gives back, told by how it is written.

use crate::{
    diag::Errors,
    messages,
    model::Returns,
    syntax::{bare, last_name, written},
};
use syn::{GenericArgument, PathArguments, ReturnType, Signature, Type, visit::Visit};

/// A type whose name ends in `Result` is one; a type alias of another name is found out by rustc,
/// through the probe that the expansion holds.
pub(super) fn returns(sig: &Signature) -> Returns {
    match &sig.output {
        ReturnType::Default => Returns::Nothing(sig.ident.span()),
        ReturnType::Type(_, ty) if last_name(ty).as_deref() == Some("Result") => {
            Returns::Result((**ty).clone())
        }
        ReturnType::Type(_, ty) => Returns::Value((**ty).clone()),
    }
}

/// What the answer itself is, as far as tokens tell: `T` in `Result<T, E>`.
pub(crate) fn answer(returns: &Returns) -> Option<Type> {
    match returns {
        Returns::Nothing(_) => Some(syn::parse_quote!(())),
        Returns::Value(ty) => Some(ty.clone()),
        Returns::Result(ty) => argument(ty, 0).cloned(),
    }
}

/// `E` in `Result<T, E>`, which is argument 1.
pub(crate) fn argument(ty: &Type, n: usize) -> Option<&Type> {
    let Type::Path(path) = bare(ty) else {
        return None;
    };
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else {
        return None;
    };
    match arguments.args.get(n)? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}

/// Refuses `impl Trait`, wherever it stands in `ty`. Gives back whether it found some, or a `_`.
pub(super) fn refuse_impl_trait(ty: &Type, what: &str, errors: &Errors) -> bool {
    struct Finder<'e>(&'e Errors, &'e str, bool);
    impl<'ast> Visit<'ast> for Finder<'_> {
        fn visit_type_impl_trait(&mut self, ty: &'ast syn::TypeImplTrait) {
            self.0.at(ty, messages::no_impl_trait(self.1));
            self.2 = true;
        }

        fn visit_type_infer(&mut self, _: &'ast syn::TypeInfer) {
            // rustc says so of the function itself.
            self.2 = true;
        }
    }
    let mut finder = Finder(errors, what, false);
    finder.visit_type(ty);
    finder.2
}

/// The reference in what is given back that is not `'static`.
pub(super) fn lent(returns: &Returns) -> Option<syn::TypeReference> {
    match returns {
        Returns::Nothing(_) => None,
        Returns::Value(ty) | Returns::Result(ty) => {
            borrow_in(ty).filter(|reference| !is_static(reference))
        }
    }
}

/// Whether a reference stands somewhere in `ty`; the first is given back.
pub(super) fn borrow_in(ty: &Type) -> Option<syn::TypeReference> {
    struct Finder(Option<syn::TypeReference>);
    impl<'ast> Visit<'ast> for Finder {
        fn visit_type_reference(&mut self, ty: &'ast syn::TypeReference) {
            self.0.get_or_insert_with(|| ty.clone());
        }
        // What stands in `fn(&str)` borrows nothing.
        fn visit_type_fn_ptr(&mut self, _: &'ast syn::TypeFnPtr) {}
        fn visit_parenthesized_generic_arguments(
            &mut self,
            _: &'ast syn::ParenthesizedGenericArguments,
        ) {
        }
    }
    let mut finder = Finder(None);
    finder.visit_type(ty);
    finder.0
}

/// `&'static T`
pub(super) fn is_static(ty: &syn::TypeReference) -> bool {
    ty.lifetime
        .as_ref()
        .is_some_and(|lifetime| lifetime.ident == "static")
}

/// What to write instead of a reference.
pub(super) fn owned(ty: &syn::TypeReference) -> String {
    let elem = bare(&ty.elem);
    match (last_name(elem).as_deref(), elem) {
        (Some("str"), _) => "String".to_owned(),
        (Some("Path"), _) => "PathBuf".to_owned(),
        (_, Type::Slice(slice)) => {
            let elem = &slice.elem;
            format!("Vec<{}>", written(elem))
        }
        _ => written(elem),
    }
}
