//! Teams and branches.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Path, Token};

/// An agent and its place in a team.
pub(crate) struct Member {
    pub(crate) agent: Expr,
    /// The calls in the order of the source.
    pub(crate) said: Vec<Said>,
}

/// A call that describes a place, with the user's word for it.
pub(crate) enum Said {
    Grants(Ident, Vec<ToolRef>),
    Confirm(Ident, Vec<ToolRef>),
    Budget(Ident, Expr),
    Delegates(Ident, Vec<Member>),
}

/// A tool, as a place names it.
pub(crate) enum ToolRef {
    /// Type of a tool: `ReadFile`.
    Type(Path),
    /// `"mcp_*"`
    Named(LitStr),
}

/// An agent, and the agents that continue with its answer.
pub(crate) struct Branch {
    pub(crate) agent: Expr,
    pub(crate) match_token: Token![match],
    pub(crate) value: Ident,
    /// Each agent once, in the order of the source, with its name in the arms.
    pub(crate) targets: Vec<(Ident, Expr)>,
    pub(crate) arms: Vec<syn::Arm>,
}

impl Member {
    /// Returns the granted tools, if `grants` is written.
    pub(crate) fn granted(&self) -> Option<&[ToolRef]> {
        self.said.iter().find_map(|said| match said {
            Said::Grants(_, tools) => Some(tools.as_slice()),
            _ => None,
        })
    }

    /// Returns the tools that need confirmation.
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

    pub(crate) fn delegates(&self) -> impl Iterator<Item = &Member> {
        self.said.iter().flat_map(|said| match said {
            Said::Delegates(_, members) => members.as_slice(),
            _ => &[],
        })
    }

    /// Returns the path of the agent, which means the same everywhere.
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
    /// Reads `ReadFile` or `"mcp_*"`. Gives any other expression back.
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

    /// Tells whether two tools are the same as written: `tools::ReadFile` may well be `ReadFile`.
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

    /// Tells whether the type of the tool is known.
    pub(crate) fn is_type(&self) -> bool {
        matches!(self, ToolRef::Type(_))
    }
}
