//! Every wording: what is wrong, then the way out; lower case, no full stop, code in backticks.

mod arms;
mod elsewhere;
mod in_doubt;
mod members;
mod syntax;
mod team;

pub(crate) use arms::*;
pub(crate) use elsewhere::said_elsewhere;
pub(crate) use in_doubt::*;
pub(crate) use members::*;
pub(crate) use syntax::*;
pub(crate) use team::*;

use crate::parse::keys::Key;
use std::fmt::Display;
use syn::Ident;

// Keys.

/// `unknown kind ..; did you mean ..?`, or all that there are if nothing is near.
pub(crate) fn unknown(what: &str, found: impl Display, known: &[&str]) -> String {
    match super::names::nearest(&found.to_string(), known) {
        Some(nearest) => format!("unknown {what} `{found}`; did you mean `{nearest}`?"),
        None => format!("unknown {what} `{found}`; expected {}", one_of(known)),
    }
}

pub(crate) fn twice(name: impl Display) -> String {
    format!("`{name}` is given twice; keep one")
}

pub(crate) fn takes_nothing(name: impl Display) -> String {
    format!("`{name}` takes no value; write `{name}` alone")
}

pub(crate) fn written_as(key: &Key) -> String {
    format!("`{}` is written `{}`", key.name, key.usage)
}

/// `name` may be said for a time.
pub(crate) fn flag_without_for(name: impl Display) -> String {
    format!(
        "`{name}` is written alone, or `{name}(for = hours(24))` for the time from its first execution for which it holds"
    )
}

pub(crate) fn crate_wants_a_path() -> &'static str {
    "`crate` takes a path, without quotes: `crate = path::to::agents`"
}

pub(crate) fn budget_wants_values(found: impl Display) -> String {
    format!("`{found}` is not a bound; write `budget(max_turns = 10)`, each bound with its value")
}

pub(crate) fn bound_outside_budget(name: &str) -> String {
    format!("`{name}` is a bound, and bounds stand together: write `budget({name} = ..)`")
}

pub(crate) fn spread_of_a_list(found: impl Display) -> String {
    format!("a range is not a tool; write `..{found}` to add all the tools of `{found}`")
}

// Tools.

pub(crate) fn no_effects(name: impl Display) -> String {
    format!(
        "say what `{name}` does to the world: `#[tool(none)]`, `#[tool(reads)]` or `#[tool(writes)]`"
    )
}

pub(crate) fn two_effects(names: &[&str]) -> String {
    format!(
        "{} exclude each other; keep the strongest that is true",
        all_of(names)
    )
}

pub(crate) fn duration_without_unit(what: &str, key: &str, found: &syn::Lit) -> String {
    let duration = seconds(found).unwrap_or_else(|| "std::time::Duration::from_secs(2)".to_owned());
    format!("{what} says its unit; write `{key} = {duration}`")
}

/// The duration that a number probably means, `30` and `30s` alike.
pub(crate) fn seconds(number: &syn::Lit) -> Option<String> {
    let (digits, unit, made) = match number {
        syn::Lit::Int(count) => (count.base10_digits(), count.suffix(), "secs"),
        syn::Lit::Float(count) => (count.base10_digits(), count.suffix(), "secs_f64"),
        _ => return None,
    };
    let (digits, made) = match (unit, digits.parse::<u64>()) {
        ("ms", Ok(_)) => (digits.to_owned(), "millis"),
        ("m" | "min", Ok(minutes)) => (minutes.saturating_mul(60).to_string(), made),
        _ => (digits.to_owned(), made),
    };
    Some(format!("std::time::Duration::from_{made}({digits})"))
}

pub(crate) fn cache_for_a_time(lifetime: impl Display) -> String {
    format!("a result that is kept for a time has a `ttl`: write `cache = ttl({lifetime})`")
}

pub(crate) fn approval_without_context(args: impl Display) -> String {
    format!("`when` is asked with the arguments and the context: write `when(|{args}, _| ..)`")
}

pub(crate) fn cached_write() -> &'static str {
    "a tool that writes has to run each time; remove `cache`"
}

/// `effect` is `none` or `reads`.
pub(crate) fn idempotent_without_writing(effect: impl Display) -> String {
    format!(
        "`{effect}` says that running it again changes nothing; remove `idempotent`, which is for a tool that writes"
    )
}

