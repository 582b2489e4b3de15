//! Resolutions of an escalation by an agent that it has reached: the verbs of `on_escalation`.

use super::Escalation;
use crate::{
    Severity,
    agent::{Agent, Data},
    model::Model,
    recovery::IntoWords,
};
use std::{borrow::Cow, fmt, sync::Arc};

/// Decision of a handler about an escalation; `I` and `O` are the handling agent's input and output.
///
/// ```
/// # use agents_core as agents;
/// use agents::{AgentBuilder, Severity, escalation::*};
///
/// // One opinion for several agents of one signature.
/// fn patient(escalation: Escalation) -> Resolution<String, String> {
///     match (escalation.severity, escalation.attempts) {
///         (Severity::Critical, _) => throw(escalation.reason),
///         (_, attempts) if attempts > 3 => return_partial_result(escalation.reason),
///         _ => inherit(),
///     }
/// }
/// let lead = AgentBuilder::<String, String>::new("lead").on_escalation(patient).build();
/// let clerk = AgentBuilder::<String, String>::new("clerk").on_escalation(patient).build();
/// ```
#[must_use = "a resolution does nothing until `on_escalation` gives it back"]
pub struct Resolution<I, O>(pub(crate) Verb<I, O>);

/// Verb with which a handler resolves an escalation, such as `escalate` or `throw`.
pub(crate) enum Verb<I, O> {
    Model(Arc<dyn Model>),
    Instead(Instead<I, O>),
    Escalate { reason: String, severity: Severity },
    Throw(String),
    Inherit,
}

