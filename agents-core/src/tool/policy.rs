use super::{
    DynTool, ErrorType, InDoubt, NeedsApproval, Prepared, ReadError, Risk, SharedTool, ToolContext,
    ToolSpec, Undone, UnknownKeys, alias::under_spec, wording,
};
use crate::{
    Json,
    error::{Cause, ToolError},
    recovery::{ErrorContext, Fixer, Plan},
};
use async_trait::async_trait;
use serde_json::Value;
use std::{fmt, hash::Hasher, sync::Arc, time::Duration};

type When = Arc<dyn Fn(&Value, &ToolContext) -> bool + Send + Sync>;

/// Overrides that an agent applies to tools by name: approval, timeout, strictness and unknown keys;
/// [`AgentBuilder::policy`](crate::AgentBuilder::policy) takes a policy.
///
/// A tool that you write declares all of this itself; a tool that comes from the list of a server cannot.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::{NeedsApproval, ToolPolicy};
/// use std::time::Duration;
///
/// let quick = ToolPolicy::new().timeout(Duration::from_secs(10));
/// let trusted = ToolPolicy::new().approval(NeedsApproval::Never);
/// let large_sums = ToolPolicy::new().confirm_when(|args, _| args["amount"].as_f64() > Some(100.0));
/// ```
///
/// A policy can always ask for more approval than a tool does. A policy can ask for less only if the author of the tool
/// declared nothing about approval. The approval that calls need because the tool is external is a default, and no such
/// declaration.
#[derive(Clone, Default)]
#[must_use = "a policy does nothing until an agent has it"]
pub struct ToolPolicy {
    approval: Option<NeedsApproval>,
    when: Option<When>,
    timeout: Option<Duration>,
    strict: bool,
    unknown_keys: Option<UnknownKeys>,
}

impl ToolPolicy {
    /// Creates a policy that changes nothing about a tool yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether calls of the tools with this policy need a person's approval; by default, each tool decides for
    /// itself.
    pub fn approval(mut self, approval: NeedsApproval) -> Self {
        self.approval = Some(approval);
        self
    }

    /// Requires a person's approval for every call of the tools with this policy.
    pub fn confirm(self) -> Self {
        self.approval(NeedsApproval::Always)
    }

    /// Requires approval for calls for which `when` returns `true`. The function gets the arguments with which the tool
    /// would run, repairs included.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{AgentBuilder, tool::ToolPolicy};
    /// # use agents::{Effects, tool::FnTool};
    ///
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let pay = FnTool::new("bank_pay", "Pays.", Effects::Writes, schema, |_, _| async { Ok::<_, std::io::Error>("paid") });
    /// // `bank_pay` came in a list; the server does not know what this agent may do alone.
    /// let clerk = AgentBuilder::<String, String>::new("clerk").tool(pay)
    ///     .policy("bank_*", ToolPolicy::new().confirm_when(|args, _| args["amount"].as_f64() > Some(100.0)))
    ///     .build();
    /// ```
    pub fn confirm_when(
        mut self,
        when: impl Fn(&Value, &ToolContext) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.when = Some(Arc::new(when));
        self.approval(NeedsApproval::When)
    }

    /// Sets the timeout of one execution; by default, that of the tool.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Makes the reading of the arguments strict: only JSON that fits the schema is accepted.
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Sets the rule for keys of the arguments that the schema does not know; by default, that of the tool.
    pub fn unknown_keys(mut self, rule: UnknownKeys) -> Self {
        self.unknown_keys = Some(rule);
        self
    }

    /// Returns `true` if the policy asks for less approval than the author of the tool declared.
    pub(crate) fn loosens(&self, spec: &ToolSpec) -> bool {
        let rank = |approval| match approval {
            NeedsApproval::Never => 0,
            NeedsApproval::When => 1,
            NeedsApproval::Always => 2,
        };
        spec.has_said
            && self
                .approval
                .is_some_and(|approval| rank(approval) < rank(spec.approval))
    }

