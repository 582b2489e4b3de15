//! The rules for agents.

use super::{
    arms_as_written, handler_as_written, keys, not_a_skill,
    on_error::{Of, on_error},
    on_escalation::on_escalation,
    settings::{elements, purpose, settings},
    signature::{head, is_concrete, is_owned, is_plain, named},
};
use crate::{
    ast::{self, Element, Entry, Function, Impl, Mark, Member, Value},
    diag::Errors,
    messages,
    model::{Agent, Arms, Knowledge, Make, Settings, Skill, ToolRef},
    names::plain,
    suggest::nearest,
    syntax::{
        attribute_name, is_context, is_lint_level, last_name, takes_self_by_reference, type_ident,
        typed, written,
    },
    walk::{self, Part},
};
use quote::ToTokens;
use syn::{Attribute, Expr, ExprField, Ident, Meta, Path, ReturnType, Signature};

/// Checks the parts of an agent that is a function, each by itself. A part that is reported is left out.
pub(crate) fn function_as_written(agent: &mut ast::Agent<Function>, errors: &Errors) {
    let ast::Agent { entries, item } = agent;
    let sig = &item.sig;
    if sig.receiver().is_none() {
        fields(entries, errors);
    }
    keys::entries("agent", entries, crate::keys::AGENT, errors);
    settings(entries, errors);
    if let Some(receiver) = sig.receiver() {
        errors.at(receiver, messages::agent_receiver());
    }
    input(sig, errors);
    output(sig, errors);
}

/// Checks the parts of an agent with skills, each by itself. A part that is reported is left out, or read as the user
/// probably meant it.
pub(crate) fn skills_as_written(agent: &mut ast::Agent<Impl>, errors: &Errors) {
    let ast::Agent { entries, item } = agent;
    keys::entries("agent", entries, crate::keys::AGENT, errors);
    settings(entries, errors);
    if type_ident(&item.self_ty).is_none() {
        errors.at(&item.self_ty, messages::unnamed_type());
        return;
    }
    for member in &mut item.members {
        if let Member::Function(function, mark) = member {
            match mark {
                Some(Mark::Skill(mark)) => skill(function, mark, errors),
                Some(Mark::Knowledge(mark)) => knowledge(function, mark, errors),
                None if !function.has_body() => {
                    let name = &function.sig.ident;
                    errors.at(name, messages::bodiless_without_skill(name));
                }
                None => {}
            }
        }
    }
    for member in &mut item.members {
        match member {
            Member::OnError(arms) => {
                let of = match &arms.tool {
                    Some(_) => Of::Tool(&[]),
                    None => Of::Tools,
                };
                arms_as_written(arms, of, errors);
            }
            Member::OnEscalation(handler) => handler_as_written(handler, errors),
            Member::Function(..) | Member::Other(_) => {}
        }
    }
}

/// Reports fields of `self` in an attribute on a function, and leaves those values out:
/// `tools = [Look { pool: self.pool.clone() }]`.
fn fields(entries: &mut Vec<Entry>, errors: &Errors) {
    let mut keeps = |value: &Expr| {
        let own = own_field(value);
        if let Some(field) = &own {
            errors.at(field, messages::field_of_a_function(written(field)));
        }
        own.is_none()
    };
    entries.retain_mut(|entry| match &mut entry.value {
        Value::Nothing => true,
        Value::Is(value) => keeps(value),
        Value::List(elements) => {
            elements.retain(|element| {
                let (Element::One(value) | Element::Spread(_, value)) = element;
                keeps(value)
            });
            true
        }
        Value::Group(values) => {
            values.retain(&mut keeps);
            true
        }
    });
}

/// Returns the first field of `self` in an expression.
fn own_field(expr: &Expr) -> Option<ExprField> {
    let mut own = None;
    walk::read_expr(expr, &mut |part| {
        if let Part::Expr(Expr::Field(field)) = part
            && matches!(&*field.base, Expr::Path(base) if base.path.is_ident("self"))
        {
            own.get_or_insert_with(|| field.clone());
        }
        true
    });
    own
}