pub(crate) fn external_without_effects() -> &'static str {
    "`external` says that effects leave the organisation, `none` that there are no effects; write `reads` or `writes`, or remove `external`"
}

pub(crate) fn undescribed(what: &str, name: impl Display) -> String {
    format!("tell the model what {what} `{name}` is for: write `/// ..` above it")
}

pub(crate) fn undescribed_argument(name: impl Display) -> String {
    let described = undescribed("argument", name);
    format!("{described}, or `#[inject]` if it is not the model's to give")
}

pub(crate) fn not_async(name: impl Display) -> String {
    format!("a tool is an async function; write `async fn {name}`")
}

pub(crate) fn no_body(name: impl Display) -> String {
    format!(
        "a tool does its work itself: give `{name}` a body; only an `#[agent]` can leave it to a model"
    )
}

pub(crate) fn not_generic(what: &str) -> String {
    format!(
        "{} is one concrete function: name the types instead of taking them as parameters",
        a(what)
    )
}

pub(crate) fn no_lifetimes(what: &str) -> String {
    format!(
        "{} owns what it is given: remove the lifetime and write owned types, such as `String` for `&str`",
        a(what)
    )
}

pub(crate) fn no_modifier(what: &str, modifier: &str) -> String {
    format!(
        "{} cannot be `{modifier}`; call such a function from the body",
        a(what)
    )
}

pub(crate) const TOOL_WITH_SELF: &str = "a tool is a function of its own, without `self`: move it out of the `impl`, and take what it needs as `#[inject] root: PathBuf`";

pub(crate) fn agent_receiver() -> &'static str {
    "an agent function is free, without `self`; put a method into an `#[agent] impl` and mark it `#[skill]`"
}

pub(crate) fn not_a_name(what: &str) -> String {
    format!("{what} needs a name: write `name: Type`, and take it apart in the body")
}

pub(crate) fn no_impl_trait(what: &str) -> String {
    format!("{what} has one concrete type: name it instead of `impl Trait`")
}

pub(crate) fn approval_by_closure() -> &'static str {
    "say that it depends: `approval = when(|args, cx| ..)`"
}

pub(crate) fn borrowed(owner: &str, it: &str, instead: impl Display) -> String {
    format!("{owner} owns {it}; write `{instead}`")
}

pub(crate) fn context_by_reference(name: &str) -> String {
    format!("the context is lent to a tool; write `&{name}`")
}

pub(crate) fn context_for_agents() -> &'static str {
    "an agent function takes its input alone; the run it stands in is found by itself when it runs another agent"
}

pub(crate) fn inject_takes_nothing() -> &'static str {
    "`#[inject]` takes no arguments: the value comes from the tool's field"
}

pub(crate) fn inject_and_serde() -> &'static str {
    "an injected parameter is no part of what the model sends: remove this, or `#[inject]`"
}

pub(crate) fn default_by_its_value(
    name: impl Display,
    ty: impl Display,
    value: impl Display,
) -> String {
    format!(
        "a default comes from a function, whose name is given in quotes: write `default = \"default_{name}\"`, and beside the tool `fn default_{name}() -> {ty} {{ {value} }}`"
    )
}

pub(crate) fn parameter_attribute(what: &str, name: Option<&Ident>) -> String {
    match (what, name) {
        ("default", Some(name)) => format!(
            "a default is told to serde: write `#[serde(default = \"default_{name}\")]`, with the name of a function, or `#[serde(default)]`"
        ),
        ("description" | "desc", _) => {
            "what an argument is for is its doc comment: write `/// ..` above it".to_owned()
        }
        _ => format!(
            "`#[{what}]` is not expected on a parameter; expected `#[serde(..)]`, `#[schemars(..)]` or `#[inject]`"
        ),
    }
}

pub(crate) fn agent_parameter_attribute(what: impl Display) -> String {
    format!("`#[{what}]` is not expected on the input of an agent")
}

pub(crate) fn not_snake_case(name: impl Display) -> String {
    format!(
        "the type of `{name}` would have the same name; write the function's name in snake case"
    )
}

pub(crate) fn hides_another(name: impl Display, ty: impl Display) -> String {
    format!(
        "`{name}` would leave a type `{ty}`, which hides the `{ty}` that is in scope everywhere; name it after what it does, in two words"
    )
}

