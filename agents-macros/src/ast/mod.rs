//! What the user wrote: every token is kept, everything is optional that a person may forget.
//!
//! Bodies stay token streams. The macros have no business in them, and a half-typed body must not
//! cost the user completion inside it.

pub(crate) mod bound;
pub(crate) mod ends;
pub(crate) mod failure;

use proc_macro2::{Group, TokenStream};
use quote::{ToTokens, TokenStreamExt, quote};
use syn::{
    Attribute, Expr, Generics, Ident, LitStr, Pat, Path, Signature, Token, Type, Visibility,
    punctuated::Punctuated, token,
};

/// One `key`, `key = value`, `key(..)` or `key = [..]` in an attribute.
pub(crate) struct Entry {
    pub(crate) key: Ident,
    pub(crate) value: Value,
}

/// What stands behind a key.
pub(crate) enum Value {
    /// Nothing: `strict`.
    Nothing,
    /// `= expr`
    Is(Expr),
    /// `= [a, b, ..c]`
    List(Vec<Element>),
    /// `(a = 1, b = 2)`, or `(expr)`
    Group(Vec<Expr>),
}

/// One element of a list.
pub(crate) enum Element {
    /// `expr`
    One(Expr),
    /// `..expr`
    Spread(Token![..], Expr),
}

/// A function, with a body or without.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Body,
}

/// What ends a function.
#[derive(Clone)]
pub(crate) enum Body {
    /// `{ .. }`
    Block(Group),
    /// `;`
    Semi(Token![;]),
}

/// What `tool!` and `#[tool]` are given.
pub(crate) struct Tool {
    /// The entries of `#[tool(..)]`.
    pub(crate) entries: Vec<Entry>,
    pub(crate) function: Function,
    pub(crate) examples: Vec<Example>,
    pub(crate) on_error: Option<Arms>,
    pub(crate) in_doubt: Option<InDoubt>,
}

/// `#[example(path = "a.txt")]`
pub(crate) struct Example {
    pub(crate) attribute: Attribute,
    pub(crate) fields: Vec<(Ident, Expr)>,
}

/// What `#[agent]` is given.
pub(crate) struct Agent<Item> {
    /// The entries of `#[agent(..)]`.
    pub(crate) entries: Vec<Entry>,
    pub(crate) item: Item,
}

/// `impl FileManager { .. }`
pub(crate) struct Impl {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) unsafety: Option<Token![unsafe]>,
    pub(crate) impl_token: Token![impl],
    pub(crate) generics: Generics,
    pub(crate) trait_: Option<(Path, Token![for])>,
    pub(crate) self_ty: Box<Type>,
    pub(crate) brace: token::Brace,
    pub(crate) members: Vec<Member>,
}

/// What stands in an `impl` block.
pub(crate) enum Member {
    /// A function, and what it is marked as.
    Function(Box<Function>, Option<Mark>),
    /// `on_error!(match error { .. });` or `on_error!(DeleteFile, match error { .. });`
    OnError(Arms),
    /// `on_escalation!(match escalation.severity { .. });`
    OnEscalation(Handler),
    /// Anything else, untouched.
    Other(TokenStream),
}

/// What a method of an agent is for.
pub(crate) enum Mark {
    /// `#[skill]` or `#[skill(when = ..)]`
    Skill(Skill),
    /// `#[knowledge]`
    Knowledge(Box<Attribute>),
}

/// The entries of `#[skill(..)]`.
pub(crate) struct Skill {
    pub(crate) entries: Vec<Entry>,
}

/// `on_escalation!(match escalation.severity { .. })`
pub(crate) struct Handler {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) keyword: Ident,
    pub(crate) body: Expr,
}

/// `on_error { .. }`, or `on_error!(Tool, match error { .. })`; with `"github_*"` for the tool, too
pub(crate) struct Arms {
    /// Those of the whole, where it stands in an `impl`.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) keyword: Ident,
    /// Whose failures these are; without, those of every tool, or of the tool beside.
    pub(crate) tool: Option<Path>,
    /// Those of the tools whose names fit this.
    pub(crate) named: Option<LitStr>,
    /// Those while this skill is at work.
    pub(crate) skill: Option<Ident>,
    pub(crate) arms: Vec<Arm>,
    /// The arms that can be read, as they are meant. `check` fills them in.
    pub(crate) meant: Vec<Arm>,
}