/// Checks the mark and the signature of a skill: `#[skill(tools = [ReadFile, "github_*"])] async fn
/// manage_files(&self, request: String) -> Summary;`
fn skill(function: &Function, mark: &mut ast::Skill, errors: &Errors) {
    let (sig, name) = (&function.sig, &function.sig.ident);
    keys::entries("skill", &mut mark.entries, crate::keys::SKILL, errors);
    elements(&mut mark.entries, "tools", &|element| {
        let (Element::One(tool) | Element::Spread(_, tool)) = element;
        let fits = matches!(element, Element::One(_)) && ToolRef::of(tool.clone()).is_ok();
        if !fits {
            errors.at(tool, messages::skill_lists_types(written(tool)));
        }
        fits
    });
    keys::value(&mut mark.entries, "purpose", &|value| {
        purpose(value, errors)
    });
    match sig.receiver() {
        Some(_) if takes_self_by_reference(sig) => {}
        Some(receiver) => errors.at(receiver, messages::by_shared_reference("a skill")),
        None => errors.at(name, messages::skill_without_self(name)),
    }
    input(sig, errors);
    output(sig, errors);
}

/// Checks the mark and the signature of knowledge: `#[knowledge] fn style(&self) -> String { .. }`.
fn knowledge(function: &Function, mark: &Attribute, errors: &Errors) {
    let (sig, name) = (&function.sig, &function.sig.ident);
    if !matches!(mark.meta, Meta::Path(_)) {
        errors.at(mark, messages::knowledge_takes_nothing());
    }
    if let Some(asyncness) = &sig.asyncness {
        errors.at(asyncness, messages::knowledge_at_hand(name));
    }
    match sig.receiver() {
        Some(_) if takes_self_by_reference(sig) => {}
        Some(receiver) => errors.at(receiver, messages::by_shared_reference("knowledge")),
        None => errors.at(name, messages::knowledge_without_self(name)),
    }
    for input in typed(sig) {
        errors.at(input, messages::knowledge_without_input());
    }
    if !function.has_body() {
        errors.at(name, messages::knowledge_without_body(name));
    }
    match &sig.output {
        ReturnType::Type(_, ty) if last_name(ty).as_deref() != Some("Result") => {}
        ReturnType::Type(_, ty) => errors.at(ty, messages::knowledge_at_hand(name)),
        ReturnType::Default => errors.at(name, messages::knowledge_at_hand(name)),
    }
}

/// Checks the one input of an agent: its type is written in full, without `impl` or `_`, and borrows nothing.
fn input(sig: &Signature, errors: &Errors) {
    let (contexts, inputs): (Vec<_>, Vec<_>) = typed(sig)
        .into_iter()
        .partition(|typed| is_context(&typed.ty));
    for context in contexts {
        errors.at(context, messages::context_for_agents());
    }
    let Some((first, further)) = inputs.split_first() else {
        return;
    };
    for second in further {
        errors.at(second, messages::one_input(&sig.ident));
    }
    let attrs = first.attrs.iter();
    for attribute in attrs.filter(|a| !is_lint_level(a) && !a.path().is_ident("doc")) {
        let message = messages::agent_parameter_attribute(attribute_name(attribute));
        errors.at(attribute, message);
    }
    if is_concrete(&first.ty, "the input of an agent", errors) {
        is_owned(&first.ty, "an agent", "its input", errors);
    }
}

fn output(sig: &Signature, errors: &Errors) {
    if let ReturnType::Type(_, ty) = &sig.output
        && is_concrete(ty, "the output of an agent", errors)
    {
        is_owned(ty, "an agent", "its output", errors);
    }
}

