//! Patterns of an `execution_error`, which take a `Failure` apart.

use crate::walk::{self, Part};
use syn::{Ident, Pat, Path};

/// Collects the name of each `Returned(e)` in a pattern, to check it against the tool's error type.
pub(crate) fn returned(pattern: &Pat, names: &mut Vec<Ident>) {
    walk::read_pat(pattern, &mut |part| {
        if let Part::Pat(Pat::TupleStruct(variant)) = part
            && is_returned(&variant.path)
        {
            let last = variant.path.segments.last();
            names.extend(last.map(|last| last.ident.clone()));
        }
        true
    });
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
