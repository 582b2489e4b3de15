//! What the user meant: names made, defaults filled in, types told apart.
//!
//! Questions about it are methods on it, so that [`expand`](crate::expand) only prints.

mod team;

pub(crate) use team::{Branch, Member, Said, ToolRef};

use crate::{
    ast::{self, Body, Element, Function, Impl, InDoubt},
    check::{names::hides_another, says},
    lower::docs::Docs,
    paths::Rt,
};
use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{Attribute, Expr, Ident, LitStr, Pat, Path, Token, Type, punctuated::Punctuated};

/// One call on a builder: `.timeout(Duration::from_secs(2))`.
pub(crate) struct Call {
    pub(crate) method: Ident,
    pub(crate) argument: TokenStream,
}

/// What a function gives back.
#[derive(Clone)]
pub(crate) enum Returns {
    /// Nothing is written: `()`.
    Nothing(Span),
    /// A value.
    Value(Type),
    /// A `Result`, by the name of its type: `io::Result<T>` is one as well.
    Result(Type),
}

/// A tool.
pub(crate) struct Tool {
    pub(crate) rt: Rt,
    /// The function as it stays: without the attributes that only the macro knows.
    pub(crate) function: Function,
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) docs: Docs,
    pub(crate) ty: Ident,
    pub(crate) name: String,
    /// `none`, `reads`, `writes`: as many as were written.
    pub(crate) effects: Vec<Ident>,
    pub(crate) external: Option<Ident>,
    /// What else its spec says.
    pub(crate) spec: Vec<Call>,
    /// `approval = when(..)`
    pub(crate) when: Option<Expr>,
    /// `deprecated = ".."`
    pub(crate) deprecated: Option<LitStr>,
    /// `cache = ..`, where it is not `none`
    pub(crate) cached: Option<Ident>,
    pub(crate) params: Vec<Param>,
    pub(crate) examples: Vec<Example>,
    pub(crate) returns: Returns,
    pub(crate) on_error: Option<Arms>,
    pub(crate) in_doubt: Option<InDoubt>,
    /// A mistake leaves no way to print the whole tool: its type stays, and does nothing.
    pub(crate) broken: bool,
}

/// A parameter of a tool.
pub(crate) struct Param {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) kind: ParamKind,
    pub(crate) docs: Docs,
}

/// Where the value of a parameter comes from.
pub(crate) enum ParamKind {
    /// From the model; with `#[serde(..)]` and `#[schemars(..)]`.
    Argument(Vec<Attribute>),
    /// From the tool's field.
    Injected {
        /// The field is lent, not cloned.
        by_reference: bool,
    },
    /// It is the context of the call.
    Context,
}

/// What is asked of the type of an argument: what the user does not say instead of it.
#[derive(Clone, Copy)]
pub(crate) enum Asked {
    Both,
    /// `#[schemars(with = "String")]` describes it.
    Reading,
    /// `#[serde(deserialize_with = "..")]` reads it.
    Description,
    Nothing,
}

/// `#[example(path = "a.txt")]`
pub(crate) struct Example {
    pub(crate) attribute: Attribute,
    pub(crate) fields: Vec<(Ident, Expr)>,
}

/// The arms of one `on_error`, with the sugar taken out.
pub(crate) struct Arms {
    /// As written, for the rules.
    pub(crate) written: ast::Arms,
    pub(crate) tool: Option<Path>,
    pub(crate) arms: Vec<Arm>,
    /// Every verb that would run there what may have taken effect: each `retry`, and a `fix` after a deadline or a
    /// panic.
    pub(crate) reruns: Vec<Under<Ident>>,
    /// Every `Returned` that is waited for there.
    pub(crate) returned: Vec<Under<Ident>>,
    /// Every `agent = ..` that is named there.
    pub(crate) fixers: Vec<Under<Expr>>,
}

/// What is there if its arm is.
pub(crate) struct Under<T> {
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) it: T,
}

/// One arm, of a kind that there is.
pub(crate) struct Arm {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) variant: Ident,
    pub(crate) patterns: Punctuated<Pat, Token![,]>,
    pub(crate) guard: Option<Expr>,
    pub(crate) body: Expr,
}

