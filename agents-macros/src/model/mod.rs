//! The code as meant: names are made, defaults filled in, types told apart.
//!
//! Methods answer questions about the model, so that [`expand`](crate::expand) only prints.

mod dir;
mod docs;
mod placeholders;
mod team;

pub(crate) use dir::KnowledgeFolder;
pub(crate) use docs::Docs;
pub(crate) use placeholders::{Placeholder, placeholders};
pub(crate) use team::{Branch, Member, Said, ToolRef};

use crate::{
    ast::{self, Body, Element, Example, Function, Impl, InDoubt, Undo},
    names::{hides_another, plain},
    paths::Rt,
    syntax::{argument, has_key, last_name},
};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::{
    Attribute, Expr, Ident, LitStr, Pat, Path, ReturnType, Signature, Token, Type,
    parse::ParseStream, punctuated::Punctuated,
};

/// A call that generated code makes on a builder: `.timeout(Duration::from_secs(2))`.
pub(crate) struct Call {
    pub(crate) method: Ident,
    pub(crate) argument: TokenStream,
}

/// The return type of a function that a macro was given.
#[derive(Clone)]
pub(crate) enum Returns {
    /// The function has no return type, and returns `()`.
    Nothing(Span),
    /// The function returns a value whose type is not named `Result`. A type alias of a `Result` counts as a value.
    Value(Type),
    /// A `Result`, recognised by the name of its type, such as `io::Result<T>`.
    Result(Type),
}

/// A tool as the macro understands it; its code is printed from this.
pub(crate) struct Tool {
    pub(crate) rt: Rt,
    /// The user's function, without the attributes that the macro reads.
    pub(crate) function: Function,
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) docs: Docs,
    pub(crate) ty: Ident,
    pub(crate) name: String,
    /// The effects that the user wrote: `none`, `reads`, `writes`. Any other number than one is a mistake.
    pub(crate) effects: Vec<Ident>,
    pub(crate) external: Option<Ident>,
    /// The calls on the tool's spec that other keys stand for.
    pub(crate) spec: Vec<Call>,
    /// The condition in `approval = when(..)`, if there is one.
    pub(crate) when: Option<Expr>,
    /// The text of `deprecated = ".."`, if it is written.
    pub(crate) deprecated: Option<LitStr>,
    /// The key `cache` of `cache = ..`; `None` if it is not written, or its value is `none`.
    pub(crate) cached: Option<Ident>,
    /// The key `irreversible`, if it is written.
    pub(crate) irreversible: Option<Ident>,
    /// The text of `effect_description = ".."`, as written.
    pub(crate) effect: Option<LitStr>,
    pub(crate) params: Vec<Param>,
    pub(crate) examples: Vec<Example>,
    pub(crate) returns: Returns,
    pub(crate) on_error: Option<Arms>,
    pub(crate) in_doubt: Option<InDoubt>,
    pub(crate) undo: Option<Undo>,
    /// Is `true` if the tool has a mistake because of which it cannot be printed whole: its type is printed, with
    /// methods that never run.
    pub(crate) broken: bool,
}

/// A parameter of a tool.
pub(crate) struct Param {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) kind: ParamKind,
    pub(crate) docs: Docs,
}

/// The source of a parameter's value, when the tool is called.
pub(crate) enum ParamKind {
    /// The model sends the value. The attributes are the user's `#[serde(..)]` and `#[schemars(..)]`.
    Argument(Vec<Attribute>),
    /// The program gives the value, by a field of the tool's struct.
    Injected {
        /// Is `true` if the function takes the injected field by reference, and `false` if it gets a clone.
        by_reference: bool,
    },
    /// The parameter is the context of the call, which the runtime passes.
    Context,
}

/// The traits that the type of an argument needs. Attributes of the user may stand for one of them, or for both.
#[derive(Clone, Copy)]
pub(crate) enum Asked {
    Both,
    /// Only the trait for reading: `#[schemars(with = "String")]` describes the argument.
    Reading,
    /// Only the trait for describing: `#[serde(deserialize_with = "..")]` reads the argument.
    Description,
    Nothing,
}

