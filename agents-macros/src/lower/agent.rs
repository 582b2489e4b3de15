//! Agents, from a function or an `impl` block.

use super::{cfgs, keys::Keys, settings::settings, strip_parameters};
use crate::{
    ast::{self, Element, Function, Impl, Mark, Member},
    model::{Agent, Docs, Knowledge, Make, Returns, Skill, ToolRef},
    names::{plain, type_name, wire_name},
    syntax::{
        borrow_in, is_context, is_generic, is_opaque, last_name, takes_self_by_reference,
        type_ident, typed,
    },
};
use syn::{Pat, ReturnType, Signature, Type, parse_quote};

/// Turns the checked syntax of an `#[agent] fn` into the model from which code is printed.
pub(crate) fn function_agent(agent: ast::Agent<Function>) -> Agent {
    let ast::Agent {
        entries,
        item: mut function,
    } = agent;
    let mut keys = Keys(entries);
    let rt = keys.rt();
    let named = keys.name();
    let settings = settings(&mut keys);

    let has_receiver = function.sig.receiver().is_some();
    let input = input(&function.sig);
    let output = output(&function.sig);
    let generic = is_generic(&function.sig);
    let broken = has_receiver || generic || input.is_none() || output.is_none();
    // Nothing outside of the function can name what it takes as a parameter.
    let input = input.filter(|_| !generic);
    let output = output.filter(|_| !generic);

    let input_name = input_name(&function.sig);
    strip_parameters(&mut function);
    let named = named.unwrap_or_else(|| function.sig.ident.clone());
    let (name, ident) = (plain(&named), type_name(&named));
    let cfgs = cfgs(&function.attrs);
    let docs = Docs::take(&mut function.attrs);
    let (input, output) = (
        input.unwrap_or_else(unit),
        output.unwrap_or_else(|| nothing(&function.sig)),
    );
    let make = Make::Function(function, ident.clone());
    Agent {
        rt,
        cfgs,
        docs,
        ident,
        name,
        settings,
        input,
        input_name,
        output,
        make,
        knowledge: Vec::new(),
        on_error: Vec::new(),
        on_escalation: Vec::new(),
        has_refused_skills: false,
        broken,
    }
}

/// Turns the checked syntax of an `#[agent] impl` into the model from which code is printed. Gives the block back if
/// its type has no name to give to the agent.
pub(crate) fn skill_agent(agent: ast::Agent<Impl>) -> Result<Agent, Box<Impl>> {
    let ast::Agent {
        entries,
        item: mut block,
    } = agent;
    let mut keys = Keys(entries);
    let rt = keys.rt();
    let named = keys.name();
    let settings = settings(&mut keys);
    let Some(ident) = type_ident(&block.self_ty).cloned() else {
        return Err(Box::new(block));
    };
    let (mut skills, mut known) = (Vec::new(), Vec::new());
    let (mut on_error, mut on_escalation) = (Vec::new(), Vec::new());
    let mut broken = block.trait_.is_some();
    let mut has_refused_skills = false;
    for mut member in std::mem::take(&mut block.members) {
        match &mut member {
            Member::Function(function, mark) => match mark.take() {
                Some(Mark::Skill(mark)) => {
                    let skill = skill(function, mark);
                    has_refused_skills |= skill.is_none();
                    skills.extend(skill);
                }
                Some(Mark::Knowledge(_)) => known.extend(knowledge(function)),
                None => broken |= !function.has_body(),
            },
            Member::OnError(_) | Member::OnEscalation(_) | Member::Other(_) => {}
        }
        match member {
            Member::OnError(arms) => on_error.push(super::on_error::on_error(arms)),
            Member::OnEscalation(handler) => {
                on_escalation.push(super::on_escalation::on_escalation(handler));
            }
            other => block.members.push(other),
        }
    }
    let cfgs = cfgs(&block.attrs);
    let docs = Docs::take(&mut block.attrs);
    let name = named.map_or_else(|| wire_name(&ident), |name| plain(&name));
    let always = skills.iter().find(|skill| skill.cfgs.is_empty());
    // Skills that call their input differently leave it without a name.
    let mut names = skills.iter().map(|skill| input_name(&skill.function.sig));
    let first_name = names.next().flatten();
    let input_name = first_name.filter(|first| names.all(|name| name.as_ref() == Some(first)));
    let (input, output) = match always.or(skills.first()) {
        Some(first) => (first.input.clone(), first.returns.clone()),
        None => (unit(), Returns::Nothing(ident.span())),
    };
    broken |= has_refused_skills || skills.is_empty();
    let make = Make::Skills(block, skills);
    Ok(Agent {
        rt,
        cfgs,
        docs,
        ident,
        name,
        settings,
        input,
        input_name,
        output,
        make,
        knowledge: known,
        on_error,
        on_escalation,
        has_refused_skills,
        broken,
    })
}

