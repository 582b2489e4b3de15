//! The rules that are ready.

use super::{Action, Policy, Verdict};
use crate::tool::{Effects, Pattern, ToolSpec};

/// Returns a policy that denies tools that write, and tools of undeclared effects.
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
    refusing(|spec| match (spec.declared, spec.effects) {
        (false, _) => Some(format!("{}, and this run is read-only", unknown(spec))),
        (true, Effects::Writes) => {
            Some(format!("`{}` writes, and this run is read-only", spec.name))
        }
        (true, Effects::None | Effects::Reads) => None,
    })
}

/// Returns a policy that denies tools whose effects leave the organisation, and tools of undeclared
/// effects.
pub fn no_external() -> impl Policy {
    refusing(|spec| match (spec.declared, spec.external) {
        (false, _) => Some(format!("{}, and nothing may leave", unknown(spec))),
        (true, true) => Some(format!(
            "what `{}` does leaves the organisation, and nothing may",
            spec.name
        )),
        (true, false) => None,
    })
}

/// Returns a policy that denies the tools with these names; a pattern matches a name or a
/// `name@version`.
pub fn deny_tools(pattern: impl Into<Pattern>) -> impl Policy {
    let pattern = pattern.into();
    refusing(move |spec| {
        is_meant(&pattern, spec)
            .then(|| format!("`{}` may not be used in this run (`{pattern}`)", spec.name))
    })
}

/// Returns a policy that denies all tools but those with these names; a pattern matches a name or a
/// `name@version`.
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
    refusing(move |spec| {
        let meant = patterns.iter().any(|pattern| is_meant(pattern, spec));
        (!meant).then(|| {
            let allowed: Vec<_> = patterns
                .iter()
                .map(|pattern| format!("`{pattern}`"))
                .collect();
            let name = &spec.name;
            match allowed.is_empty() {
                true => format!("`{name}` may not be used: this run has no tools"),
                false => format!(
                    "`{name}` may not be used; this run has {}",
                    allowed.join(", ")
                ),
            }
        })
    })
}

/// Returns a policy under which a person has to approve every call of the tools with these names.
pub fn confirm_tools(pattern: impl Into<Pattern>) -> impl Policy {
    let pattern = pattern.into();
    confirming(move |spec| is_meant(&pattern, spec))
}

/// Returns a policy under which a person has to approve every call of a tool that writes.
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
    confirming(|spec| spec.effects == Effects::Writes)
}

fn refusing(why: impl Fn(&ToolSpec) -> Option<String> + Send + Sync + 'static) -> impl Policy {
    move |action: &Action<'_>| match action {
        Action::Tool(call) => why(call.spec).map_or(Verdict::Allow, Verdict::deny),
        Action::Model(_) => Verdict::Allow,
    }
}

fn confirming(needs: impl Fn(&ToolSpec) -> bool + Send + Sync + 'static) -> impl Policy {
    move |action: &Action<'_>| match action {
        Action::Tool(call) if needs(call.spec) => Verdict::Confirm,
        Action::Tool(_) | Action::Model(_) => Verdict::Allow,
    }
}

fn is_meant(pattern: &Pattern, spec: &ToolSpec) -> bool {
    pattern.matches(&spec.name) || pattern.matches(spec.own_name()) || pattern.matches(&spec.key())
}

fn unknown(spec: &ToolSpec) -> String {
    format!("nobody says what `{}` does to the world", spec.name)
}
