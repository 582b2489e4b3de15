//! Questions about the user's tokens, apart from the rules for them.

use crate::{
    keys::{CONTEXTS, is_verb},
    names::{is_one_of, plain},
    walk::{self, Look, Part},
};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Attribute, Expr, ExprCall, FnArg, GenericArgument, Ident, Macro, Meta, Pat, PatType, Path,
    PathArguments, ReceiverKind, Signature, Token, Type, TypeReference, ext::IdentExt,
    parse::Parser, punctuated::Punctuated,
};

/// Returns tokens as a person would write them: `Vec<String>` and not `Vec < String >`.
pub(crate) fn written(tokens: &impl ToTokens) -> String {
    tight(tokens.to_token_stream().to_string())
}

fn tight(mut text: String) -> String {
    for (spaced, tight) in [
        (" :: ", "::"),
        (" < ", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" , ", ", "),
        (" ;", ";"),
        (":: ", "::"),
    ] {
        text = text.replace(spaced, tight);
    }
    text
}

/// Removes the invisible brackets that `macro_rules!` leaves around an expression.
pub(crate) fn ungrouped(expr: Expr) -> Expr {
    match expr {
        Expr::Group(group) if group.attrs.is_empty() => ungrouped(*group.expr),
        other => other,
    }
}

/// Splits `max_turns = 1` into its key and its value. Gives any other expression back.
pub(crate) fn pair(value: Expr) -> Result<(Ident, Expr), Box<Expr>> {
    if let Expr::Assign(assign) = &value
        && let Expr::Path(left) = &*assign.left
        && let Some(name) = left.path.get_ident()
    {
        return Ok((name.clone(), ungrouped((*assign.right).clone())));
    }
    Err(Box::new(value))
}

/// Splits a value of a key, `api` or `ttl(expr)`, into the word and its argument; `None` for any other expression, and
/// for a call with several arguments.
pub(crate) fn word(value: &Expr) -> Option<(&Ident, Option<&Expr>)> {
    match value {
        Expr::Path(path) => Some((path.path.get_ident()?, None)),
        Expr::Call(call) if call.args.len() < 2 => match &*call.func {
            Expr::Path(path) => Some((path.path.get_ident()?, call.args.first())),
            _ => None,
        },
        _ => None,
    }
}

/// Splits `trim`, `trim(at = 0.75)` and `compact(by = Summariser)` into the verb and what stands in the brackets;
/// `None` for any other verb or value, which is an expression of the user's own.
pub(crate) fn policy_of_context(value: &Expr) -> Option<(Ident, Vec<Expr>)> {
    let (path, parts) = match value {
        Expr::Path(path) => (path, Vec::new()),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => (path, call.args.iter().cloned().collect()),
            _ => return None,
        },
        _ => return None,
    };
    let verb = path.path.get_ident()?;
    let is_known = CONTEXTS.contains(&plain(verb).as_str());
    is_known.then(|| (verb.clone(), parts))
}

/// Returns the last name of a path if it begins with a small letter: it names a function or a value, and no type. A
/// path that ends with `self` gives `None`.
pub(crate) fn function(expr: &Expr) -> Option<&Ident> {
    let Expr::Path(path) = expr else { return None };
    let name = &path.path.segments.last()?.ident;
    let is_function = name != "self" && plain(name).starts_with(char::is_lowercase);
    is_function.then_some(name)
}

/// Returns the call in `deferred(GITHUB)`, whether the function is imported or not.
pub(crate) fn deferring(expr: &Expr) -> Option<&ExprCall> {
    let Expr::Call(call) = expr else { return None };
    let is_it = function(&call.func).is_some_and(|name| name == "deferred");
    (is_it && call.args.len() == 1).then_some(call)
}

/// Returns the path of an expression of the form `Self::by_hand`, with its `Self`; `None` for any other expression.
pub(crate) fn own(expr: &Expr) -> Option<&Path> {
    match expr {
        Expr::Path(path) if is_own(&path.path) => Some(&path.path),
        _ => None,
    }
}

/// Tells whether a path has the form `Self::by_hand`.
pub(crate) fn is_own(path: &Path) -> bool {
    path.segments.len() == 2 && path.segments[0].ident == "Self"
}

/// Returns the name of a severity, `High` in `Severity::High`, whether the type is imported or not; `None` for any
/// other path.
pub(crate) fn spelled_severity(path: &Path) -> Option<&Ident> {
    let mut names = path.segments.iter().map(|segment| &segment.ident);
    match (path.leading_colon, names.next(), names.next(), names.next()) {
        (None, Some(of), Some(name), None) if of == "Severity" => Some(name),
        _ => None,
    }
}

/// Tells whether a name begins with a capital, as variants do.
pub(crate) fn is_capitalised(name: &Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}

/// Removes brackets around a type: visible ones, and the invisible ones of `macro_rules!`.
pub(crate) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        other => other,
    }
}

/// Returns the last name of a type's path as text, without `r#`: `ToolContext` for `agents::ToolContext`.
pub(crate) fn last_name(ty: &Type) -> Option<String> {
    match bare(ty) {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .map(|segment| segment.ident.unraw().to_string()),
        _ => None,
    }
}

/// Returns a type argument by its index among all arguments, lifetimes included: `E` in `Result<T, E>` has index 1.
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

/// Tells whether `impl Trait` or `_` stands in a type, so that it cannot be named elsewhere.
pub(crate) fn is_opaque(ty: &Type) -> bool {
    let mut is_opaque = false;
    walk::read_type(ty, &mut |part| {
        is_opaque |= matches!(part, Part::Type(Type::ImplTrait(_) | Type::Infer(_)));
        !is_opaque
    });
    is_opaque
}

