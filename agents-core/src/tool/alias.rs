use super::{
    DynTool, ErrorType, InDoubt, IntoTool, Prepared, ReadError, Risk, SharedTool, ToolContext,
    ToolSpec, Undone,
};
use crate::{
    Json,
    error::{Cause, ToolError},
    recovery::{ErrorContext, Fixer, Plan},
};
use async_trait::async_trait;
use std::{borrow::Cow, hash::Hasher, sync::Arc};

/// Gives a tool another name, by which the model calls it; receipts keep the tool's own name.
///
/// Two versions of one tool can thus be offered to one model under two names.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::{Effects, FnTool, IntoTool, alias};
/// use serde_json::json;
///
/// let read = FnTool::new("read", "Reads.", Effects::Reads, json!({"type": "object"}), |_, _| async {
///     Ok::<_, std::io::Error>("text")
/// });
/// let old = alias(read, "read_old");
/// assert_eq!((&*old.spec().name, old.spec().own_name()), ("read_old", "read"));
/// ```
pub fn alias(tool: impl IntoTool, name: impl Into<Cow<'static, str>>) -> SharedTool {
    let tool = tool.into_tool();
    let spec = tool.spec().renamed(name.into());
    under_spec(tool, spec)
}

/// Returns the tool with another specification (`spec`) than its own, such as one with another name.
pub(super) fn under_spec(tool: SharedTool, spec: ToolSpec) -> SharedTool {
    Arc::new(Listed { tool, spec })
}

struct Listed {
    tool: SharedTool,
    spec: ToolSpec,
}

#[async_trait]
impl DynTool for Listed {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, arguments: &str) -> Result<Prepared, ReadError> {
        self.tool.prepare(arguments)
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
        self.tool.needs_approval(prepared, cx)
    }

    fn risk_of(&self, prepared: &Prepared, cx: &ToolContext) -> Risk {
        self.tool.risk_of(prepared, cx)
    }

    fn is_part_of_the_run(&self) -> bool {
        self.tool.is_part_of_the_run()
    }

    async fn in_doubt(&self, prepared: Prepared, cx: &ToolContext) -> InDoubt<Json> {
        self.tool.in_doubt(prepared, cx).await
    }

    async fn undo(
        &self,
        prepared: Prepared,
        output: Json,
        cx: &ToolContext,
    ) -> Result<Undone, ToolError> {
        self.tool.undo(prepared, output, cx).await
    }

    async fn execute(&self, prepared: Prepared, cx: &ToolContext) -> Result<Json, Cause> {
        self.tool.execute(prepared, cx).await
    }
}
