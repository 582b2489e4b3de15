//! Teams and branches.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Path, Token};

/// An agent and its place in a team.
pub(crate) struct Member {
    pub(crate) agent: Expr,
    /// The calls that describe the place, in the order of the source.
    pub(crate) said: Vec<Said>,
}

/// A call that describes a place in a team, with the user's word for it.
pub(crate) enum Said {
    Grants(Ident, Vec<ToolRef>),
    Confirm(Ident, Vec<ToolRef>),
    Budget(Ident, Expr),
    /// `background()` or `background_until_answer()`: a method without arguments.
    Background(Ident),
    Delegates(Ident, Vec<Member>),
}

/// A tool, as a team or a skill refers to it.
pub(crate) enum ToolRef {
    /// The type of a tool: `ReadFile`.
    Type(Path),
    /// The name of tools, or a pattern: `"mcp_*"`.
    Named(LitStr),
}

/// The agent of a `branch!`, and the agents that continue with its answer.
pub(crate) struct Branch {
    pub(crate) agent: Expr,
    pub(crate) match_token: Token![match],
    pub(crate) value: Ident,
    /// The agents that continue, each once in the order of the source, with its variable in the arms.
    pub(crate) targets: Vec<(Ident, Expr)>,
    pub(crate) arms: Vec<syn::Arm>,
}

impl Member {
    /// Returns the tools that `grants` lists for the place; `None` if `grants` is not written.
    pub(crate) fn granted(&self) -> Option<&[ToolRef]> {
        self.said.iter().find_map(|said| match said {
            Said::Grants(_, tools) => Some(tools.as_slice()),
            _ => None,
        })
    }

    /// Returns the tools that need confirmation at this place.
    pub(crate) fn confirmed(&self) -> &[ToolRef] {
        let confirmed = self.said.iter().find_map(|said| match said {
            Said::Confirm(_, tools) => Some(tools.as_slice()),
            _ => None,
        });
        confirmed.unwrap_or_default()
    }

    pub(crate) fn budget(&self) -> Option<&Expr> {
        self.said.iter().find_map(|said| match said {
            Said::Budget(_, budget) => Some(budget),
            _ => None,
        })
    }

    /// Returns the methods that let the agent work in the background: none, or one if the team has no mistake.
    pub(crate) fn background(&self) -> Vec<&Ident> {
        let methods = self.said.iter().filter_map(|said| match said {
            Said::Background(method) => Some(method),
            _ => None,
        });
        methods.collect()
    }

    pub(crate) fn delegates(&self) -> &[Member] {
        let members = self.said.iter().find_map(|said| match said {
            Said::Delegates(_, members) => Some(members.as_slice()),
            _ => None,
        });
        members.unwrap_or_default()
    }

    /// Returns the agent as a path; `None` if it is any other expression. A path means the same agent everywhere.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.agent {
            Expr::Path(path) => Some(&path.path),
            _ => None,
        }
    }
}

impl ToTokens for ToolRef {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            ToolRef::Type(path) => path.to_tokens(tokens),
            ToolRef::Named(name) => name.to_tokens(tokens),
        }
    }
}

impl ToolRef {
    /// Reads a tool in a list, `ReadFile` or `"mcp_*"`. Gives any other expression back.
    pub(crate) fn of(tool: Expr) -> Result<Self, Box<Expr>> {
        match tool {
            Expr::Path(path) if path.qself.is_none() => Ok(ToolRef::Type(path.path)),
            Expr::Lit(ExprLit {
                lit: Lit::Str(name),
                ..
            }) => Ok(ToolRef::Named(name)),
            other => Err(Box::new(other)),
        }
    }

    /// Tells whether two references are to the same tool, as far as tokens tell: `tools::ReadFile` may well be
    /// `ReadFile`.
    pub(crate) fn is(&self, other: &ToolRef) -> bool {
        match (self, other) {
            (ToolRef::Type(one), ToolRef::Type(other)) => {
                let last = |path: &Path| path.segments.last().map(|last| last.ident.clone());
                last(one) == last(other)
            }
            (ToolRef::Named(one), ToolRef::Named(other)) => one.value() == other.value(),
            _ => false,
        }
    }

    /// Tells whether the tool is referred to by its type.
    pub(crate) fn is_type(&self) -> bool {
        matches!(self, ToolRef::Type(_))
    }
}
