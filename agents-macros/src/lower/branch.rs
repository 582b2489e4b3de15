//! The arms of a branch: `Deployer.run(p)` to `__rt::go_on(deployer, cx, p)`, and the agents to the
//! place before them.

use crate::{
    ast,
    diag::Errors,
    messages,
    model::Branch,
    paths::{cx, here},
};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::{
    Block, Expr, ExprCall, ExprMethodCall, Ident, Pat, PatIdent, Stmt, parse_quote,
    parse_quote_spanned,
    spanned::Spanned,
    token,
    visit::{self, Visit},
};

/// What the user meant by one `branch!`.
pub(crate) fn branch(written: ast::Branch, errors: &Errors) -> Branch {
    let ast::Branch {
        agent,
        match_token,
        value,
        mut arms,
    } = written;
    let mut ends = Ends {
        site: match_token.span,
        targets: Vec::new(),
        bound: Vec::new(),
        errors,
    };
    for arm in &mut arms {
        ends.bound = bound(&arm.pat);
        ends.of(&mut arm.body);
    }
    Branch {
        agent,
        match_token,
        value,
        targets: ends.targets,
        arms,
    }
}

/// The ends of the arms: each hands on to an agent.
struct Ends<'e> {
    /// Where the names of the macro's own belong.
    site: Span,
    targets: Vec<(Ident, Expr)>,
    /// The names that the pattern of this arm binds.
    bound: Vec<String>,
    errors: &'e Errors,
}

impl Ends<'_> {
    fn of(&mut self, body: &mut Expr) {
        match body {
            Expr::Group(group) => self.of(&mut group.expr),
            Expr::Paren(paren) => self.of(&mut paren.expr),
            Expr::Block(block) => self.of_block(&mut block.block),
            Expr::If(choice) => {
                self.of_block(&mut choice.then_branch);
                if let Some((_, otherwise)) = &mut choice.else_branch {
                    self.of(otherwise);
                }
            }
            Expr::Match(choice) => {
                choice
                    .arms
                    .iter_mut()
                    .for_each(|arm| self.of(&mut arm.body));
            }
            // Such as `unreachable!()`.
            Expr::Macro(_) => {}
            Expr::MethodCall(call) if call.method == "run" && call.args.len() == 1 => {
                *body = self.handed_on(call);
            }
            other => {
                match &*other {
                    Expr::Await(it) => self.errors.at(it.await_token, messages::no_await(".await")),
                    Expr::Try(it) => self.errors.at(it.question_token, messages::no_await("?")),
                    it => self.errors.at(it, messages::hands_on_to_nobody()),
                }
                *other = parse_quote_spanned!(here(other.span())=> ::core::unreachable!());
            }
        }
    }

    fn of_block(&mut self, block: &mut Block) {
        match block.stmts.last_mut() {
            Some(Stmt::Expr(end, None)) => self.of(end),
            Some(Stmt::Macro(_)) => {}
            _ => {
                self.errors.at(&*block, messages::hands_on_to_nobody());
                *block = parse_quote_spanned!(here(block.span())=> { ::core::unreachable!() });
            }
        }
    }

    /// `agent.run(input)` to `__rt::go_on(__target0, __target1, __cx, input)`
    fn handed_on(&mut self, call: &ExprMethodCall) -> Expr {
        let (agent, method) = (&call.receiver, &call.method);
        if let Some(name) = self
            .bound
            .iter()
            .find(|name| mentions(agent.to_token_stream(), name))
        {
            self.errors.at(agent, messages::target_of_a_pattern(name));
            return parse_quote_spanned!(here(agent.span())=> ::core::unreachable!());
        }
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

    /// The agent's name in the arms. A path names the same agent wherever it stands.
    fn target(&mut self, agent: &Expr) -> Ident {
        let known = |(_, other): &&(Ident, Expr)| matches!(agent, Expr::Path(_)) && agent == other;
        let span = agent.span().resolved_at(self.site);
        if let Some((name, _)) = self.targets.iter().find(known) {
            return Ident::new(&name.to_string(), span);
        }
        let name = format_ident!("__target{}", self.targets.len(), span = span);
        self.targets.push((name.clone(), agent.clone()));
        name
    }
}

/// The names that a pattern binds; a capitalised one is a variant.
fn bound(pattern: &Pat) -> Vec<String> {
    struct Names(Vec<String>);
    impl Visit<'_> for Names {
        fn visit_pat_ident(&mut self, binding: &PatIdent) {
            let name = binding.ident.to_string();
            if !name.starts_with(char::is_uppercase) {
                self.0.push(name);
            }
            visit::visit_pat_ident(self, binding);
        }
    }
    let mut names = Names(Vec::new());
    names.visit_pat(pattern);
    names.0
}

fn mentions(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}
