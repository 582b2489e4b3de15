//! Tools on demand: a model is offered the tool that searches them, and then the tools that it has found.
//!
//! Nothing is stored of what is loaded. It follows from the conversation: from the results of searches, and from the
//! calls of deferred tools. A replay, a run that goes on in another process and the next message of a conversation
//! offer the same tools in the same order.

mod loaded;
mod search;
mod wording;

use super::{IntoTools, SharedTool, ToolSet, ToolSpec};

/// Name of the tool by which a model searches the deferred tools.
const SEARCH: &str = "search_tools";

/// Defers tools: a model is offered them only once it has searched for them.
///
/// The function takes what stands behind `..` in `tools = [..]`: a value with tools that can be iterated over, a
/// [`ToolSet`], or a [source](super::ToolSource) by reference, such as an MCP server. Within the macros,
/// `..deferred(GITHUB)` borrows a source, as `..GITHUB` does.
///
/// The agent gets one more tool, `search_tools`, whose description lists the names of the deferred tools, or groups of
/// names if there are more than 40. The search compares words, and loads up to five tools at once: from the next
/// request on, their declarations stand behind the ones before, in the order of loading. A deferred tool that the model
/// calls by its right name runs, and is loaded by that call.
///
/// Only the offer is deferred. Grants, skills, policies, approvals and blocked tools hold as for any other tool: a
/// search finds no tool that the agent may not be offered.
///
/// A deferred tool costs the model one more turn. Deferring pays for many tools of which a run needs few.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
/// use agents::tool::{ToolSet, deferred};
///
/// # fn tracker() -> Vec<FnTool> {
/// #     ["issue_create", "issue_close"].map(|name| {
/// #         let schema = serde_json::json!({"type": "object"});
/// #         FnTool::new(name, "", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("done") })
/// #     }).into()
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, handle) = ScriptedModel::new([
/// #     Script::call("search_tools", r#"{"query": "close an issue"}"#),
/// #     Script::call("issue_close", "{}"),
/// #     Script::text("Closed."),
/// # ]);
/// let triage = AgentBuilder::<String, String>::new("triage").tools(ToolSet::new().with_all(deferred(tracker())));
/// triage.build().run("Close 7.").model(model).await?;
/// # assert_eq!(handle.requests()[0].tools, ["search_tools"]);
/// # assert_eq!(handle.requests()[1].tools, ["search_tools", "issue_close"]);
/// # Ok(())
/// # }
/// ```
#[must_use = "deferred tools are added to an agent: `tools = [..deferred(GITHUB)]`"]
pub fn deferred<Kind>(tools: impl IntoTools<Kind>) -> ToolSet {
    ToolSet::new().with_all(tools).all_deferred()
}

impl ToolSet {
    /// Returns this set with the tool that searches the deferred tools as they are now; without that tool if nothing is
    /// deferred.
    pub(crate) fn with_search(self) -> ToolSet {
        let is_it = |tool: &SharedTool| is_search(tool.spec());
        if !self.defers() {
            return self.without(is_it);
        }
        let later: Vec<_> = self.later().cloned().collect();
        let sources = self.sources().iter().map(|source| source.names());
        let to_list: Vec<_> = sources
            .filter(|names| self.is_deferred(names.as_str()))
            .collect();
        self.with_in_place_of(is_it, search::tool(later, &to_list))
    }

    /// Returns this set with the deferred tools that the results of calls in a conversation have loaded. A result is
    /// the name of a tool and what the model was told.
    pub(crate) fn with_loaded<'r>(
        self,
        results: impl Iterator<Item = (&'r str, &'r str)>,
    ) -> ToolSet {
        let loaded = loaded::names(results, |name| self.is_deferred(name));
        self.with_search().offering(loaded)
    }
}

/// Returns `true` for the tool that searches the deferred tools of an agent. No tool of a user is innate.
fn is_search(spec: &ToolSpec) -> bool {
    spec.innate && spec.name == SEARCH
}
