//! Patterns of an `execution_error`, which take a `Failure` apart.

use syn::{
    Ident, Pat, PatTupleStruct, Path,
    visit::{self, Visit},
};

/// Collects the name of each `Returned(e)` in a pattern, to check it against the tool's error type.
pub(crate) struct Returned(pub(crate) Vec<Ident>);

impl<'ast> Visit<'ast> for Returned {
    fn visit_pat_tuple_struct(&mut self, pattern: &'ast PatTupleStruct) {
        if is_returned(&pattern.path) {
            let last = pattern.path.segments.last();
            self.0.extend(last.map(|last| last.ident.clone()));
        }
        visit::visit_pat_tuple_struct(self, pattern);
    }
}

/// Tells whether a path ends with `Returned`, such as `Failure::Returned`.
pub(crate) fn is_returned(path: &Path) -> bool {
    let last = path.segments.last();
    last.is_some_and(|last| last.ident == "Returned")
}

/// Tells whether a pattern takes only `TimedOut` and `Panicked`, after which the tool may have taken effect.
pub(crate) fn is_cut_off(pattern: &Pat) -> bool {
    match pattern {
        Pat::TupleStruct(variant) => variant
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "TimedOut" || last.ident == "Panicked"),
        Pat::Ident(binding) => binding
            .subpat
            .as_ref()
            .is_some_and(|(_, inner)| is_cut_off(inner)),
        Pat::Or(either) => either.cases.iter().all(is_cut_off),
        Pat::Paren(inner) => is_cut_off(&inner.pat),
        Pat::Reference(inner) => is_cut_off(&inner.pat),
        _ => false,
    }
}
