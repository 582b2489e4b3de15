//! Predefined policies.

use super::{Action, Policy, Verdict, wording};
use crate::tool::{Effects, Pattern, ToolSpec};

/// Returns a policy that denies the calls of tools that write, and of tools with undeclared effects.
///
/// ```
/// # use agents_core as agents;
/// use agents::policy::read_only;
/// # use agents::{Agent, agent::ModelAgent};
/// # async fn run(agent: ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
/// agent.run("What would you change?").policy(read_only()).await?;
/// # Ok(())
/// # }
/// ```
pub fn read_only() -> impl Policy {
    refusing("read_only", |spec| match (spec.declared, spec.effects) {
        (false, _) => Some(wording::undeclared_and_read_only(&spec.name)),
        (true, Effects::Writes) => Some(wording::writes_and_read_only(&spec.name)),
        (true, Effects::None | Effects::Reads) => None,
    })
}

/// Returns a policy that denies the calls of tools whose effects leave the organisation, and of tools with undeclared
/// effects.
///
/// ```
/// # use agents_core as agents;
/// use agents::policy::no_external;
/// # use agents::{Agent, AgentBuilder, Code, Effects, testing::{Script, ScriptedModel}, tool::{FnTool, ToolSpec}};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let spec = ToolSpec::new("web_search", "Searches.", Effects::Reads, serde_json::json!({"type": "object"}));
/// # let search = FnTool::with_spec(spec.external(), |_, _| async { Ok::<_, std::io::Error>("found") });
/// # let (model, _) = ScriptedModel::new([Script::call("web_search", "{}"), Script::text("I may not")]);
/// # let agent = AgentBuilder::<String, String>::new("clerk").tool(search).model(model).build();
/// // A question about a customer: no word of it goes to a search engine.
/// let outcome = agent.run("What is wrong with ACME's file?").policy(no_external()).outcome().await?;
/// let receipt = outcome.outputs.receipts().next().unwrap();
/// assert_eq!(receipt.error.as_ref().unwrap().code, Code::PolicyDenied);
/// # Ok(())
/// # }
/// ```
pub fn no_external() -> impl Policy {
    refusing("no_external", |spec| match (spec.declared, spec.external) {
        (false, _) => Some(wording::undeclared_and_internal(&spec.name)),
        (true, true) => Some(wording::external_and_internal(&spec.name)),
        (true, false) => None,
    })
}

/// Returns a policy that denies the calls of every tool that the pattern matches: by the name that models use, by the
/// tool's own name, or by `name@version`.
///
/// ```
/// # use agents_core as agents;
/// use agents::policy::deny_tools;
/// # use agents::{Agent, agent::ModelAgent};
/// # async fn run(agent: ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
/// // All tools of one server, and one version of another tool.
/// agent.run("Tidy up").policy(deny_tools("github_*")).policy(deny_tools("read@1.0.0")).await?;
/// # Ok(())
/// # }
/// ```
pub fn deny_tools(pattern: impl Into<Pattern>) -> impl Policy {
    let pattern = pattern.into();
    refusing(format!("deny_tools({pattern})"), move |spec| {
        spec.is_meant_by(&pattern)
            .then(|| wording::denied_by_pattern(&spec.name, &pattern))
    })
}

/// Returns a policy that denies the calls of every tool that none of the patterns matches: by the name that models use,
/// by the tool's own name, or by `name@version`.
///
/// ```
/// # use agents_core as agents;
/// use agents::policy::{deny_tools, only_tools};
/// # use agents::{Agent, agent::ModelAgent};
/// # async fn run(agent: ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
/// agent.run("Look at the issues").policy(only_tools(["github_*"])).policy(deny_tools("*_delete")).await?;
/// # Ok(())
/// # }
/// ```
pub fn only_tools<P: Into<Pattern>>(patterns: impl IntoIterator<Item = P>) -> impl Policy {
    let patterns: Vec<Pattern> = patterns.into_iter().map(Into::into).collect();
    let names: Vec<_> = patterns.iter().map(ToString::to_string).collect();
    refusing(format!("only_tools({})", names.join(", ")), move |spec| {
        let meant = patterns.iter().any(|pattern| spec.is_meant_by(pattern));
        (!meant).then(|| wording::not_among(&spec.name, &patterns))
    })
}

