//! The rules for `on_escalation!`.

use super::{arguments, not_a_skill};
use crate::{
    ast,
    diag::Errors,
    keys, messages,
    model::{Handler, Skill},
    names::plain,
    suggest::{escalation, values},
    syntax::handed_to,
    walk::{self, Look, Part},
};
use syn::{Expr, ExprCall};

/// Checks the verbs of one `on_escalation!` by itself.
pub(crate) fn handler_as_written(handler: &mut ast::Handler, errors: &Errors) {
    walk::rewrite(&mut handler.body, &mut Verbs(errors));
}

/// Checks the verbs of a handler and their arguments. Each expression is corrected first, where the meaning is clear.
struct Verbs<'e>(&'e Errors);

impl Look for Verbs<'_> {
    fn enter(&mut self, part: Part<'_>) -> bool {
        match part {
            Part::Expr(expr) => escalation::mend(expr, self.0),
            Part::Macro(called) => {
                handed_to(called, self);
                return false;
            }
            _ => {}
        }
        true
    }

    fn leave(&mut self, part: Part<'_>) {
        if let Part::Expr(Expr::Call(call)) = part {
            self.call(call);
        }
    }
}

impl Verbs<'_> {
    /// Checks the call of a verb, `verb(a, key = v)`, and leaves out arguments that it reports.
    fn call(&self, call: &mut ExprCall) {
        escalation::agent_for_skill(call, self.0);
        let Expr::Path(path) = &*call.func else {
            return;
        };
        let name = path.path.get_ident();
        if let Some(known) = name.and_then(|name| keys::named(name, keys::RESOLUTIONS)) {
            arguments(call, known, self.0, &|key, mut argument| {
                if let Expr::Assign(set) = &mut argument
                    && key == "severity"
                {
                    values::severity(&mut set.right, self.0);
                }
                argument
            });
        }
    }
}

/// Reports a second `on_escalation!` of an agent, unknown skills, and verbs that do not answer an escalation.
pub(super) fn on_escalation(handlers: &mut [Handler], skills: &[Skill], errors: &Errors) {
    // Of those under a `#[cfg]` only one may be there.
    let always = |handler: &&Handler| handler.attrs.iter().all(|a| !a.path().is_ident("cfg"));
    let always: Vec<&Handler> = handlers.iter().filter(always).collect();
    if let [first, second, ..] = always.as_slice() {
        errors.at(&first.keyword, messages::handled_twice());
        errors.at(&second.keyword, messages::handled_twice());
    }
    let known: Vec<String> = skills
        .iter()
        .map(|skill| plain(&skill.function.sig.ident))
        .collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    for handler in handlers {
        for verb in &handler.strangers {
            errors.at(verb, messages::not_for_escalations(verb));
        }
        for spelled in &handler.spelled {
            let name = spelled.value();
            if !known.contains(&name.as_str()) {
                errors.at(spelled, not_a_skill(&name, &known));
            }
        }
        // What is reported here is not named again for rustc to report; nor is what is no method, having no body.
        handler.skills.retain(|path| {
            let last = &path.segments[path.segments.len() - 1].ident;
            let name = plain(last);
            let is_known = known.contains(&name.as_str());
            if !is_known {
                errors.at(last, not_a_skill(&name, &known));
            }
            skills
                .iter()
                .any(|skill| skill.function.has_body() && plain(&skill.function.sig.ident) == name)
        });
    }
}
