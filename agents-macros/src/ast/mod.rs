//! The code as written: every token is kept, and every part that a person may forget is optional.
//!
//! Bodies stay token streams. The macros do not look into them, and a half-typed body must not cost the user
//! completion inside it.

pub(crate) mod bound;
mod dir;
pub(crate) mod ends;
pub(crate) mod failure;

pub(crate) use dir::{Dir, Field, Folder, Header};

use proc_macro2::{Group, TokenStream};
use quote::{ToTokens, TokenStreamExt, quote};
use syn::{
    Attribute, Expr, Generics, Ident, LitStr, Pat, Path, Signature, Token, Type, Visibility,
    punctuated::Punctuated, token,
};

/// An entry in an attribute: `key`, `key = value`, `key(..)` or `key = [..]`.
pub(crate) struct Entry {
    pub(crate) key: Ident,
    pub(crate) value: Value,
}

/// The value behind a key of an attribute.
pub(crate) enum Value {
    /// No value, as in `strict`.
    Nothing,
    /// An expression, as in `model = expr`.
    Is(Expr),
    /// A list of values, as in `tools = [a, b, ..c]`.
    List(Vec<Element>),
    /// Expressions in parentheses: `(a = 1, b = 2)`, or `(expr)`.
    Group(Vec<Expr>),
}

/// An element of a list in an attribute, such as `a` or `..more`.
pub(crate) enum Element {
    /// A single value of the list: `expr`.
    One(Expr),
    /// All values of another list: `..expr`.
    Spread(Token![..], Expr),
}

/// A function that a macro was given, with a body or without.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Body,
}

/// The end of a function: its body, or a semicolon if a model answers instead.
#[derive(Clone)]
pub(crate) enum Body {
    /// A body: `{ .. }`
    Block(Group),
    /// No body, but a semicolon: `;`
    Semi(Token![;]),
}

/// The input of `tool!` and `#[tool]`, as the user wrote it.
pub(crate) struct Tool {
    /// The entries of `#[tool(..)]`.
    pub(crate) entries: Vec<Entry>,
    pub(crate) function: Function,
    pub(crate) examples: Vec<Example>,
    pub(crate) on_error: Option<Arms>,
    pub(crate) in_doubt: Option<InDoubt>,
    pub(crate) undo: Option<Undo>,
}

/// An example of a call: `#[example(path = "a.txt")]`.
pub(crate) struct Example {
    pub(crate) attribute: Attribute,
    pub(crate) fields: Vec<(Ident, Expr)>,
}

/// The input of `#[agent]`, as the user wrote it: a function or an `impl` block.
pub(crate) struct Agent<Item> {
    /// The entries of `#[agent(..)]`.
    pub(crate) entries: Vec<Entry>,
    pub(crate) item: Item,
}

/// An `impl` block: `impl FileManager { .. }`.
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

/// A member of an agent's `impl` block: a skill, knowledge, or another item.
pub(crate) enum Member {
    /// A function with its mark, such as `#[skill]`, if it has one.
    Function(Box<Function>, Option<Mark>),
    /// `on_error!(match error { .. });` or `on_error!(DeleteFile, match error { .. });`
    OnError(Arms),
    /// A handler of escalations: `on_escalation!(match escalation.severity { .. })`.
    OnEscalation(Handler),
    /// Any other member, which the macro leaves as it is.
    Other(TokenStream),
}

/// The mark of a method of an agent, which says what the agent does with it.
pub(crate) enum Mark {
    /// The mark of a method that is a skill: `#[skill]` or `#[skill(when = ..)]`
    Skill(Skill),
    /// The mark of a method that gives knowledge: `#[knowledge]`
    Knowledge(Box<Attribute>),
}

/// The entries of `#[skill(..)]` on a method.
pub(crate) struct Skill {
    pub(crate) entries: Vec<Entry>,
    /// Is `true` if the method is the one job of its agent, and has no `#[skill]`.
    pub(crate) unmarked: bool,
}

/// The block `on_escalation!(match escalation.severity { .. })` of an agent.
pub(crate) struct Handler {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) keyword: Ident,
    pub(crate) body: Expr,
}

