//! Order in which arms are asked about a failure; the first arms that give a plan decide.
//!
//! First come the agent's arms for that tool, then its arms for tools whose names match. The tool's own arms follow,
//! then the default of the skill at work, and last the agent's default. Plans are not mixed, except where one says
//! `inherit`.

use crate::{
    error::{AnyError, ToolError},
    recovery::{
        CallError, ErrorContext, Plan, PlanStep, Raw, ReadError, with_any_error, with_error,
    },
    tool::{DynTool, ErrorType, Pattern},
};
use serde_json::Value;
use std::sync::Arc;

/// Function made of `on_error!` arms, whose error type is hidden. It returns the plan for a failure, or `None` if no
/// arm decides.
pub(crate) type SharedArms<'a> =
    Arc<dyn Fn(&ToolError, &Value, &ErrorContext) -> Option<Plan> + Send + Sync + 'a>;

type OutputArms<'a> =
    Arc<dyn Fn(&Raw<'_>, &ReadError, &ErrorContext) -> Option<Plan> + Send + Sync + 'a>;

/// Arms that an agent has for the tool of this name, written for errors of this type.
#[derive(Clone)]
struct OfTool<'a> {
    tool: String,
    written_for: ErrorType,
    arms: SharedArms<'a>,
}

/// Arms for the failures of all tools that no arms before them decide about, and for the final answer.
#[derive(Clone)]
struct Defaults<'a> {
    tools: SharedArms<'a>,
    output: OutputArms<'a>,
}

impl<'a> Defaults<'a> {
    fn new(
        arms: impl Fn(CallError<'_, AnyError>, &ErrorContext) -> Option<Plan> + Send + Sync + 'a,
    ) -> Self {
        let arms = Arc::new(arms);
        let output = arms.clone();
        Defaults {
            tools: Arc::new(move |error, schema, cx| {
                with_any_error(error, schema, |error| arms(error, cx))
            }),
            output: Arc::new(move |raw, fault, cx| {
                output(CallError::InvalidOutput(raw, fault), cx)
            }),
        }
    }
}

/// Arms of an agent: for single tools, for tools by a pattern, and defaults for all other tools and the final answer.
/// Defaults are set for one skill or for all skills.
#[derive(Clone, Default)]
pub(crate) struct Arms<'a> {
    of_tools: Vec<OfTool<'a>>,
    of_named: Vec<(Pattern, SharedArms<'a>)>,
    of_skills: Vec<(String, Defaults<'a>)>,
    default: Option<Defaults<'a>>,
    /// Name of the skill that answers at present; `None` while none is chosen.
    skill: Option<String>,
}

impl<'a> Arms<'a> {
    /// Adds arms for one tool, with its own error type.
    pub(crate) fn add_for<E: 'static>(
        &mut self,
        tool: &str,
        arms: impl Fn(CallError<'_, E>, &ErrorContext) -> Option<Plan> + Send + Sync + 'a,
    ) {
        let erased: SharedArms<'a> = Arc::new(move |error, schema, cx| {
            with_error::<E, _>(error, schema, |error| arms(error, cx))
        });
        self.of_tools.push(OfTool {
            tool: tool.to_owned(),
            written_for: ErrorType::of::<E>(),
            arms: erased,
        });
    }

    /// Adds arms for the tools whose names match the pattern.
    pub(crate) fn add_for_named(
        &mut self,
        pattern: Pattern,
        arms: impl Fn(CallError<'_, AnyError>, &ErrorContext) -> Option<Plan> + Send + Sync + 'a,
    ) {
        let erased: SharedArms<'a> = Arc::new(move |error, schema, cx| {
            with_any_error(error, schema, |error| arms(error, cx))
        });
        self.of_named.push((pattern, erased));
    }

    /// Sets the default arms: for every tool, and for the agent's final answer.
    pub(crate) fn set_default(
        &mut self,
        arms: impl Fn(CallError<'_, AnyError>, &ErrorContext) -> Option<Plan> + Send + Sync + 'a,
    ) {
        self.default = Some(Defaults::new(arms));
    }

    /// Adds arms for every tool, and for the agent's final answer, that apply while this skill answers.
    pub(crate) fn add_for_skill(
        &mut self,
        skill: String,
        arms: impl Fn(CallError<'_, AnyError>, &ErrorContext) -> Option<Plan> + Send + Sync + 'a,
    ) {
        self.of_skills.push((skill, Defaults::new(arms)));
    }

    /// Sets the skill that answers at present, whose arms then apply.
    pub(crate) fn at(&mut self, skill: &str) {
        self.skill = Some(skill.to_owned());
    }

    /// Returns the default arms of the skill that answers at present, then the default arms of the agent.
    fn defaults(&self) -> impl Iterator<Item = &Defaults<'a>> {
        let at_work = |(skill, _): &&(String, Defaults<'a>)| self.skill.as_ref() == Some(skill);
        let of_skill = self.of_skills.iter().filter(at_work);
        of_skill.map(|(_, arms)| arms).chain(&self.default)
    }

    /// Returns the plan for a failure of a call; `None` if no arm decides.
    pub(crate) fn decide(
        &self,
        tool: &dyn DynTool,
        error: &ToolError,
        cx: &ErrorContext,
    ) -> Option<Plan> {
        let spec = tool.spec();
        let schema = &spec.input_schema;
        let for_tool = self
            .of_tools
            .iter()
            .filter(|of| of.tool == spec.name)
            .map(|of| (of.arms)(error, schema, cx));
        let for_named = self
            .of_named
            .iter()
            .filter(|(pattern, _)| pattern.matches(&spec.name))
            .map(|(_, arms)| arms(error, schema, cx));
        let own = std::iter::once_with(|| tool.decide(error, cx));
        let defaults = self.defaults().map(|arms| (arms.tools)(error, schema, cx));
        first(for_tool.chain(for_named).chain(own).chain(defaults))
    }

    /// Returns the plan for a final answer that does not fit; `None` if no arm decides.
    pub(crate) fn decide_output(
        &self,
        raw: &Raw<'_>,
        fault: &ReadError,
        cx: &ErrorContext,
    ) -> Option<Plan> {
        first(self.defaults().map(|arms| (arms.output)(raw, fault, cx)))
    }

    /// Drops the arms of single tools for which `keep` returns `false`.
    pub(crate) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.of_tools.retain(|of| keep(&of.tool));
    }

    /// Returns the patterns of tool names for which there are arms.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.of_named.iter().map(|(pattern, _)| pattern)
    }

    /// Returns the names of the skills for which there are arms.
    pub(crate) fn skills(&self) -> impl Iterator<Item = &str> {
        self.of_skills.iter().map(|(skill, _)| &**skill)
    }

    /// Returns the names of the tools for which there are arms, each with the error type that its arms are written for.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (&str, ErrorType)> {
        self.of_tools.iter().map(|of| (&*of.tool, of.written_for))
    }
}

/// Returns the first plan of several layers of arms, asked in order. The first step `inherit` in it is replaced by the
/// plan of the next layer that decides, and left out if none does.
fn first(mut layers: impl Iterator<Item = Option<Plan>>) -> Option<Plan> {
    let plan = layers.by_ref().flatten().next()?;
    let Some(at) = plan.0.iter().position(|step| *step == PlanStep::Inherit) else {
        return Some(plan);
    };
    let mut steps = plan.0;
    let after = steps.split_off(at).into_iter().skip(1);
    steps.extend(first(layers).into_iter().flat_map(|plan| plan.0));
    steps.extend(after);
    Some(Plan(steps))
}