/// The arms of one `on_error`, with plain Rust in place of the macro's notation.
pub(crate) struct Arms {
    /// The arms as the user wrote them, for the check.
    pub(crate) written: ast::Arms,
    pub(crate) tool: Option<Path>,
    pub(crate) arms: Vec<Arm>,
    /// Every verb that may repeat an effect: each `retry` in an arm for `execution_error`, and each `fix` or `fix_with`
    /// in such an arm that takes only timeouts and panics.
    pub(crate) reruns: Vec<Under<Ident>>,
    /// Every `Returned` in a pattern, which only a tool with an error type has.
    pub(crate) returned: Vec<Under<Ident>>,
    /// The repair agents that `agent = ..` names in the arms, apart from those with a name that an arm binds.
    pub(crate) fixers: Vec<Under<Expr>>,
}

/// A thing that was found in an arm, with the `#[cfg]` attributes of that arm.
pub(crate) struct Under<T> {
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) it: T,
}

/// An arm of `on_error!` whose kind of failure is known.
pub(crate) struct Arm {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) variant: Ident,
    pub(crate) patterns: Punctuated<Pat, Token![,]>,
    pub(crate) guard: Option<Expr>,
    pub(crate) body: Expr,
}

/// The handler in an `on_escalation!(..)`, with plain Rust in place of the macro's notation.
pub(crate) struct Handler {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) keyword: Ident,
    pub(crate) body: Expr,
    /// The variable that stands for the escalation in the body.
    pub(crate) escalation: Ident,
    /// The skills that `reroute_to_skill` names in the arms.
    pub(crate) skills: Vec<Path>,
    /// The skills that `reroute_to_skill` names in the arms as text.
    pub(crate) spelled: Vec<LitStr>,
    /// The verbs in the body that are only for `on_error`; each is a mistake.
    pub(crate) strangers: Vec<Ident>,
}

/// An agent as the macro understands it; its code is printed from this.
pub(crate) struct Agent {
    pub(crate) rt: Rt,
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) docs: Docs,
    pub(crate) ident: Ident,
    /// The agent's name for models and in records.
    pub(crate) name: String,
    pub(crate) settings: Settings,
    pub(crate) input: Type,
    /// The name of the agent's input, for models that call the agent. `None` if the agent has no input, if the input is
    /// a pattern, or if the skills name their inputs differently.
    pub(crate) input_name: Option<String>,
    pub(crate) output: Returns,
    pub(crate) make: Make,
    pub(crate) knowledge: Vec<Knowledge>,
    pub(crate) on_error: Vec<Arms>,
    pub(crate) on_escalation: Vec<Handler>,
    /// Is `true` if a skill was left out because of a mistake, so that it is not reported as missing.
    pub(crate) has_refused_skills: bool,
    /// Is `true` if the agent has a mistake because of which it cannot be printed whole: its type is printed, with a
    /// method `work` that never runs.
    pub(crate) broken: bool,
}

/// The form in which an agent is written.
pub(crate) enum Make {
    /// A function with a body or without, and the type that is generated for it.
    Function(Function, Ident),
    /// The agent is written as an `impl` block with skills.
    Skills(Impl, Vec<Skill>),
}

/// The settings of an agent, from the keys in `#[agent(..)]`.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) prompt: Option<(Ident, Expr)>,
    pub(crate) description: Option<(Ident, Expr)>,
    pub(crate) model: Option<(Ident, Expr)>,
    pub(crate) purpose: Option<(Ident, Expr)>,
    pub(crate) tools: Option<(Ident, Vec<Element>)>,
    pub(crate) budget: Option<(Ident, Budget)>,
    pub(crate) context: Option<(Ident, Context)>,
    pub(crate) memory: Option<(Ident, Expr)>,
    /// The folders in `knowledge = dir!("skills/")`, with the key.
    pub(crate) knowledge: Option<(Ident, Expr)>,
    /// Patterns of names, and the policies of the tools that fit.
    pub(crate) policies: Option<(Ident, Vec<(Expr, Expr)>)>,
    pub(crate) strict: Option<Ident>,
    pub(crate) on_tool_use: Option<(Ident, Expr)>,
    pub(crate) validate: Option<(Ident, Expr)>,
    /// The agents in `hand_off = [Refunds, Sales]`, with the key.
    pub(crate) hand_off: Option<(Ident, Vec<Element>)>,
    pub(crate) fixers: Option<(Ident, Vec<Element>)>,
}