    /// Returns the tool with this policy applied to it.
    pub(crate) fn over(&self, tool: SharedTool) -> SharedTool {
        let ToolPolicy {
            approval,
            when,
            timeout,
            strict,
            unknown_keys,
        } = self;
        let mut spec = tool.spec().clone();
        let asks_itself = spec.has_said && spec.approval == NeedsApproval::When;
        spec.approval = approval.unwrap_or(spec.approval);
        spec.has_said |= *approval == Some(NeedsApproval::Always);
        spec.timeout = timeout.or(spec.timeout);
        spec.strict |= strict;
        spec.unknown_keys = unknown_keys.unwrap_or(spec.unknown_keys);
        let tool = under_spec(tool, spec);
        match when.clone() {
            None => tool,
            Some(when) => Arc::new(Judged {
                tool,
                when,
                asks_itself,
            }),
        }
    }
}

impl fmt::Debug for ToolPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolPolicy")
            .field("approval", &self.approval)
            .field("timeout", &self.timeout)
            .field("strict", &self.strict)
            .field("unknown_keys", &self.unknown_keys)
            .finish_non_exhaustive()
    }
}

/// Tool whose calls an agent's policy judges by their arguments: `confirm_when`.
struct Judged {
    tool: SharedTool,
    when: When,
    /// Is `true` if the tool's own condition also decides whether a call needs approval.
    asks_itself: bool,
}

/// Arguments of such a tool that were read, together with their JSON value for the policy.
struct Held {
    value: Value,
    prepared: Prepared,
}

#[async_trait]
impl DynTool for Judged {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn prepare(&self, arguments: &str) -> Result<Prepared, ReadError> {
        let prepared = self.tool.prepare(arguments)?;
        let value = serde_json::from_str(arguments)
            .map_err(|error| ReadError::new("", error.to_string()))?;
        Ok(Prepared(Box::new(Held { value, prepared })))
    }

    fn decide(&self, error: &ToolError, cx: &ErrorContext) -> Option<Plan> {
        self.tool.decide(error, cx)
    }

    fn fixers(&self) -> Vec<Arc<dyn Fixer>> {
        self.tool.fixers()
    }

    fn error_type(&self) -> Option<ErrorType> {
        self.tool.error_type()
    }

    fn hash_instance(&self, state: &mut dyn Hasher) {
        self.tool.hash_instance(state);
    }

    fn needs_approval(&self, prepared: &Prepared, cx: &ToolContext) -> bool {
        // Arguments of another type cannot occur here. If they did, a person would have to approve the call.
        prepared.0.downcast_ref().is_none_or(|held: &Held| {
            (self.when)(&held.value, cx)
                || (self.asks_itself && self.tool.needs_approval(&held.prepared, cx))
        })
    }

    fn risk_of(&self, prepared: &Prepared, cx: &ToolContext) -> Risk {
        let held: Option<&Held> = prepared.0.downcast_ref();
        held.map_or(Risk::High, |held| self.tool.risk_of(&held.prepared, cx))
    }

    fn is_part_of_the_run(&self) -> bool {
        self.tool.is_part_of_the_run()
    }

    async fn in_doubt(&self, prepared: Prepared, cx: &ToolContext) -> InDoubt<Json> {
        match prepared.0.downcast::<Held>() {
            Ok(held) => self.tool.in_doubt(held.prepared, cx).await,
            Err(_) => InDoubt::Unknown,
        }
    }

    async fn undo(
        &self,
        prepared: Prepared,
        output: Json,
        cx: &ToolContext,
    ) -> Result<Undone, ToolError> {
        match prepared.0.downcast::<Held>() {
            Ok(held) => self.tool.undo(held.prepared, output, cx).await,
            Err(_) => Err(wording::of_another_tool().into()),
        }
    }

    async fn execute(&self, prepared: Prepared, cx: &ToolContext) -> Result<Json, Cause> {
        match prepared.0.downcast::<Held>() {
            Ok(held) => self.tool.execute(held.prepared, cx).await,
            Err(_) => Err(wording::of_another_tool()),
        }
    }
}