/// Returns the first reference in a type; `None` if the type has none. References in the parameters of `fn(..)` and
/// `Fn(..)` do not count, nor do lifetimes such as `Cow<'a, str>` has.
pub(crate) fn borrow_in(ty: &Type) -> Option<TypeReference> {
    let mut first = None;
    walk::read_type(ty, &mut |part| match part {
        Part::Type(Type::Reference(reference)) => {
            first.get_or_insert_with(|| reference.clone());
            false
        }
        // The parameters of `fn(&str)` borrow nothing.
        Part::Type(Type::FnPtr(_)) | Part::Signature => false,
        _ => true,
    });
    first
}

/// Tells whether a reference is a `&'static T`.
pub(crate) fn is_static(ty: &TypeReference) -> bool {
    ty.lifetime
        .as_ref()
        .is_some_and(|lifetime| lifetime.ident == "static")
}

/// Returns the type behind all its references.
pub(crate) fn unreferenced(ty: &Type) -> &Type {
    match bare(ty) {
        Type::Reference(reference) => unreferenced(&reference.elem),
        other => other,
    }
}

/// Tells whether a type has no size, as far as its name tells: `str`, `Path`, `[T]` and `dyn Trait`.
pub(crate) fn is_unsized_by_name(ty: &Type) -> bool {
    matches!(bare(ty), Type::Slice(_) | Type::TraitObject(_))
        || matches!(last_name(ty).as_deref(), Some("str" | "Path"))
}

/// Returns the name of a parameter: `path` in `mut path: PathBuf`. A pattern that takes a value apart has none.
pub(crate) fn parameter_name(typed: &PatType) -> Option<&Ident> {
    match &*typed.pat {
        Pat::Ident(pattern) if pattern.subpat.is_none() && pattern.by_ref.is_none() => {
            Some(&pattern.ident)
        }
        _ => None,
    }
}

/// Returns the parameters of a function without `self`.
pub(crate) fn typed(sig: &Signature) -> Vec<&PatType> {
    let typed = sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    });
    typed.collect()
}

/// Tells whether a function takes `&self`.
pub(crate) fn takes_self_by_reference(sig: &Signature) -> bool {
    sig.receiver()
        .is_some_and(|receiver| matches!(receiver.kind, ReceiverKind::Reference(_, _, None)))
}

/// Tells whether a function has generic parameters or a `where` clause.
pub(crate) fn is_generic(sig: &Signature) -> bool {
    !sig.generics.params.is_empty() || sig.generics.where_clause.is_some()
}

/// Tells whether a type is the context of a run or of a call, or a reference to one.
pub(crate) fn is_context(ty: &Type) -> bool {
    let name = last_name(unreferenced(ty));
    matches!(name.as_deref(), Some("RunContext" | "ToolContext"))
}

/// Returns the last name of a type's path as the user's own token, for spans and for generated code.
pub(crate) fn type_ident(ty: &Type) -> Option<&Ident> {
    match bare(ty) {
        Type::Path(path) => path.path.segments.last().map(|segment| &segment.ident),
        _ => None,
    }
}

/// Tells whether a type is a `ToolContext`, or a reference to one.
pub(crate) fn is_tool_context(ty: &Type) -> bool {
    last_name(unreferenced(ty)).as_deref() == Some("ToolContext")
}

/// Takes those attributes out of a list for which `is_it` returns `true`.
pub(crate) fn taken(
    attrs: &mut Vec<Attribute>,
    is_it: &dyn Fn(&Attribute) -> bool,
) -> Vec<Attribute> {
    attrs.extract_if(.., |attribute| is_it(attribute)).collect()
}

/// Returns the name of an attribute: `serde` for `#[serde(..)]`.
pub(crate) fn attribute_name(attribute: &Attribute) -> String {
    let mut name = String::new();
    for segment in &attribute.path().segments {
        if !name.is_empty() {
            name += "::";
        }
        name += &segment.ident.to_string();
    }
    name
}

/// Tells whether an attribute sets a lint level, which may stand on a parameter.
pub(crate) fn is_lint_level(attribute: &Attribute) -> bool {
    let levels = ["allow", "expect", "warn", "deny", "forbid"];
    let name = attribute.path().get_ident();
    name.is_some_and(|name| is_one_of(name, &levels))
}

/// Tells whether one of these attributes has `key` in its parentheses: `flatten` in `#[serde(flatten)]`.
pub(crate) fn has_key(attrs: &[Attribute], key: &str) -> bool {
    let has = |list: &syn::MetaList| {
        list.tokens
            .clone()
            .into_iter()
            .any(|token| matches!(token, TokenTree::Ident(ident) if ident == key))
    };
    attrs
        .iter()
        .any(|attribute| matches!(&attribute.meta, Meta::List(list) if has(list)))
}

/// Walks over the arguments of a macro such as `dbg!`, since a verb in them means what it means elsewhere.
///
/// A macro without a verb in it stays as it is, and so does a macro whose tokens are no list of expressions.
pub(crate) fn handed_to(called: &mut Macro, look: &mut dyn Look) {
    let list = Punctuated::<Expr, Token![,]>::parse_terminated;
    if names_a_verb(called.tokens.clone())
        && let Ok(mut list) = list.parse2(called.tokens.clone())
    {
        for argument in &mut list {
            walk::rewrite(argument, look);
        }
        called.tokens = list.into_token_stream();
    }
}

fn names_a_verb(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(name) => is_verb(&name),
        TokenTree::Group(group) => names_a_verb(group.stream()),
        _ => false,
    })
}