fn skill(function: &mut Function, mark: ast::Skill) -> Option<Skill> {
    let unmarked = mark.unmarked;
    let mut keys = Keys(mark.entries);
    let when = keys.value("when").map(|(_, value)| value);
    let tools = keys
        .list("tools")
        .map(|(key, listed)| (key, references(listed)));
    let memory = keys.flag("memory");
    let purpose = keys.value("purpose");
    let receives = takes_self_by_reference(&function.sig);
    let input = input(&function.sig);
    let returns = output(&function.sig);
    strip_parameters(function);
    let mut kept = function.clone();
    let docs = Docs::take(&mut kept.attrs);
    let skill = Skill {
        cfgs: cfgs(&kept.attrs),
        function: kept,
        docs,
        when,
        tools,
        memory,
        purpose,
        unmarked,
        input: input?,
        returns: returns?,
    };
    receives.then_some(skill)
}

/// Reads a list such as `[ReadFile, "github_*"]` as references to tools of the agent, by their types or names.
fn references(listed: Vec<Element>) -> Vec<ToolRef> {
    let reference = |element: Element| match element {
        Element::One(tool) => ToolRef::of(tool).ok(),
        Element::Spread(..) => None,
    };
    listed.into_iter().filter_map(reference).collect()
}

/// Reads a method as knowledge: `#[knowledge] fn style(&self) -> String { .. }`. Returns `None` unless it takes `&self`
/// alone, is not async, has a body, and returns a value that is no `Result`. The check reports any other.
fn knowledge(function: &Function) -> Option<Knowledge> {
    let sig = &function.sig;
    let fits = !function.is_async()
        && takes_self_by_reference(sig)
        && sig.inputs.len() == 1
        && function.has_body();
    let ty = match &sig.output {
        ReturnType::Type(_, ty) if fits && last_name(ty).as_deref() != Some("Result") => ty.clone(),
        _ => return None,
    };
    let mut function = function.clone();
    let docs = Docs::take(&mut function.attrs);
    Some(Knowledge {
        cfgs: cfgs(&function.attrs),
        function,
        docs,
        ty: *ty,
    })
}

/// Returns the type of an agent's one input, or `()` if it has none; `None` if the input was refused.
fn input(sig: &Signature) -> Option<Type> {
    let inputs = typed(sig);
    let Some(first) = inputs.first() else {
        return Some(unit());
    };
    let can_be_had = inputs.len() == 1
        && !is_context(&first.ty)
        && !is_opaque(&first.ty)
        && borrow_in(&first.ty).is_none();
    can_be_had.then(|| (*first.ty).clone())
}

/// Returns the name of an agent's one input, for models that call the agent: `question` for `_question: String`.
fn input_name(sig: &Signature) -> Option<String> {
    let first = *typed(sig).first()?;
    let Pat::Ident(ident) = &*first.pat else {
        return None;
    };
    let name = plain(&ident.ident);
    let name = name.trim_start_matches('_');
    (!name.is_empty()).then(|| name.to_owned())
}

fn output(sig: &Signature) -> Option<Returns> {
    let returns = Returns::of(sig);
    let cannot_be_had = returns
        .ty()
        .is_some_and(|ty| is_opaque(ty) || borrow_in(ty).is_some());
    (!cannot_be_had).then_some(returns)
}

fn unit() -> Type {
    parse_quote!(())
}

fn nothing(sig: &Signature) -> Returns {
    Returns::Nothing(sig.ident.span())
}