/// `on_escalation!(..)`, with the sugar taken out.
pub(crate) struct Handler {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) keyword: Ident,
    pub(crate) body: Expr,
    /// What the user calls the escalation, where it is named.
    pub(crate) escalation: Ident,
    /// The skills that `reroute_to_skill` names.
    pub(crate) skills: Vec<Path>,
    /// Those that it names as text.
    pub(crate) spelled: Vec<LitStr>,
    /// The verbs of `on_error` that do nothing for an escalation.
    pub(crate) strangers: Vec<Ident>,
}

/// An agent, of one of three makes.
pub(crate) struct Agent {
    pub(crate) rt: Rt,
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) docs: Docs,
    pub(crate) ident: Ident,
    /// The name on the wire.
    pub(crate) name: String,
    pub(crate) settings: Settings,
    pub(crate) input: Type,
    pub(crate) output: Returns,
    pub(crate) make: Make,
    pub(crate) knowledge: Vec<Knowledge>,
    pub(crate) on_error: Vec<Arms>,
    pub(crate) on_escalation: Vec<Handler>,
    /// Skills were written, but cannot be had.
    pub(crate) has_refused_skills: bool,
    /// A mistake leaves no way to print the whole agent: its type stays, and does nothing.
    pub(crate) broken: bool,
}

/// How an agent comes to its answers.
pub(crate) enum Make {
    /// A function with a body, or without.
    Function(Function, Ident),
    /// An `impl` block with skills.
    Skills(Impl, Vec<Skill>),
}

/// What `#[agent(..)]` says.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) prompt: Option<(Ident, Expr)>,
    pub(crate) description: Option<(Ident, Expr)>,
    pub(crate) model: Option<(Ident, Expr)>,
    pub(crate) tools: Option<(Ident, Vec<Element>)>,
    pub(crate) budget: Option<(Ident, Budget)>,
    pub(crate) memory: Option<(Ident, Expr)>,
    /// Patterns of names, and what is said of the tools that fit.
    pub(crate) policies: Option<(Ident, Vec<(Expr, Expr)>)>,
    pub(crate) strict: Option<Ident>,
    pub(crate) on_tool_use: Option<(Ident, Expr)>,
    pub(crate) fixers: Option<(Ident, Vec<Element>)>,
}

/// `budget(..)` or `budget = ..`
pub(crate) enum Budget {
    Bounds(Vec<Call>),
    Value(Expr),
}

/// A way an agent has of answering.
pub(crate) struct Skill {
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) function: Function,
    pub(crate) docs: Docs,
    pub(crate) when: Option<Expr>,
    /// `tools = [ReadFile, "github_*"]`: the key, and what it lists.
    pub(crate) tools: Option<(Ident, Vec<ToolRef>)>,
    /// `memory`
    pub(crate) memory: Option<Ident>,
    pub(crate) input: Type,
    pub(crate) returns: Returns,
}

/// What an agent can look up in itself.
pub(crate) struct Knowledge {
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) function: Function,
    pub(crate) docs: Docs,
    /// The text's type.
    pub(crate) ty: Type,
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
    /// The parameters the model gives values for.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = (&Param, &[Attribute])> {
        self.params.iter().filter_map(|param| match &param.kind {
            ParamKind::Argument(attrs) => Some((param, attrs.as_slice())),
            _ => None,
        })
    }

    /// The parameters that become fields of the tool.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|param| param.is_injected())
    }

    /// Whether the type would have a name that stands for something else.
    pub(crate) fn clashes(&self) -> bool {
        self.ty == self.name || hides_another(&self.ty)
    }

    /// Whether running it twice does nothing twice.
    pub(crate) fn is_retry_safe(&self) -> bool {
        self.effects.iter().all(|effect| effect != "writes")
            || self.spec.iter().any(|call| call.method == "idempotent")
    }

    /// Whether an execution that was interrupted always runs again.
    pub(crate) fn is_never_in_doubt(&self) -> bool {
        let mut calls = self.spec.iter();
        self.is_retry_safe() && calls.all(|call| call.method != "idempotent_for")
    }

    /// Whether it may be asked what became of an execution. Where that is refused, it is asked all the same.
    pub(crate) fn may_be_in_doubt(&self) -> bool {
        !self.is_never_in_doubt() || self.effects.len() != 1 || self.in_doubt.is_some()
    }

    pub(crate) fn is_unit(&self) -> bool {
        self.fields().next().is_none()
    }

    pub(crate) fn takes_context(&self) -> bool {
        self.params
            .iter()
            .any(|param| matches!(param.kind, ParamKind::Context))
    }
}

