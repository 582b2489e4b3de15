//! Policies: rules about which tools and models the agents of a run may use.
//!
//! A [`Policy`] is asked before every model call and before every tool call. A policy is a closure, a type that
//! implements the trait, [`ToolStatuses`](crate::tool::ToolStatuses), or one of the predefined policies: [`read_only`],
//! [`no_external`], [`deny_tools`], [`only_tools`], [`confirm_tools`], [`confirm_writes`].
//! [`Run::policy`](crate::agent::Run::policy) can be called several times, and the strictest answer applies. A policy
//! can only restrict what agents and tools declare, never extend it.
//!
//! ```
//! # use agents_core as agents;
//! use agents::policy::{Action, Verdict, deny_tools, read_only};
//! # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
//! # use serde_json::json;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), agents::Error> {
//! # let (model, _) = ScriptedModel::new([Script::call("delete_file", r#"{"path":"a"}"#), Script::text("I cannot.")]);
//! # let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
//! # let delete = FnTool::new("delete_file", "Deletes.", Effects::Writes, schema, |_, _| async { Ok::<_, std::io::Error>(()) });
//! # let agent = AgentBuilder::<String, String>::new("clerk").tool(delete).model(model).build();
//!
//! let outcome = agent.run("Tidy up.")
//!     .policy(read_only())
//!     .policy(deny_tools("admin_*"))
//!     .policy(|action: &Action<'_>| match action {
//!         Action::Model(ask) if ask.usage.requests >= 100 => Verdict::deny("a hundred turns are enough for today"),
//!         _ => Verdict::Allow,
//!     })
//!     .outcome().await?;
//!
//! let receipt = outcome.outputs.receipts().next().unwrap();
//! let error = receipt.error.as_ref().unwrap();
//! assert_eq!(error.code, agents::Code::PolicyDenied);
//! assert_eq!(error.message, "`delete_file` writes, and this run is read-only");
//! # Ok(())
//! # }
//! ```
//!
//! A denied tool call has a receipt, and the model is told the reason and decides how to continue. A denied model
//! call ends the run with [`ErrorKind::Denied`](crate::ErrorKind::Denied).

mod rules;
mod statuses;
mod wording;

pub use rules::{
    confirm_tools, confirm_writes, deny_tools, named, no_external, only_tools, read_only,
};

use crate::{
    Json,
    budget::Cost,
    model::Usage,
    panics::guarded,
    tool::{Scope, ToolSpec},
};
use std::{fmt, sync::Arc};

/// Rule about what the agents of a run may do.
///
/// A policy should decide by the action alone, because it is asked about a tool call more than once: when the call is
/// taken up, and again, with the arguments, before each execution.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Json, policy::{Action, Verdict}};
/// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
/// # use serde_json::json;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let schema = json!({"type": "object"});
/// # let pay = FnTool::new("pay", "Pays.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("paid") });
/// # let (model, _) = ScriptedModel::new([Script::call("pay", r#"{"amount": 500}"#), Script::text("refused")]);
/// # let clerk = AgentBuilder::<String, String>::new("clerk").tool(pay).model(model).build();
/// // A rule is a function; it sees the arguments as soon as they have been read.
/// let small_sums = |action: &Action<'_>| match action {
///     Action::Tool(call) if call.spec.name == "pay" => match call.args.map(Json::to_value) {
///         None => Verdict::Allow, // not read yet: the rule is asked again
///         Some(Ok(args)) if args["amount"].as_u64().is_some_and(|amount| amount <= 100) => Verdict::Allow,
///         Some(_) => Verdict::deny("more than 100 is paid by people"),
///     },
///     _ => Verdict::Allow,
/// };
///
/// let outcome = clerk.run("Pay the bill").policy(small_sums).outcome().await?;
/// let receipt = outcome.outputs.receipts().next().unwrap();
/// assert_eq!(receipt.error.as_ref().unwrap().code, agents::Code::PolicyDenied);
/// # Ok(())
/// # }
/// ```
///
/// An `Arc` of a policy is a policy as well:
///
/// ```
/// # use agents_core as agents;
/// use agents::policy::{Policy, named, read_only};
/// use std::sync::Arc;
///
/// let shared: Arc<dyn Policy> = Arc::new(read_only());
/// assert_eq!(named("night", shared.clone()).name(), Some("night"));
/// assert_eq!(shared.name(), Some("read_only"));
/// ```
pub trait Policy: Send + Sync + 'static {
    /// Decides whether an action may happen. The strictest verdict of all policies of the run applies.
    fn judge(&self, action: &Action<'_>) -> Verdict;

    /// Returns the name of the policy; `None` if it has none. [`named`] gives a name to a closure.
    ///
    /// A stored run is not resumed unless it is given a policy of each name that it had. A run with a journal therefore
    /// refuses a policy without a name.
    fn name(&self) -> Option<&str> {
        None
    }

    /// Returns `true` if models are not to be offered this tool; `false` by default. The method is called before each
    /// request to a model. A model may call the tool all the same, so [`judge`](Self::judge) has to deny such calls. If
    /// the method panics, models are not offered the tool.
    fn withholds(&self, tool: &ToolSpec) -> bool {
        _ = tool;
        false
    }
}