/// The budget of an agent: `budget(..)` or `budget = ..`.
pub(crate) enum Budget {
    Bounds(Vec<Call>),
    Value(Expr),
}

/// A skill of an agent.
pub(crate) struct Skill {
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) function: Function,
    pub(crate) docs: Docs,
    pub(crate) when: Option<Expr>,
    /// The tools in `tools = [ReadFile, "github_*"]`, with the key.
    pub(crate) tools: Option<(Ident, Vec<ToolRef>)>,
    /// The key `memory`, if the skill uses the agent's memory.
    pub(crate) memory: Option<Ident>,
    pub(crate) purpose: Option<(Ident, Expr)>,
    /// Is `true` if the method is the one job of its agent, and has no `#[skill]`.
    pub(crate) unmarked: bool,
    pub(crate) input: Type,
    pub(crate) returns: Returns,
}

/// A piece of knowledge: a method of the agent whose text its model can ask for.
pub(crate) struct Knowledge {
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) function: Function,
    pub(crate) docs: Docs,
    /// The type of the text that the method returns as knowledge.
    pub(crate) ty: Type,
}

impl Budget {
    /// Tells whether an expression is a whole budget, as for a run or a place in a team:
    /// `tokens(500_000).time(minutes(30))`.
    pub(crate) fn is_value(expr: &Expr) -> bool {
        match expr {
            Expr::Call(_) | Expr::MethodCall(_) | Expr::Field(_) => true,
            // In small letters it is a bound without its value.
            Expr::Path(path) => path
                .path
                .segments
                .last()
                .is_some_and(|name| name.ident.to_string().chars().all(|c| !c.is_lowercase())),
            _ => false,
        }
    }
}

/// The value of `context = ..`: how the conversation is shortened.
pub(crate) enum Context {
    /// Any expression, such as `ContextPolicy::by(..)`.
    Value(Expr),
    /// A policy in the macro's words: `trim(at = 0.75)`, or `compact(at = 0.75, by = Summariser)`.
    Policy {
        /// The word of the policy: `trim` or `compact`.
        verb: Ident,
        /// The agent of `compact` that sums up; `None` for `trim`.
        by: Option<Expr>,
        calls: Vec<Call>,
    },
}

impl Function {
    pub(crate) fn is_async(&self) -> bool {
        self.sig.asyncness.is_some()
    }

    pub(crate) fn has_body(&self) -> bool {
        matches!(self.body, Body::Block(_))
    }
}

impl Tool {
    /// Returns the parameters for which the model sends values.
    pub(crate) fn arguments(&self) -> Vec<(&Param, &[Attribute])> {
        let arguments = self.params.iter().filter_map(|param| match &param.kind {
            ParamKind::Argument(attrs) => Some((param, attrs.as_slice())),
            _ => None,
        });
        arguments.collect()
    }

    /// Returns the parameters that the model does not send: fields of the tool's struct hold their values.
    pub(crate) fn fields(&self) -> Vec<&Param> {
        let fields = self.params.iter().filter(|param| param.is_injected());
        fields.collect()
    }

    /// Tells whether the tool's type would have the tool's name, or would hide a common type.
    pub(crate) fn clashes(&self) -> bool {
        self.ty == self.name || hides_another(&self.ty)
    }

    /// Tells whether running the tool twice has no second effect: it does not write, or is idempotent.
    pub(crate) fn is_retry_safe(&self) -> bool {
        self.effects.iter().all(|effect| effect != "writes")
            || self.spec.iter().any(|call| call.method == "idempotent")
    }

    /// Returns `true` if the runtime runs an interrupted execution again without asking, since that is safe.
    pub(crate) fn is_never_in_doubt(&self) -> bool {
        let mut calls = self.spec.iter();
        self.is_retry_safe() && calls.all(|call| call.method != "idempotent_for")
    }

    /// Tells whether code may say what became of an interrupted execution of the tool. It is also `true` if the tool
    /// does not have exactly one effect, or has an `in_doubt` that the checks refuse.
    pub(crate) fn may_be_in_doubt(&self) -> bool {
        !self.is_never_in_doubt() || self.effects.len() != 1 || self.in_doubt.is_some()
    }