/// Checks the rules for an agent as a whole, once its parts have been read.
pub(crate) fn agent(agent: &mut Agent, errors: &Errors) {
    let mut fits = true;
    match &agent.make {
        Make::Function(function, _) => {
            is_plain("agent", function, errors);
            named(function, &agent.ident, errors);
            if function.has_body() {
                native(agent, function, errors);
            } else {
                bodiless(agent, function, errors);
            }
        }
        Make::Skills(block, skills) => {
            if let Some((path, for_token)) = &block.trait_ {
                errors.at(quote::quote!(#path #for_token), messages::trait_impl());
            }
            skilled(agent, skills, errors);
            for skill in skills {
                is_plain("skill", &skill.function, errors);
                described(skill, agent, errors);
                answered_by_model(&skill.function, errors);
                listed(skill, &agent.settings, errors);
                remembering(skill, agent, errors);
                purposeful(skill, errors);
            }
            idle_memory(agent, skills, errors);
            for knowledge in &agent.knowledge {
                known(agent, knowledge, errors);
            }
            fits = alike(skills, errors);
        }
    }
    tools_once(&agent.settings, errors);
    if let (Some(_), Some((key, _))) = (&agent.settings.model, &agent.settings.purpose) {
        errors.at(key, messages::model_and_purpose(&agent.name));
    }
    for (i, arms) in agent.on_error.iter().enumerate() {
        let of_tools = arms.tool.is_some() || arms.written.named.is_some();
        on_error(&arms.written, of_tools, errors);
        once(arms, &agent.on_error[..i], errors);
        among_tools(arms, &agent.settings, errors);
    }
    among_skills(agent, errors);
    if let Make::Skills(_, skills) = &agent.make {
        on_escalation(&mut agent.on_escalation, skills, errors);
    }
    agent.broken |= !fits;
}

/// Reports a tool that is listed twice: `tools = [ReadFile, ReadFile]`. A tool with fields may be listed again with
/// other values.
fn tools_once(settings: &Settings, errors: &Errors) {
    let mut seen: Vec<String> = Vec::new();
    for tool in settings.listed() {
        if let (Element::One(Expr::Path(_)), Some(path)) = (tool, tool.tool_type()) {
            let name = written(path);
            if seen.contains(&name) {
                errors.at(path, messages::named_twice(&name));
            }
            seen.push(name);
        }
    }
}

/// Checks that the agent lists the tool of `on_error!(DeleteFile, ..)`, as far as its list shows.
fn among_tools(arms: &Arms, settings: &Settings, errors: &Errors) {
    let Some(tool) = &arms.tool else { return };
    let Some(listed) = tool_types(settings) else {
        return;
    };
    if listed.iter().all(|path| last(path) != last(tool)) {
        let message = |listed: &[&str]| {
            let tool = written(tool);
            messages::not_among_tools(&tool, nearest(&tool, listed))
        };
        errors.at(tool, among(&listed, &message));
    }
}

/// Checks that `on_error!(Self::data_ops, ..)` names a skill, and that a model drives that skill.
fn among_skills(agent: &Agent, errors: &Errors) {
    let Make::Skills(_, skills) = &agent.make else {
        return;
    };
    let all: Vec<_> = skills
        .iter()
        .map(|skill| plain(&skill.function.sig.ident))
        .collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let named = agent
        .on_error
        .iter()
        .filter_map(|arms| arms.written.skill.as_ref());
    for name in named {
        let skill = skills
            .iter()
            .find(|skill| plain(&skill.function.sig.ident) == plain(name));
        match skill {
            None => errors.at(name, not_a_skill(&plain(name), &all)),
            Some(skill) if skill.function.has_body() => {
                errors.at(name, messages::arms_without_model(name));
            }
            Some(_) => {}
        }
    }
}

/// Returns the message about a tool that is not in the list `listed`. The function `message` makes it from the names in
/// the list.
fn among(listed: &[&Path], message: &dyn Fn(&[&str]) -> String) -> String {
    let listed: Vec<String> = listed.iter().map(written).collect();
    message(&listed.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Reports a second `on_error!` for the same tool, pattern or skill, or for the agent. Those under a `#[cfg]` may stand
/// beside others.
fn once(arms: &Arms, above: &[Arms], errors: &Errors) {
    let of = |arms: &Arms| {
        let tool = arms.tool.as_ref().map(written);
        let named = arms.written.named.as_ref();
        let skill = arms.written.skill.as_ref();
        tool.or(named.map(written))
            .or(skill.map(|skill| format!("Self::{skill}")))
            .map_or_else(|| "the agent".to_owned(), |of| format!("`{of}`"))
    };
    // Of those under a `#[cfg]` only one may be there.
    let always = |arms: &Arms| arms.written.attrs.iter().all(|a| !a.path().is_ident("cfg"));
    let twins = above.iter().filter(|twin| of(twin) == of(arms));
    for twin in twins.filter(|twin| always(twin) && always(arms)) {
        errors.at(&twin.written.keyword, messages::arms_twice(of(arms)));
        errors.at(&arms.written.keyword, messages::arms_twice(of(arms)));
    }
}

/// Checks an agent that is a function with a body: it is described, and has no key that only a model needs.
fn native(agent: &Agent, function: &Function, errors: &Errors) {
    if agent.docs.is_empty() && agent.settings.description.is_none() {
        errors.at(
            &function.sig.ident,
            messages::undescribed_agent(&agent.name),
        );
    }
    for key in for_models(&agent.settings) {
        errors.at(key, messages::no_model_here(plain(key), &agent.name));
    }
}

fn for_models(settings: &Settings) -> Vec<&Ident> {
    let Settings {
        prompt,
        description: _,
        model,
        purpose,
        tools,
        budget,
        context,
        memory,
        knowledge,
        policies,
        strict,
        on_tool_use,
        validate,
        hand_off,
        fixers,
    } = settings;
    fn key<T>(setting: &Option<(Ident, T)>) -> Option<&Ident> {
        setting.as_ref().map(|(key, _)| key)
    }
    let keys = [
        key(prompt),
        key(model),
        key(purpose),
        key(tools),
        key(budget),
        key(context),
        key(memory),
        key(knowledge),
        key(policies),
        strict.as_ref(),
        key(on_tool_use),
        key(validate),
        key(hand_off),
        key(fixers),
    ];
    keys.into_iter().flatten().collect()
}

/// Checks an agent that is a function without a body: `async fn json_fixer(request: Repair) -> String;`.
fn bodiless(agent: &Agent, function: &Function, errors: &Errors) {
    if agent.docs.is_empty() && agent.settings.prompt.is_none() {
        errors.at(&function.sig.ident, messages::no_prompt(&agent.name));
    }
    answered_by_model(function, errors);
}

/// Checks that a function without a body, which a model answers, is async and returns an answer that is no `Result`.
fn answered_by_model(function: &Function, errors: &Errors) {
    if function.has_body() {
        return;
    }
    let name = plain(&function.sig.ident);
    if !function.is_async() {
        errors.at(function.sig.fn_token, messages::bodiless_not_async(&name));
    }
    match &function.sig.output {
        ReturnType::Default => errors.at(head(function), messages::bodiless_without_answer(&name)),
        ReturnType::Type(_, ty) if last_name(ty).as_deref() == Some("Result") => {
            errors.at(ty, messages::bodiless_result());
        }
        ReturnType::Type(..) => {}
    }
}

/// Checks that an agent has a skill, and a prompt if a model drives a skill. The doc comment of an only skill is a
/// prompt.
fn skilled(agent: &Agent, skills: &[Skill], errors: &Errors) {
    if skills.is_empty() && !agent.has_refused_skills {
        errors.at(&agent.ident, messages::no_skill(&agent.ident));
    }
    let is_told = agent
        .only_skill()
        .is_some_and(|skill| !skill.docs.is_empty());
    if agent.asks_a_model() && agent.settings.prompt.is_none() && !is_told {
        let is_described = !agent.docs.is_empty();
        errors.at(
            &agent.ident,
            messages::no_prompt_for_skills(&agent.ident, is_described),
        );
    }
}

/// Checks that a skill is described: `/// File management operations.` If the agent has one job, its own prompt or
/// description suffices.
fn described(skill: &Skill, agent: &Agent, errors: &Errors) {
    if !skill.docs.is_empty() {
        return;
    }
    let name = &skill.function.sig.ident;
    match (skill.unmarked, skill.function.has_body()) {
        (false, _) => errors.at(name, messages::undescribed("skill", plain(name))),
        // Without a prompt, the missing prompt is reported.
        (true, false) => {}
        (true, true) if agent.docs.is_empty() && agent.settings.description.is_none() => {
            errors.at(name, messages::undescribed_agent(&agent.name));
        }
        (true, true) => {}
    }
}

/// Checks `#[skill(tools = [ReadFile])]`: a model is there to call the tools, and the agent has them, as far as its
/// list shows.
fn listed(skill: &Skill, settings: &Settings, errors: &Errors) {
    let Some((key, tools)) = &skill.tools else {
        return;
    };
    let function = &skill.function;
    if function.has_body() {
        let name = plain(&function.sig.ident);
        errors.at(key, messages::no_model_here(plain(key), name));
    }
    let Some(of_agent) = tool_types(settings) else {
        return;
    };
    for tool in tools {
        if let ToolRef::Type(path) = tool
            && of_agent.iter().all(|known| last(known) != last(path))
        {
            let message = |listed: &[&str]| {
                let tool = written(path);
                messages::not_among_tools_of_agent(&tool, nearest(&tool, listed))
            };
            errors.at(path, among(&of_agent, &message));
        }
    }
}

/// Checks `#[skill(memory)]`: a model drives the skill, and the agent has a memory.
fn remembering(skill: &Skill, agent: &Agent, errors: &Errors) {
    let Some(key) = &skill.memory else { return };
    if skill.function.has_body() {
        let name = plain(&skill.function.sig.ident);
        errors.at(key, messages::no_model_here(plain(key), name));
    } else if agent.settings.memory.is_none() {
        errors.at(key, messages::no_memory(&agent.ident));
    }
}

/// Checks that a skill with `#[skill(purpose = ..)]` is driven by a model.
fn purposeful(skill: &Skill, errors: &Errors) {
    if let Some((key, _)) = &skill.purpose
        && skill.function.has_body()
    {
        let name = plain(&skill.function.sig.ident);
        errors.at(key, messages::no_model_here(plain(key), name));
    }
}

/// Checks that some skill uses the memory of `#[agent(memory = ..)]`.
fn idle_memory(agent: &Agent, skills: &[Skill], errors: &Errors) {
    if let Some((key, _)) = &agent.settings.memory
        && !agent.has_refused_skills
        && skills.iter().all(|skill| skill.memory.is_none())
    {
        errors.at(key, messages::idle_memory());
    }
}

/// Returns the types of the agent's tools; `None` if the list does not show them all.
fn tool_types(settings: &Settings) -> Option<Vec<&Path>> {
    settings.listed().iter().map(Element::tool_type).collect()
}

fn last(path: &Path) -> Option<String> {
    path.segments
        .last()
        .map(|segment| segment.ident.to_string())
}

/// Checks that `#[knowledge]` is described, and that the agent has a model to be told of it.
fn known(agent: &Agent, knowledge: &Knowledge, errors: &Errors) {
    let name = &knowledge.function.sig.ident;
    is_plain("method", &knowledge.function, errors);
    if knowledge.docs.is_empty() {
        errors.at(name, messages::undescribed("knowledge", plain(name)));
    }
    if !agent.asks_a_model() && !agent.has_refused_skills {
        errors.at(name, messages::knowledge_without_model(&agent.ident));
    }
}

/// Checks that all skills of an agent take and return the same types, as far as their tokens tell. Returns `false` if a
/// skill is reported.
fn alike(skills: &[Skill], errors: &Errors) -> bool {
    let Some((first, others)) = skills.split_first() else {
        return true;
    };
    let mut alike = true;
    let name = plain(&first.function.sig.ident);
    for other in others {
        if !same(&other.input, &first.input) {
            alike = false;
            errors.at(
                &other.input,
                messages::skills_differ(
                    "input",
                    written(&other.input),
                    &name,
                    written(&first.input),
                ),
            );
        }
        if let (Some(this), Some(wanted)) = (other.returns.answer(), first.returns.answer())
            && !same(&this, &wanted)
        {
            alike = false;
            errors.at(
                &this,
                messages::skills_differ("output", written(&this), &name, written(&wanted)),
            );
        }
    }
    alike
}

fn same(a: &dyn ToTokens, b: &dyn ToTokens) -> bool {
    a.to_token_stream().to_string() == b.to_token_stream().to_string()
}