/// The arms of an `on_error { .. }`, or of an `on_error!(Tool, match error { .. })`. A pattern such as `"github_*"`
/// may stand for the tool.
pub(crate) struct Arms {
    /// The attributes of the whole macro call, in an `impl`.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) keyword: Ident,
    /// The tool whose failures the arms are for. `None` if the arms are for every tool of the agent, for those that
    /// `named` or `skill` picks, or for the tool that the block stands beside.
    pub(crate) tool: Option<Path>,
    /// The pattern for the names of the tools, as in `on_error!("github_*", ..)`; `None` if no pattern is given.
    pub(crate) named: Option<LitStr>,
    /// Name of the skill during which the arms apply; `None` if they always apply.
    pub(crate) skill: Option<Ident>,
    pub(crate) arms: Vec<Arm>,
    /// The arms that can be read, with mistakes corrected where the meaning is clear. The check fills them in.
    pub(crate) meant: Vec<Arm>,
}

/// The code of an `in_doubt(key) => ..`, or of an `in_doubt!(Tool, |key| ..)`.
pub(crate) struct InDoubt {
    pub(crate) keyword: Ident,
    /// The tool whose executions the code looks into; `None` if it is the tool that the block stands beside.
    pub(crate) tool: Option<Path>,
    /// The name that the user gives to the idempotency key; `None` if the user writes `_` or no name.
    pub(crate) key: Option<Ident>,
    pub(crate) body: Expr,
}

/// The code of an `undo(output) => ..`, or of an `undo!(Tool, |output| ..)`.
pub(crate) struct Undo {
    pub(crate) keyword: Ident,
    /// The tool whose calls the code undoes; `None` if it is the tool that the block stands beside.
    pub(crate) tool: Option<Path>,
    /// The pattern that the user writes for the output of the call; `None` if the user writes `_` or no pattern.
    pub(crate) output: Option<Pat>,
    pub(crate) body: Expr,
}

/// An arm of `on_error`: `execution_error(Returned(e)) if e.is_timeout() => retry(max_attempts = 3),`
#[derive(Clone)]
pub(crate) struct Arm {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) kind: Ident,
    pub(crate) patterns: Punctuated<Pat, Token![,]>,
    pub(crate) guard: Option<(Token![if], Expr)>,
    pub(crate) body: Expr,
}

/// An agent in a `structure!` and the calls that describe its place: `Coder.grants([WriteFile]).delegates(Tester)`.
pub(crate) struct Placed {
    pub(crate) agent: Expr,
    /// The calls that describe the place, in the order of the source.
    pub(crate) said: Vec<Said>,
}

/// A call that describes a place in a team: `.grants([WriteFile])`.
pub(crate) struct Said {
    pub(crate) method: Ident,
    pub(crate) paren: token::Paren,
    pub(crate) args: Vec<Argument>,
}

/// An argument of a call that describes a place in a team.
pub(crate) enum Argument {
    /// An agent below this one, within the call `delegates(..)`.
    Delegate(Placed),
    /// An expression, in any call but `delegates`.
    Value(Expr),
}

/// A branch: `branch!(Review, match verdict { Passed(p) => Deployer.run(p) })`. The agent `Review` is run, its output
/// is called `verdict`, and the arms say which agent goes on with it.
pub(crate) struct Branch {
    pub(crate) agent: Expr,
    pub(crate) match_token: Token![match],
    pub(crate) value: Ident,
    pub(crate) arms: Vec<syn::Arm>,
}

impl Element {
    /// Returns the type of a tool if the element of a list shows it: `ReadFile`, `WriteFile { root }`.
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
    /// Returns the arguments of the call that are no delegates.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Expr> {
        self.args.iter().filter_map(|arg| match arg {
            Argument::Value(value) => Some(value),
            Argument::Delegate(_) => None,
        })
    }
}

impl Arm {
    /// Tells whether an arm has as many patterns as its kind of failure has values, or a `..` among them.
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
    /// Prints the `impl` block with other members: `impl<T> FileManager<T> where .. { members }`.
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