impl<P: Policy + ?Sized> Policy for Arc<P> {
    fn judge(&self, action: &Action<'_>) -> Verdict {
        (**self).judge(action)
    }

    fn name(&self) -> Option<&str> {
        (**self).name()
    }

    fn withholds(&self, tool: &ToolSpec) -> bool {
        (**self).withholds(tool)
    }
}

impl<F> Policy for F
where
    F: Fn(&Action<'_>) -> Verdict + Send + Sync + 'static,
{
    fn judge(&self, action: &Action<'_>) -> Verdict {
        self(action)
    }
}

/// Decision of a [`Policy`] about an action.
///
/// ```
/// # use agents_core as agents;
/// use agents::policy::{Action, Verdict};
///
/// // A rule: what costs more than a budget of tokens is decided by people.
/// fn thrifty(action: &Action<'_>) -> Verdict {
///     match action {
///         Action::Tool(call) if call.usage.tokens() > 100_000 => Verdict::Confirm,
///         Action::Model(call) if call.usage.tokens() > 200_000 => Verdict::deny("enough has been spent"),
///         _ => Verdict::Allow,
///     }
/// }
/// # let _ = thrifty;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The action is allowed, as far as this policy is concerned.
    Allow,
    /// The action needs a person's approval.
    ///
    /// A model call that needs approval is denied, because no person can approve one.
    Confirm,
    /// The policy denies the action, which is not done.
    Deny {
        /// Reason why the policy denies the action. The model is told the reason for a denied tool call; the error that
        /// ends the run has the reason for a denied request to a model.
        reason: String,
    },
}

impl Verdict {
    /// Creates the verdict that denies an action, with this reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Verdict::Deny {
            reason: reason.into(),
        }
    }
}

/// Action that a [`Policy`] decides about: a request to a model, or a tool call.
///
/// ```
/// # use agents_core as agents;
/// use agents::policy::{Action, Verdict};
///
/// // Both kinds of action tell for whom the run works, and what it has used.
/// fn trial(action: &Action<'_>) -> Verdict {
///     let (scope, requests) = match action {
///         Action::Model(ask) => (ask.scope, ask.usage.requests),
///         Action::Tool(call) => (call.scope, call.usage.requests),
///     };
///     match scope.tenant_id() {
///         "trial" if requests > 20 => Verdict::deny("a trial has 20 requests"),
///         _ => Verdict::Allow,
///     }
/// }
/// # let _ = trial;
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// A model is about to be asked, with this request.
    Model(ModelCall<'a>),
    /// A tool is called, with this call. The action comes before the arguments are read, and again before each
    /// execution.
    Tool(ToolUse<'a>),
}

/// Request to a model that is about to be made.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ModelCall<'a> {
    /// Name of the agent that the model drives.
    pub agent: &'a str,
    /// Number of the agent's turn, from 1.
    pub turn: u32,
    /// Id of the model that would be asked.
    pub model: &'a str,
    /// Tokens and requests that the run has used so far.
    pub usage: Usage,
    /// Cost of the run so far; `None` if a model that was asked has no price.
    pub cost: Option<Cost>,
    /// Scope that the run works for.
    pub scope: &'a Scope,
}

