//! Texts about tools.

use super::{a, all_of};
use std::fmt::Display;
use syn::Ident;

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

pub(crate) fn duration_without_unit(what: &str, key: &str, duration: &str) -> String {
    format!("{what} says its unit; write `{key} = {duration}`")
}

pub(crate) fn cache_for_a_time(lifetime: impl Display) -> String {
    format!("a result that is kept for a time has a `ttl`: write `cache = ttl({lifetime})`")
}

pub(crate) fn approval_without_context(args: impl Display) -> String {
    format!("`when` is asked with the arguments and the context: write `when(|{args}, _| ..)`")
}

pub(crate) fn secret_is_a_name(written: impl Display) -> String {
    format!(
        "`{written}` is not the name of a secret; name the secrets that the tool looks up: `secrets = [\"crm\"]`, for `cx.secret(\"crm\")`"
    )
}

pub(crate) fn cached_write() -> &'static str {
    "a tool that writes has to run each time; remove `cache`"
}

/// Text of the error of `idempotent` on a tool that does not write; `effect` is `none` or `reads`.
pub(crate) fn idempotent_without_writing(effect: impl Display) -> String {
    format!(
        "`{effect}` says that running it again changes nothing; remove `idempotent`, which is for a tool that writes"
    )
}

pub(crate) fn unknown_keys_without_writing() -> &'static str {
    "only a tool that writes refuses keys that it does not know; remove `unknown_keys`"
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

pub(crate) fn context_without_attributes(attribute: impl Display) -> String {
    format!("the context takes no attributes; remove `#[{attribute}]`")
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
        "`{name}` would leave a type `{ty}`, which hides the `{ty}` that is in scope everywhere; name it after what it does, in two words, or give the type another name with `name = \"..\"`"
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
