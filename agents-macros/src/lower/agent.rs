//! An agent, from its function or `impl` block and the keys of `#[agent(..)]`.

use super::{
    cfgs, keys::Keys, knowledge::knowledge, returns, settings::settings, strip_parameters,
};
use crate::{
    ast::{self, Element, Function, Impl, Mark, Member},
    diag::Errors,
    keys, messages,
    model::{Agent, Docs, Make, Returns, Skill, ToolRef},
    names::{plain, type_name, wire_name},
    suggest::fields,
    syntax::{attribute_name, bare, is_lint_level, last_name, written},
};
use syn::{Expr, ExprLit, FnArg, Ident, Lit, ReceiverKind, Signature, Type, parse_quote};

/// What the user meant by `#[agent] fn`.
pub(crate) fn function_agent(agent: ast::Agent<Function>, errors: &Errors) -> Agent {
    let ast::Agent {
        mut entries,
        item: mut function,
    } = agent;
    if function.sig.receiver().is_none() {
        fields::without_fields(&mut entries, errors);
    }
    let mut keys = Keys::new("agent", entries, keys::AGENT, errors);
    let rt = keys.rt();
    let settings = settings(&mut keys, errors);

    let has_receiver = function.sig.receiver().is_some();
    if let Some(receiver) = function.sig.receiver() {
        errors.at(receiver, messages::agent_receiver());
    }
    let input = input(&function.sig, errors);
    let output = output(&function.sig, errors);
    let generic =
        !function.sig.generics.params.is_empty() || function.sig.generics.where_clause.is_some();
    let broken = has_receiver || generic || input.is_none() || output.is_none();
    // Nothing outside of the function can name what it takes as a parameter.
    let input = input.filter(|_| !generic);
    let output = output.filter(|_| !generic);

    strip_parameters(&mut function);
    let name = plain(&function.sig.ident);
    let ident = type_name(&function.sig.ident);
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
        output,
        make,
        knowledge: Vec::new(),
        on_error: Vec::new(),
        on_escalation: Vec::new(),
        has_refused_skills: false,
        broken,
    }
}

/// What the user meant by `#[agent] impl`. `None` if the type has no name to give to the agent.
pub(crate) fn skill_agent(agent: ast::Agent<Impl>, errors: &Errors) -> Result<Agent, Box<Impl>> {
    let ast::Agent {
        entries,
        item: mut block,
    } = agent;
    let mut keys = Keys::new("agent", entries, keys::AGENT, errors);
    let rt = keys.rt();
    let settings = settings(&mut keys, errors);
    let Some(ident) = type_ident(&block.self_ty) else {
        errors.at(&block.self_ty, messages::unnamed_type());
        return Err(Box::new(block));
    };
    let (mut skills, mut known) = (Vec::new(), Vec::new());
    let mut broken = block.trait_.is_some();
    let mut has_refused_skills = false;
    for member in &mut block.members {
        match member {
            Member::Function(function, mark) => match mark.take() {
                Some(Mark::Skill(mark)) => {
                    let skill = skill(function, mark, errors);
                    has_refused_skills |= skill.is_none();
                    skills.extend(skill);
                }
                Some(Mark::Knowledge(mark)) => known.extend(knowledge(function, &mark, errors)),
                None if !function.has_body() => {
                    errors.at(
                        &function.sig.ident,
                        messages::bodiless_without_skill(&function.sig.ident),
                    );
                    broken = true;
                }
                None => {}
            },
            Member::OnError(_) | Member::OnEscalation(_) | Member::Other(_) => {}
        }
    }
    let blocks = block.members.extract_if(.., |member| {
        matches!(member, Member::OnError(_) | Member::OnEscalation(_))
    });
    let (mut on_error, mut on_escalation) = (Vec::new(), Vec::new());
    for member in blocks {
        match member {
            Member::OnError(arms) => on_error.push(super::on_error::on_error(arms)),
            Member::OnEscalation(handler) => {
                on_escalation.push(super::on_escalation::on_escalation(handler));
            }
            Member::Function(..) | Member::Other(_) => {}
        }
    }
    let cfgs = cfgs(&block.attrs);
    let docs = Docs::take(&mut block.attrs);
    let name = wire_name(&ident);
    let always = skills.iter().find(|skill| skill.cfgs.is_empty());
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
        output,
        make,
        knowledge: known,
        on_error,
        on_escalation,
        has_refused_skills,
        broken,
    })
}