/// Call of a tool, before it is executed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolUse<'a> {
    /// Name of the agent that calls the tool.
    pub agent: &'a str,
    /// Specification of the tool that is called.
    pub spec: &'a ToolSpec,
    /// Is `true` if the tool's work is a part of the run itself: a delegate or a bridge tool, whose agent's own calls
    /// are judged as well, a hand-off, or a tool by which a model gives up its task.
    pub is_delegate: bool,
    /// Arguments of the call; `None` until they have been read.
    pub args: Option<&'a Json>,
    /// Tokens and requests that the run has used so far.
    pub usage: Usage,
    /// Cost of the run so far; `None` if a model that was asked has no price.
    pub cost: Option<Cost>,
    /// Scope that the run works for.
    pub scope: &'a Scope,
}

/// Policies of a run, which are asked before each action.
#[derive(Clone, Default)]
pub(crate) struct Policies(Vec<Arc<dyn Policy>>);

impl Policies {
    pub(crate) fn add(&mut self, policy: impl Policy) {
        self.0.push(Arc::new(policy));
    }

    /// Puts the policies of the run around this one before its own; they apply in this run, too.
    pub(crate) fn inherit(&mut self, outer: &Policies) {
        self.0.splice(..0, outer.0.iter().cloned());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names of all policies that have one.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.0.iter().filter_map(|policy| policy.name());
        names.map(str::to_owned).collect()
    }

    /// Returns `true` if every policy has a name.
    pub(crate) fn are_named(&self) -> bool {
        self.0.iter().all(|policy| policy.name().is_some())
    }

    /// Returns `true` if a policy forbids that models are offered this tool. A policy that panics here forbids it.
    pub(crate) fn withhold(&self, tool: &ToolSpec) -> bool {
        let mut policies = self.0.iter();
        policies.any(|policy| {
            guarded(|| policy.withholds(tool)).unwrap_or_else(|panic| {
                let tool = &tool.name;
                tracing::error!(%tool, %panic, "a policy panicked; models are not offered this tool");
                true
            })
        })
    }

    /// Returns the strictest verdict of all policies about an action.
    pub(crate) fn judge(&self, action: &Action<'_>) -> Verdict {
        let mut strictest = Verdict::Allow;
        for policy in &self.0 {
            match policy.judge(action) {
                Verdict::Allow => {}
                Verdict::Confirm => strictest = Verdict::Confirm,
                denied @ Verdict::Deny { .. } => return denied,
            }
        }
        strictest
    }
}

impl fmt::Debug for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rules", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, Policies, Policy, Verdict, named};
    use crate::{
        Effects,
        tool::{ToolSpec, ToolStatuses},
    };
    use serde_json::json;
    use std::sync::Arc;

    fn withheld(policy: impl Policy) -> bool {
        let mut policies = Policies::default();
        policies.add(policy);
        let schema = json!({"type": "object"});
        policies.withhold(&ToolSpec::new("pay", "Pays.", Effects::Writes, schema))
    }

    #[test]
    fn a_policy_withholds_by_another_name_and_behind_a_pointer() {
        let statuses = || {
            let statuses = ToolStatuses::new();
            statuses.block("pay", "on Fridays nobody pays");
            statuses
        };
        assert!(withheld(statuses()));
        assert!(withheld(named("fridays", statuses())));
        assert!(withheld(Arc::new(named("fridays", statuses()))));
    }

    struct Panics;

    impl Policy for Panics {
        fn judge(&self, _: &Action<'_>) -> Verdict {
            Verdict::Allow
        }

        fn withholds(&self, _: &ToolSpec) -> bool {
            panic!("no list of tools")
        }
    }

    #[test]
    fn a_policy_that_panics_withholds() {
        assert!(withheld(Panics));
    }
}