/// `in_doubt(key) => match .. { .. }`, or `in_doubt!(Tool, |key| match .. { .. })`
pub(crate) struct InDoubt {
    pub(crate) keyword: Ident,
    /// Whose executions these are; without, those of the tool beside.
    pub(crate) tool: Option<Path>,
    /// What the idempotency key is called; nothing for `_`.
    pub(crate) key: Option<Ident>,
    pub(crate) body: Expr,
}

/// `execution_error(Returned(e)) if e.is_timeout() => retry(max_attempts = 3),`
#[derive(Clone)]
pub(crate) struct Arm {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) kind: Ident,
    pub(crate) patterns: Punctuated<Pat, Token![,]>,
    pub(crate) guard: Option<(Token![if], Expr)>,
    pub(crate) body: Expr,
}

/// `Coder.grants([WriteFile]).delegates(Tester)`: an agent, and what is said of its place.
pub(crate) struct Placed {
    pub(crate) agent: Expr,
    /// In the order in which it is written.
    pub(crate) said: Vec<Said>,
}

/// `.grants([WriteFile])`
pub(crate) struct Said {
    pub(crate) method: Ident,
    pub(crate) paren: token::Paren,
    pub(crate) args: Vec<Argument>,
}

/// What is handed to something that is said.
pub(crate) enum Argument {
    /// To `delegates`: an agent at its place.
    Delegate(Placed),
    /// To anything else.
    Value(Expr),
}

/// `branch!(Review, match verdict { Passed(p) => Deployer.run(p) })`
pub(crate) struct Branch {
    pub(crate) agent: Expr,
    pub(crate) match_token: Token![match],
    pub(crate) value: Ident,
    pub(crate) arms: Vec<syn::Arm>,
}

impl Element {
    /// The type of a tool, where the element shows it: `ReadFile`, `WriteFile { root }`.
    pub(crate) fn tool_type(&self) -> Option<&Path> {
        let path = match self {
            Element::One(Expr::Path(path)) => &path.path,
            Element::One(Expr::Struct(literal)) => &literal.path,
            _ => return None,
        };
        let name = path.segments.last()?.ident.to_string();
        // What else is all in capitals is a constant.
        let is_type = name.starts_with(char::is_uppercase)
            && (name.contains(char::is_lowercase) || name.chars().count() == 1);
        is_type.then_some(path)
    }
}

impl Said {
    /// Returns the arguments that are no agents.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Expr> {
        self.args.iter().filter_map(|arg| match arg {
            Argument::Value(value) => Some(value),
            Argument::Delegate(_) => None,
        })
    }
}

impl Arm {
    /// Whether there are as many patterns as the kind hands over.
    pub(crate) fn fits(&self, takes: &[&str]) -> bool {
        self.patterns.len() == takes.len()
            || self
                .patterns
                .iter()
                .any(|pattern| matches!(pattern, Pat::Rest(_)))
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Function {
            attrs,
            vis,
            sig,
            body,
        } = self;
        tokens.append_all(attrs);
        vis.to_tokens(tokens);
        sig.to_tokens(tokens);
        match body {
            Body::Block(block) => block.to_tokens(tokens),
            Body::Semi(semi) => semi.to_tokens(tokens),
        }
    }
}

impl Impl {
    /// `impl<T> FileManager<T> where .. { members }`
    pub(crate) fn with_members(&self, members: &TokenStream) -> TokenStream {
        let Impl {
            attrs,
            unsafety,
            impl_token,
            generics,
            trait_,
            self_ty,
            brace,
            members: _,
        } = self;
        let trait_ = trait_
            .as_ref()
            .map(|(path, for_token)| quote!(#path #for_token));
        let where_clause = &generics.where_clause;
        let mut tokens =
            quote!(#(#attrs)* #unsafety #impl_token #generics #trait_ #self_ty #where_clause);
        brace.surround(&mut tokens, |inside| inside.extend(members.clone()));
        tokens
    }
}