/// Replacement for the handling agent's own work, which a handler has chosen.
pub(crate) enum Instead<I, O> {
    /// A skill of the handling agent, given by name, does the work.
    Skill(Cow<'static, str>),
    /// Another agent does the work in the place of the handling agent.
    Agent(Arc<dyn Agent<In = I, Out = O>>),
    /// The handling agent ends with this value as its output.
    Partial(O),
}

/// Function of an agent that decides about escalations from below: its `on_escalation!`.
pub(crate) type SharedHandler<'a, I, O> =
    Arc<dyn Fn(Escalation) -> Resolution<I, O> + Send + Sync + 'a>;

/// Lets the failed agent go on with another model from the point of failure; finished calls are not repeated.
///
/// The failed agent is the one whose call or answer failed; for a delegate that escalated its own work, it is the agent
/// that called the delegate. It can go on in this way at most three times; then the resolution is refused, and the
/// escalation climbs on. If several calls of one reply are given a model each, the agent continues once, with the last
/// of these models.
///
/// A stored run has only the name of a model, and continues with a [known model](crate::agent::Run::known_model) of
/// that name. Without such a known model, the run asks the handlers again with the same escalation. If they give no
/// model of that name, the agent fails with [`ErrorKind::Replay`](crate::ErrorKind::Replay).
///
/// ```
/// # use agents_core as agents;
/// use agents::escalation::*;
/// use agents::testing::{Script, ScriptedModel};
///
/// let (larger, _) = ScriptedModel::new([Script::text("done")]);
/// let resolution = retry_with_model::<String, String>(larger);
/// assert!(format!("{resolution:?}").starts_with("retry_with_model("));
/// ```
pub fn retry_with_model<I, O>(model: impl Model) -> Resolution<I, O> {
    Resolution(Verb::Model(Arc::new(model)))
}

/// Restarts the handling agent with this one of its skills, on its original input.
///
/// In `on_escalation!`, the skill is named by its method: `reroute_to_skill(Self::by_hand)`. If the agent has no skill
/// of that name, or has begun anew or left its work to others three times already, the resolution is refused: the
/// escalation climbs on, with the refusal in [`Escalation::refused`].
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{AgentBuilder, Skill};
/// use agents::escalation::*;
/// use agents::Error;
///
/// let clerk = AgentBuilder::<String, String>::new("clerk")
///     .prompt("You file things.")
///     .skill(Skill::model("file", "Files."))
///     .skill(Skill::native("by_hand", "Leaves it to people.", |what: String| async move {
///         Ok::<_, Error>(format!("left on the desk: {what}"))
///     }))
///     .on_escalation(|_: Escalation| reroute_to_skill("by_hand"))
///     .build();
/// ```
pub fn reroute_to_skill<I, O>(skill: impl SkillName) -> Resolution<I, O> {
    Resolution(Verb::Instead(Instead::Skill(skill.into_name())))
}

/// Lets another agent do the handling agent's work instead, on its original input.
///
/// When a stored run goes on, the handler is asked for the agent again. If it gives no agent of the same name, the
/// handling agent fails with [`ErrorKind::Replay`](crate::ErrorKind::Replay).
///
/// In a team, the other agent may have no tool that the place of the handling agent does not grant freely. The tools of
/// its own memory and knowledge need no grant. Otherwise the resolution is refused, and the escalation climbs on with
/// the refusal in [`Escalation::refused`]. It is also refused if the handling agent has begun anew or left its work to
/// others three times already.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Agent, AgentBuilder, agent::Skill, escalation::*};
///
/// // The expensive one is asked for what the cheap one gives up.
/// let lead = AgentBuilder::<String, String>::new("lead")
///     .on_escalation(|_: Escalation| {
///         let expert = AgentBuilder::new("expert")
///             .skill(Skill::native("answer", "Answers.", |q: String| async move { Ok(format!("no idea: {q}")) }));
///         reroute_to::<String, String>(expert.build())
///     })
///     .build();
/// assert_eq!(lead.name(), "lead");
/// ```
pub fn reroute_to<I: Data, O: Data>(agent: impl TakesOver<I, O>) -> Resolution<I, O> {
    Resolution(Verb::Instead(Instead::Agent(agent.taking_over())))
}

/// Ends the handling agent with this value as its output. The output is marked partial: in the run's
/// [`Outcome`](crate::run::Outcome), or, if the agent is a delegate, for the model that called it. A value that cannot
/// be written as JSON is refused: the escalation climbs on, with the refusal in [`Escalation::refused`].
///
/// ```
/// # use agents_core as agents;
/// use agents::{AgentBuilder, escalation::*};
///
/// let lead = AgentBuilder::<String, Vec<String>>::new("lead")
///     .on_escalation(|escalation: Escalation| return_partial_result(vec![escalation.reason]))
///     .build();
/// # let _ = lead;
/// ```
pub fn return_partial_result<I, O>(value: O) -> Resolution<I, O> {
    Resolution(Verb::Instead(Instead::Partial(value)))
}

/// Passes the escalation on to the next agent above, for this reason. [`severity`](Resolution::severity) sets its new
/// severity, `High` by default.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Severity, escalation::*};
///
/// let resolution = escalate::<String, String>("the disk is full").severity(Severity::Critical);
/// assert_eq!(format!("{resolution:?}"), r#"escalate("the disk is full", CRITICAL)"#);
/// ```
pub fn escalate<I, O>(reason: impl IntoWords) -> Resolution<I, O> {
    Resolution(Verb::Escalate {
        reason: reason.into_words(),
        severity: Severity::High,
    })
}

/// Passes the escalation on to the next agent above, unchanged.
///
/// ```
/// # use agents_core as agents;
/// use agents::{AgentBuilder, escalation::*};
///
/// // This agent knows what to do about one tool; all else is for those above.
/// let lead = AgentBuilder::<String, String>::new("lead")
///     .on_escalation(|escalation: Escalation| match &*escalation.source {
///         "search" => return_partial_result("nothing was found".to_owned()),
///         _ => inherit(),
///     })
///     .build();
/// ```
pub fn inherit<I, O>() -> Resolution<I, O> {
    Resolution(Verb::Inherit)
}

/// Ends the whole run with [`ErrorKind::Thrown`](crate::ErrorKind::Thrown), for this reason.
///
/// ```
/// # use agents_core as agents;
/// use agents::{AgentBuilder, Severity, escalation::*};
///
/// let lead = AgentBuilder::<String, String>::new("lead")
///     .on_escalation(|escalation: Escalation| match escalation.severity {
///         Severity::Critical => throw(escalation.reason), // the run is over: `ErrorKind::Thrown`
///         _ => inherit(),
///     })
///     .build();
/// ```
pub fn throw<I, O>(reason: impl IntoWords) -> Resolution<I, O> {
    Resolution(Verb::Throw(reason.into_words()))
}

impl<I, O> Resolution<I, O> {
    /// Sets the severity with which [`escalate`] passes the escalation on. On any other resolution, this has no effect.
    pub fn severity(mut self, new: Severity) -> Self {
        if let Verb::Escalate { severity, .. } = &mut self.0 {
            *severity = new;
        }
        self
    }
}

impl<I: Data, O: Data> fmt::Debug for Resolution<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Verb::Model(model) => write!(f, "retry_with_model({})", model.id()),
            Verb::Instead(Instead::Skill(name)) => write!(f, "reroute_to_skill({name})"),
            Verb::Instead(Instead::Agent(agent)) => write!(f, "reroute_to({})", agent.name()),
            Verb::Instead(Instead::Partial(_)) => f.write_str("return_partial_result(..)"),
            Verb::Escalate { reason, severity } => write!(f, "escalate({reason:?}, {severity})"),
            Verb::Throw(reason) => write!(f, "throw({reason:?})"),
            Verb::Inherit => f.write_str("inherit()"),
        }
    }
}