    /// Tells whether calls of the tool can be undone. It is also `true` if the tool does not have exactly one effect,
    /// or has an `undo` that the checks refuse.
    pub(crate) fn may_be_undone(&self) -> bool {
        let writes = self.effects.iter().any(|effect| effect == "writes");
        (writes && self.irreversible.is_none()) || self.effects.len() != 1 || self.undo.is_some()
    }

    pub(crate) fn is_unit(&self) -> bool {
        self.fields().is_empty()
    }

    pub(crate) fn takes_context(&self) -> bool {
        self.params
            .iter()
            .any(|param| matches!(param.kind, ParamKind::Context))
    }
}

impl Param {
    /// Returns the traits that the parameter's type needs, if a model sends its value.
    pub(crate) fn asked(&self) -> Asked {
        let ParamKind::Argument(attrs) = &self.kind else {
            return Asked::Nothing;
        };
        let said = |by: &str, ways: [&str; 2]| {
            let mut attrs = attrs
                .iter()
                .filter(|attribute| attribute.path().is_ident(by));
            attrs.any(|attribute| {
                ways.iter()
                    .any(|way| has_key(std::slice::from_ref(attribute), way))
            })
        };
        let read = said("serde", ["with", "deserialize_with"]);
        let described = said("schemars", ["with", "schema_with"]);
        match (read, described) {
            (false, false) => Asked::Both,
            (false, true) => Asked::Reading,
            (true, false) => Asked::Description,
            (true, true) => Asked::Nothing,
        }
    }

    /// Returns the name of an argument for the model: the parameter's, or the one in `#[serde(rename = "..")]`.
    pub(crate) fn wire_name(&self) -> String {
        let mut name = plain(&self.ident);
        let ParamKind::Argument(attrs) = &self.kind else {
            return name;
        };
        for attribute in attrs
            .iter()
            .filter(|attribute| attribute.path().is_ident("serde"))
        {
            let renamed = attribute.parse_args_with(|input: ParseStream<'_>| {
                let mut found = None;
                while !input.is_empty() {
                    let key = input.parse::<TokenTree>()?.to_string();
                    if key == "rename" && input.peek(Token![=]) {
                        input.parse::<Token![=]>()?;
                        found = input.parse::<Option<LitStr>>()?;
                    }
                }
                Ok(found)
            });
            if let Ok(Some(renamed)) = renamed {
                name = renamed.value();
            }
        }
        name
    }

    /// Tells whether the program gives the value, by a field of the tool.
    pub(crate) fn is_injected(&self) -> bool {
        matches!(self.kind, ParamKind::Injected { .. })
    }
}

impl Returns {
    /// Reads the return type of a function. A type counts as a `Result` if the last name of its path is `Result`.
    ///
    /// A type alias with another name counts as a value. The probe in the expansion recognises it later.
    pub(crate) fn of(sig: &Signature) -> Self {
        match &sig.output {
            ReturnType::Default => Returns::Nothing(sig.ident.span()),
            ReturnType::Type(_, ty) if last_name(ty).as_deref() == Some("Result") => {
                Returns::Result((**ty).clone())
            }
            ReturnType::Type(_, ty) => Returns::Value((**ty).clone()),
        }
    }

    /// Returns the return type that is written; `None` if the function has no return type.
    pub(crate) fn ty(&self) -> Option<&Type> {
        match self {
            Returns::Nothing(_) => None,
            Returns::Value(ty) | Returns::Result(ty) => Some(ty),
        }
    }

    /// Returns the type of an agent's answer, as far as tokens tell: `T` in `Result<T, E>`.
    pub(crate) fn answer(&self) -> Option<Type> {
        match self {
            Returns::Nothing(_) => Some(syn::parse_quote!(())),
            Returns::Value(ty) => Some(ty.clone()),
            Returns::Result(ty) => argument(ty, 0).cloned(),
        }
    }

