use super::{Pattern, Status, ToolSpec};
use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

/// Statuses of tools that may change while runs go on. As a [policy](crate::agent::Run::policy) of a run, they apply to
/// all of its tools at once: a blocked tool is refused and no longer offered, and each call of a deprecated tool is a
/// warning in the log.
///
/// Clones share their statuses, so one value serves all runs of a program. A status is for a name, a `name@version` or
/// a pattern of such names, so it reaches tools that a server lists, too. Of two statuses that match a tool, the later
/// one applies. A tool whose own specification blocks it stays blocked.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Agent, AgentBuilder, Code, tool::ToolStatuses};
/// # use agents::{Effects, testing::{Script, ScriptedModel}, tool::FnTool};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let schema = serde_json::json!({"type": "object"});
/// # let shell = FnTool::new("shell", "Runs.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("ran") });
/// # let (model, handle) = ScriptedModel::new([Script::call("shell", "{}"), Script::text("I cannot")]);
/// # let admin = AgentBuilder::<String, String>::new("admin").tool(shell).model(model).build();
/// let statuses = ToolStatuses::new();
/// let run = admin.run("Clean up").policy(statuses.clone());
///
/// // Elsewhere, at any time.
/// statuses.block("shell", "CVE-2026-1234");
///
/// let outcome = run.outcome().await?;
/// assert!(handle.requests()[0].tools.is_empty());
/// let receipt = outcome.outputs.receipts().next().unwrap();
/// assert_eq!(receipt.error.as_ref().unwrap().code, Code::PolicyDenied);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct ToolStatuses(Arc<RwLock<Vec<(Pattern, Status)>>>);

impl ToolStatuses {
    /// Creates an empty list, under which every tool keeps the status of its own specification.
    pub fn new() -> Self {
        Self::default()
    }

    /// Blocks the tools that match, from now on. The reason is told to people and models.
    pub fn block(&self, tools: impl Into<Pattern>, reason: impl Into<Cow<'static, str>>) {
        let reason = reason.into();
        self.set(tools.into(), Status::Blocked { reason });
    }

    /// Deprecates the tools that match, from now on, with a `note` on what to use instead.
    pub fn deprecate(&self, tools: impl Into<Pattern>, note: impl Into<Cow<'static, str>>) {
        let note = note.into();
        self.set(tools.into(), Status::Deprecated { note });
    }

    /// Makes the tools that match active again, from now on.
    pub fn activate(&self, tools: impl Into<Pattern>) {
        self.set(tools.into(), Status::Active);
    }

    /// Returns the status of a tool in this list; active if no entry of the list matches the tool.
    pub fn of(&self, tool: &ToolSpec) -> Status {
        let statuses = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if statuses.is_empty() {
            return Status::Active;
        }
        let mut latest = statuses.iter().rev();
        let found = latest.find(|(pattern, _)| tool.is_meant_by(pattern));
        found.map_or(Status::Active, |(_, status)| status.clone())
    }

    pub(super) fn set(&self, tools: Pattern, status: Status) {
        let mut statuses = self.0.write().unwrap_or_else(PoisonError::into_inner);
        statuses.retain(|(other, _)| *other != tools);
        statuses.push((tools, status));
    }
}

impl fmt::Debug for ToolStatuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let statuses = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let all = statuses.iter().map(|(tools, status)| (tools, status));
        f.debug_map().entries(all).finish()
    }
}
