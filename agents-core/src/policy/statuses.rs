//! Statuses of tools as a policy.

use super::{Action, Policy, Verdict, wording};
use crate::tool::{Status, ToolSpec, ToolStatuses};

impl Policy for ToolStatuses {
    fn judge(&self, action: &Action<'_>) -> Verdict {
        let Action::Tool(call) = action else {
            return Verdict::Allow;
        };
        match self.of(call.spec) {
            Status::Blocked { reason } => {
                Verdict::deny(wording::blocked(&call.spec.key(), &reason))
            }
            Status::Deprecated { note } => {
                // The policy is asked more than once about a call, and once without arguments.
                if call.args.is_none() {
                    tracing::warn!(tool = call.spec.key(), %note, "this tool is deprecated");
                }
                Verdict::Allow
            }
            Status::Active => Verdict::Allow,
        }
    }

    fn name(&self) -> Option<&str> {
        Some("tool_statuses")
    }

    fn withholds(&self, tool: &ToolSpec) -> bool {
        self.of(tool).blocked().is_some()
    }
}