    /// Returns the return type as the user wrote it, or `()`.
    pub(crate) fn written(&self) -> TokenStream {
        match self {
            Returns::Nothing(span) => quote_spanned!(*span=> ()),
            Returns::Value(ty) | Returns::Result(ty) => quote::quote!(#ty),
        }
    }

    pub(crate) fn is_result(&self) -> bool {
        matches!(self, Returns::Result(_))
    }
}

impl Settings {
    /// Returns the elements in the list of tools.
    pub(crate) fn listed(&self) -> &[Element] {
        self.tools.as_ref().map_or(&[], |(_, tools)| tools)
    }
}

impl Arms {
    /// Returns the `#[cfg]` conditions under which the arms run a tool again. If such a verb is always there, the
    /// result is one empty list.
    pub(crate) fn reruns_by_cfgs(&self) -> Vec<&[Attribute]> {
        match self.reruns.iter().find(|verb| verb.cfgs.is_empty()) {
            Some(always) => vec![always.cfgs.as_slice()],
            None => self
                .reruns
                .iter()
                .map(|verb| verb.cfgs.as_slice())
                .collect(),
        }
    }
}

impl Agent {
    /// Tells whether the type of an agent that is a function would have the agent's name, or would hide a common type.
    pub(crate) fn clashes(&self) -> bool {
        matches!(self.make, Make::Function(..))
            && (self.ident == self.name || hides_another(&self.ident))
    }

    /// Returns the types in the agent's list of tools that an arm for all tools of the agent, or of a skill, could run
    /// again. Tools with arms of their own for `execution_error` in this block are left out.
    pub(crate) fn rerun_by_default(&self, skill: Option<&Ident>) -> Vec<&Path> {
        let name = |path: &Path| path.segments.last().map(|segment| segment.ident.clone());
        let has_arms = |tool: &Path| {
            self.on_error.iter().any(|arms| {
                arms.tool.as_ref().and_then(name) == name(tool)
                    && arms.arms.iter().any(|arm| arm.variant == "Execution")
            })
        };
        // A skill that lists tools has no others.
        let of_skill = skill.and_then(|name| self.listed_by(name));
        let is_there = |tool: &Path| {
            let names = of_skill.as_ref();
            names.is_none_or(|names| name(tool).is_some_and(|name| names.contains(&name)))
        };
        let listed = self.settings.listed().iter();
        listed
            .filter_map(Element::tool_type)
            .filter(|tool| is_there(tool) && !has_arms(tool))
            .collect()
    }

    /// Returns the types of the tools that a skill lists; `None` if the skill has no key `tools`, or lists a tool by
    /// name.
    fn listed_by(&self, skill: &Ident) -> Option<Vec<Ident>> {
        let Make::Skills(_, skills) = &self.make else {
            return None;
        };
        let mut skills = skills.iter();
        let skill = skills.find(|one| one.function.sig.ident == *skill)?;
        let (_, tools) = skill.tools.as_ref()?;
        let name = |tool: &ToolRef| match tool {
            ToolRef::Type(path) => path.segments.last().map(|last| last.ident.clone()),
            ToolRef::Named(_) => None,
        };
        tools.iter().map(name).collect()
    }

    /// Returns the trait that the agent's answer has to have. If a model gives the answer, the trait includes a schema.
    pub(crate) fn output_bound(&self) -> &'static str {
        match &self.make {
            Make::Function(function, _) if function.has_body() => "AgentData",
            _ => "ModelAnswer",
        }
    }

    /// Returns the return types of the user's own functions with a body that no `#[cfg]` can leave out.
    pub(crate) fn returned(&self) -> Vec<&Returns> {
        match &self.make {
            Make::Function(function, _) if function.has_body() => vec![&self.output],
            Make::Function(..) => Vec::new(),
            Make::Skills(_, skills) => skills
                .iter()
                .filter(|skill| skill.function.has_body() && skill.cfgs.is_empty())
                .map(|skill| &skill.returns)
                .collect(),
        }
    }

    /// Tells whether a model answers for the agent or a skill, so that a prompt is needed.
    pub(crate) fn asks_a_model(&self) -> bool {
        match &self.make {
            Make::Function(function, _) => !function.has_body(),
            Make::Skills(_, skills) => skills.iter().any(|skill| !skill.function.has_body()),
        }
    }

    /// Returns the skill of an agent that has just one; else `None`.
    pub(crate) fn only_skill(&self) -> Option<&Skill> {
        match &self.make {
            Make::Skills(_, skills) if skills.len() == 1 => skills.first(),
            _ => None,
        }
    }
}