/// Returns a policy under which a person has to approve every call of each tool that the pattern matches: by the name
/// that models use, by the tool's own name, or by `name@version`.
///
/// ```
/// # use agents_core as agents;
/// use agents::policy::confirm_tools;
/// # use agents::{Agent, agent::ModelAgent, run::Approver};
/// # async fn run(agent: ModelAgent<'_, String, String>, ask_me: impl Approver) -> Result<(), agents::Error> {
/// // On Fridays somebody looks at what is deployed.
/// agent.run("Deploy it").policy(confirm_tools("deploy_*")).approver(ask_me).await?;
/// # Ok(())
/// # }
/// ```
pub fn confirm_tools(pattern: impl Into<Pattern>) -> impl Policy {
    let pattern = pattern.into();
    confirming(format!("confirm_tools({pattern})"), move |spec| {
        spec.is_meant_by(&pattern)
    })
}

/// Returns a policy under which a person has to approve every call of a tool that writes. A tool of undeclared effects
/// counts as one that writes.
///
/// ```
/// # use agents_core as agents;
/// use agents::policy::confirm_writes;
/// use agents::run::{Approval, ApprovalRequest};
/// # use agents::{Agent, agent::ModelAgent};
/// # async fn run(agent: ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
/// let nobody = |_: ApprovalRequest| async { Approval::deny("nobody is at home") };
/// agent.run("Tidy up").policy(confirm_writes()).approver(nobody).await?;
/// # Ok(())
/// # }
/// ```
pub fn confirm_writes() -> impl Policy {
    confirming("confirm_writes", |spec| spec.effects == Effects::Writes)
}

/// Gives a policy a name.
///
/// A stored run is not resumed unless it is given a policy of each name that it had. A closure has no name, so a run
/// with a journal refuses a closure that was not named. Two different policies need different names.
///
/// ```
/// # use agents_core as agents;
/// use agents::policy::{Action, Policy, Verdict, named};
///
/// let thrifty = named("thrifty", |action: &Action<'_>| match action {
///     Action::Tool(call) if call.usage.tokens() > 100_000 => Verdict::Confirm,
///     _ => Verdict::Allow,
/// });
/// assert_eq!(thrifty.name(), Some("thrifty"));
/// ```
pub fn named(name: impl Into<String>, policy: impl Policy) -> impl Policy {
    Named {
        name: name.into(),
        policy,
    }
}

struct Named<P> {
    name: String,
    policy: P,
}

impl<P: Policy> Policy for Named<P> {
    fn judge(&self, action: &Action<'_>) -> Verdict {
        self.policy.judge(action)
    }

    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn withholds(&self, tool: &ToolSpec) -> bool {
        self.policy.withholds(tool)
    }
}

fn refusing(
    name: impl Into<String>,
    why: impl Fn(&ToolSpec) -> Option<String> + Send + Sync + 'static,
) -> impl Policy {
    named(name, move |action: &Action<'_>| match action {
        Action::Tool(call) => why(call.spec).map_or(Verdict::Allow, Verdict::deny),
        Action::Model(_) => Verdict::Allow,
    })
}

fn confirming(
    name: impl Into<String>,
    needs: impl Fn(&ToolSpec) -> bool + Send + Sync + 'static,
) -> impl Policy {
    named(name, move |action: &Action<'_>| match action {
        Action::Tool(call) if needs(call.spec) => Verdict::Confirm,
        Action::Tool(_) | Action::Model(_) => Verdict::Allow,
    })
}