fn skill(function: &mut Function, mark: ast::Skill, errors: &Errors) -> Option<Skill> {
    let mut keys = Keys::new("skill", mark.entries, keys::SKILL, errors);
    let when = keys.value("when").map(|(_, value)| value);
    let tools = keys
        .list("tools")
        .map(|(key, listed)| (key, references(listed, errors)));
    let memory = keys.flag("memory");
    let name = &function.sig.ident;
    let receives = match function
        .sig
        .receiver()
        .map(|receiver| (&receiver.kind, receiver))
    {
        Some((ReceiverKind::Reference(_, _, None), _)) => true,
        Some((_, receiver)) => {
            errors.at(receiver, messages::by_shared_reference("a skill"));
            false
        }
        None => {
            errors.at(name, messages::skill_without_self(name));
            false
        }
    };
    let input = input(&function.sig, errors);
    let returns = output(&function.sig, errors);
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
        input: input?,
        returns: returns?,
    };
    receives.then_some(skill)
}

/// `[ReadFile, "github_*"]`: tools that the agent has, by their types or names.
fn references(listed: Vec<Element>, errors: &Errors) -> Vec<ToolRef> {
    let reference = |element: Element| match element {
        Element::One(Expr::Path(path)) if path.qself.is_none() => Some(ToolRef::Type(path.path)),
        Element::One(Expr::Lit(ExprLit {
            lit: Lit::Str(name),
            ..
        })) => Some(ToolRef::Named(name)),
        Element::One(other) | Element::Spread(_, other) => {
            errors.at(&other, messages::skill_lists_types(written(&other)));
            None
        }
    };
    listed.into_iter().filter_map(reference).collect()
}

/// The one input; `()` if there is none.
fn input(sig: &Signature, errors: &Errors) -> Option<Type> {
    let typed = sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    });
    let is_context = |ty: &Type| {
        matches!(
            last_name(unreferenced(ty)).as_deref(),
            Some("RunContext" | "ToolContext")
        )
    };
    let (contexts, inputs): (Vec<_>, Vec<_>) = typed.partition(|typed| is_context(&typed.ty));
    for context in &contexts {
        errors.at(context, messages::context_for_agents());
    }
    let Some((first, further)) = inputs.split_first() else {
        return contexts.is_empty().then(unit);
    };
    for second in further {
        errors.at(second, messages::one_input(&sig.ident));
    }
    for attribute in first
        .attrs
        .iter()
        .filter(|a| !is_lint_level(a) && !a.path().is_ident("doc"))
    {
        errors.at(
            attribute,
            messages::agent_parameter_attribute(attribute_name(attribute)),
        );
    }
    if returns::refuse_impl_trait(&first.ty, "the input of an agent", errors) {
        return None;
    }
    if let Some(reference) = returns::borrow_in(&first.ty) {
        errors.at(
            &reference,
            messages::borrowed("an agent", "its input", returns::owned(&reference)),
        );
        return None;
    }
    (contexts.is_empty() && further.is_empty()).then(|| (*first.ty).clone())
}

fn output(sig: &Signature, errors: &Errors) -> Option<Returns> {
    let returns = returns::returns(sig);
    let (Returns::Value(ty) | Returns::Result(ty)) = &returns else {
        return Some(returns);
    };
    if returns::refuse_impl_trait(ty, "the output of an agent", errors) {
        return None;
    }
    if let Some(reference) = returns::borrow_in(ty) {
        errors.at(
            &reference,
            messages::borrowed("an agent", "its output", returns::owned(&reference)),
        );
        return None;
    }
    Some(returns)
}

fn type_ident(ty: &Type) -> Option<Ident> {
    match bare(ty) {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .map(|segment| segment.ident.clone()),
        _ => None,
    }
}

fn unreferenced(ty: &Type) -> &Type {
    match bare(ty) {
        Type::Reference(reference) => unreferenced(&reference.elem),
        other => other,
    }
}

fn unit() -> Type {
    parse_quote!(())
}

fn nothing(sig: &Signature) -> Returns {
    Returns::Nothing(sig.ident.span())
}
