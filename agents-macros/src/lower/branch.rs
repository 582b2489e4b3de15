//! Branches: `Deployer.run(p)` becomes `__rt::go_on(__target0, __target1, __cx, p)`, and the agents go before the arms.

use crate::{
    ast::{
        self,
        ends::{self, End},
    },
    model::Branch,
    paths::cx,
    syntax::written,
};
use proc_macro2::Span;
use quote::format_ident;
use syn::{
    Expr, ExprCall, ExprMethodCall, Ident, parse_quote, parse_quote_spanned, spanned::Spanned,
    token,
};

/// Turns the checked syntax of a `branch!` into the model from which code is printed.
pub(crate) fn branch(written: ast::Branch) -> Branch {
    let ast::Branch {
        agent,
        match_token,
        value,
        mut arms,
    } = written;
    let mut targets = Targets {
        site: match_token.span,
        targets: Vec::new(),
    };
    for arm in &mut arms {
        ends::visit(&mut arm.body, &mut |end| {
            if let End::Expr(body) = end
                && let Expr::MethodCall(call) = &*body
            {
                *body = targets.handed_on(call);
            }
        });
    }
    Branch {
        agent,
        match_token,
        value,
        targets: targets.targets,
        arms,
    }
}

/// The agents to which the arms of a `branch!` hand on, each once.
struct Targets {
    /// The span that the macro gives to names of its own.
    site: Span,
    targets: Vec<(Ident, Expr)>,
}

impl Targets {
    /// Rewrites `agent.run(input)` in an arm to `__rt::go_on(__target0, __target1, __cx, input)`.
    fn handed_on(&mut self, call: &ExprMethodCall) -> Expr {
        let (agent, method) = (&call.receiver, &call.method);
        let (target, cx) = (self.target(agent), cx(self.site));
        let first = self.targets.first().map_or(&target, |(first, _)| first);
        let args = [first, &target, &cx]
            .into_iter()
            .map(|name| parse_quote!(#name));
        let go_on = Ident::new("go_on", method.span());
        // From the agent to the closing bracket, so that whatever rustc says is said of the whole.
        Expr::Call(ExprCall {
            attrs: Vec::new(),
            func: parse_quote_spanned!(agent.span()=> __rt::#go_on),
            paren_token: token::Paren(call.paren_token.span.close()),
            args: args.chain(call.args.first().cloned()).collect(),
        })
    }

    /// Returns the variable that stands for the agent in the arms. A path names the same agent wherever it stands.
    fn target(&mut self, agent: &Expr) -> Ident {
        let text = written(agent);
        let known =
            |(_, other): &&(Ident, Expr)| matches!(agent, Expr::Path(_)) && written(other) == text;
        let span = agent.span().resolved_at(self.site);
        if let Some((name, _)) = self.targets.iter().find(known) {
            return Ident::new(&name.to_string(), span);
        }
        let name = format_ident!("__target{}", self.targets.len(), span = span);
        self.targets.push((name.clone(), agent.clone()));
        name
    }
}