pub(crate) const EXAMPLE_ABOVE: &str =
    "no `#[tool(..)]` reads an example above it: move this between `#[tool(..)]` and the function";

pub(crate) const EXAMPLE_WITHOUT_NAMES: &str =
    "an example names its arguments: write `#[example(name = value)]`";

pub(crate) fn example_of_nothing(tool: impl Display) -> String {
    format!("write an example as the arguments of a call: `#[example(name = value)]` for `{tool}`")
}

pub(crate) fn example_leaves_out(name: impl Display) -> String {
    format!("the example leaves out `{name}`, without which the call cannot be read")
}

pub(crate) const HIDDEN_RESULT: &str = "this type is a `Result` under another name; write `Result<..>` out, so that an `Err` is a failure of the tool and not an answer";

// Agents.

pub(crate) fn one_input(name: impl Display) -> String {
    format!("an agent takes one input: put what `{name}` takes into a struct or a tuple")
}

pub(crate) fn bodiless_not_async(name: impl Display) -> String {
    format!("`{name}` has no body, so a model is asked, over the network; write `async fn {name}`")
}

pub(crate) fn bodiless_result() -> &'static str {
    "a model gives an answer, no `Result`: write the type of the answer alone; what goes wrong is the error of the run"
}

pub(crate) fn bodiless_without_answer(name: impl Display) -> String {
    format!("say what the model is to answer: `fn {name}(..) -> Answer;`")
}

pub(crate) fn no_prompt(name: impl Display) -> String {
    format!("tell the model what `{name}` is: write `/// You are ..` above it, or `prompt = ..`")
}

pub(crate) fn no_prompt_for_skills(name: impl Display, is_described: bool) -> String {
    let others = match is_described {
        true => "; the comment above the `impl` is what other agents are told",
        false => "",
    };
    format!(
        "a model drives `{name}`, so tell it what it is: `#[agent(prompt = \"You are ..\")]`{others}"
    )
}

pub(crate) fn name_of_a_model(name: &str) -> String {
    format!("this is the name of a model; say who runs it: `model = ollama({name:?})`")
}

pub(crate) fn undescribed_agent(name: impl Display) -> String {
    format!("say what agent `{name}` does: write `/// ..` above it, or `description = ..`")
}

pub(crate) fn no_model_here(key: impl Display, name: impl Display) -> String {
    format!(
        "`{key}` is for a model, and `{name}` has a body: no model is asked; remove the one or the other"
    )
}

pub(crate) fn no_skill(ty: impl Display) -> String {
    format!("`{ty}` has no skill, so nothing could be asked of it: mark a method `#[skill]`")
}

pub(crate) fn bodiless_without_skill(name: impl Display) -> String {
    format!("`{name}` has no body; mark it `#[skill]` if the model is to do the work")
}

pub(crate) fn skill_without_self(name: impl Display) -> String {
    format!("a skill belongs to its agent: write `fn {name}(&self, ..)`")
}

pub(crate) fn by_shared_reference(what: &str) -> String {
    format!(
        "an agent may be asked many things at once, so {what} takes `&self`; keep what changes behind a `Mutex`"
    )
}

pub(crate) fn skills_differ(
    what: &str,
    this: impl Display,
    first: impl Display,
    other: impl Display,
) -> String {
    format!(
        "the skills of one agent share their {what}: this is `{this}`, and `{first}` has `{other}`"
    )
}

pub(crate) fn trait_impl() -> &'static str {
    "an agent is made of an `impl` block of its own: write `impl Type { .. }`, without a trait"
}

pub(crate) fn unnamed_type() -> &'static str {
    "the agent takes its name from its type: write `impl Type { .. }`"
}

/// `a tool`, `an agent`
fn a(what: &str) -> String {
    match what.starts_with('a') {
        true => format!("an {what}"),
        false => format!("a {what}"),
    }
}

fn number(n: usize) -> String {
    match n {
        1 => "one thing".to_owned(),
        n => format!("{n} things"),
    }
}

fn one_of(known: &[&str]) -> String {
    match known {
        [one] => format!("`{one}`"),
        many => format!("one of `{}`", many.join("`, `")),
    }
}

fn all_of(names: &[&str]) -> String {
    match names {
        [before @ .., last] => format!("`{}` and `{last}`", before.join("`, `")),
        [] => String::new(),
    }
}