impl Param {
    /// What its type has to bring along to be sent by a model.
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
                    .any(|way| says(std::slice::from_ref(attribute), way))
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

    /// Whether its value lies in a field of the tool.
    pub(crate) fn is_injected(&self) -> bool {
        matches!(self.kind, ParamKind::Injected { .. })
    }
}

impl Returns {
    /// The type as it is written.
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

impl Arms {
    /// Under which conditions something is run again: under none, if such a verb is always there.
    pub(crate) fn reruns_by_cfgs(&self) -> Vec<&[Attribute]> {
        let conditions = self.reruns.iter().map(|verb| verb.cfgs.as_slice());
        match conditions.clone().find(|cfgs| cfgs.is_empty()) {
            Some(always) => vec![always],
            None => conditions.collect(),
        }
    }
}

impl Agent {
    /// Whether the type would have a name that stands for something else.
    pub(crate) fn clashes(&self) -> bool {
        matches!(self.make, Make::Function(..))
            && (self.ident == self.name || hides_another(&self.ident))
    }

    /// The tools that a verb in the agent's default arms could run again, or in those of a skill, as far as the lists
    /// show them: those without arms of their own in this block.
    pub(crate) fn rerun_by_default(&self, skill: Option<&Ident>) -> impl Iterator<Item = &Path> {
        let name = |path: &Path| path.segments.last().map(|segment| segment.ident.clone());
        let has_arms = move |tool: &Path| {
            let mut own = self
                .on_error
                .iter()
                .filter(|arms| arms.tool.as_ref().and_then(name) == name(tool));
            own.any(|arms| arms.arms.iter().any(|arm| arm.variant == "Execution"))
        };
        // A skill that lists tools has no others.
        let of_skill = skill.and_then(|name| self.listed_by(name));
        let is_there = move |tool: &&Path| {
            let names = of_skill.as_ref();
            names.is_none_or(|names| name(tool).is_some_and(|name| names.contains(&name)))
        };
        let listed = self.settings.tools.iter().flat_map(|(_, tools)| tools);
        listed
            .filter_map(Element::tool_type)
            .filter(is_there)
            .filter(move |tool| !has_arms(tool))
    }

    /// The types of the tools that a skill lists; nothing if it lists none, or some by their names.
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

    /// What its answers have to be: a model has to be told their schema.
    pub(crate) fn output_bound(&self) -> &'static str {
        match &self.make {
            Make::Function(function, _) if function.has_body() => "AgentData",
            _ => "ModelAnswer",
        }
    }

    /// What the user's own code gives back, of which there may be several pieces; of those, what is always there.
    pub(crate) fn returned(&self) -> impl Iterator<Item = &Returns> {
        let (function, skills) = match &self.make {
            Make::Function(function, _) => (function.has_body().then_some(&self.output), &[][..]),
            Make::Skills(_, skills) => (None, skills.as_slice()),
        };
        let skills = skills
            .iter()
            .filter(|skill| skill.function.has_body() && skill.cfgs.is_empty());
        function
            .into_iter()
            .chain(skills.map(|skill| &skill.returns))
    }

    /// Whether a model may be asked, and so needs a prompt.
    pub(crate) fn asks_a_model(&self) -> bool {
        match &self.make {
            Make::Function(function, _) => !function.has_body(),
            Make::Skills(_, skills) => skills.iter().any(|skill| !skill.function.has_body()),
        }
    }
}