/// Conversion from the return value of an escalation handler: a [`Resolution`], or an `Option` of a resolution, where
/// `None` passes the escalation on unchanged.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not resolve an escalation of this agent",
    label = "expected one of `retry_with_model(..)`, `reroute_to_skill(..)`, `reroute_to(..)`, `return_partial_result(..)`, `escalate(..)`, `inherit()`, `throw(..)`",
    note = "a partial result has the type of the agent's own answer, `{O}`"
)]
// Public because generated code names it.
#[doc(hidden)]
pub trait IntoResolution<I, O> {
    /// Converts the value into the resolution of an escalation.
    fn into_resolution(self) -> Resolution<I, O>;
}

impl<I, O> IntoResolution<I, O> for Resolution<I, O> {
    fn into_resolution(self) -> Resolution<I, O> {
        self
    }
}

impl<I, O> IntoResolution<I, O> for Option<Resolution<I, O>> {
    fn into_resolution(self) -> Resolution<I, O> {
        self.unwrap_or_else(inherit)
    }
}

/// Helper bound: an agent with the input and output of the handling agent, so that it can take over its work.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot do the work of this agent: that takes `{I}` and gives `{O}`",
    label = "takes or gives something else",
    note = "put `.map(..)` behind it, if it only answers something else; in `on_escalation!`, a skill may do the work: `reroute_to_skill(..)`"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait TakesOver<I, O> {
    /// Converts the value into the agent that takes over.
    fn taking_over(self) -> Arc<dyn Agent<In = I, Out = O>>;
}

#[diagnostic::do_not_recommend]
impl<I: Data, O: Data, A: Agent<In = I, Out = O> + 'static> TakesOver<I, O> for A {
    fn taking_over(self) -> Arc<dyn Agent<In = I, Out = O>> {
        Arc::new(self)
    }
}

/// Conversion into the name of a skill, from a text or from the method that names it in `on_escalation!`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the name of a skill",
    label = "expected a skill of this agent",
    note = "within `on_escalation!` a skill goes by its method: `reroute_to_skill(Self::by_hand)`; elsewhere by its name, `\"by_hand\"`",
    note = "an agent takes over by `reroute_to({Self})`"
)]
#[doc(hidden)] // Public because a verb names it, for the message of a wrong type.
pub trait SkillName {
    /// Converts the value, a text or a skill's marker, into the name of a skill.
    fn into_name(self) -> Cow<'static, str>;
}

#[diagnostic::do_not_recommend]
impl<T: Into<Cow<'static, str>>> SkillName for T {
    fn into_name(self) -> Cow<'static, str> {
        self.into()
    }
}
