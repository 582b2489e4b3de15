//! The rules for `on_escalation!`.

use crate::{
    check::not_a_skill,
    diag::Errors,
    messages,
    model::{Handler, Skill},
    names::plain,
};

/// One block an agent, and nothing in it that an escalation cannot be answered with.
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
