//! Sources of tools: lists that are asked for when an agent begins its work.

use super::{IntoTool, Pattern, RemoteTool, SharedTool, ToolSet};
use crate::{Error, context::RunContext};
use async_trait::async_trait;
use std::sync::Arc;

/// Source of tools that is asked when an agent begins its work, such as a server that lists its tools.
///
/// A source stands among the tools of an agent: `tools = [Search, ..TRACKER]`, or
/// [`ToolSet::with_all(&TRACKER)`](ToolSet::with_all). Policies, arms, skills and grants reach its tools by their
/// names.
///
/// The list is asked for once for each conversation with the model, just before the conversation begins, and is stored
/// with the run. A stored run that goes on has the tools that its model was told of, and asks for no list. An error of
/// [`list`](ToolSource::list) ends the agent's work before the model is asked. The agent's time limit also bounds the
/// wait for the list.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// use agents::{
///     Error, async_trait,
///     run::RunContext,
///     tool::{IntoTool, Pattern, RemoteTool, SharedTool, ToolSet, ToolSource},
/// };
/// use serde_json::json;
///
/// /// The reports that a tenant has ordered.
/// #[derive(Clone)]
/// struct Reports;
///
/// #[async_trait]
/// impl ToolSource for Reports {
///     fn names(&self) -> Pattern {
///         "report_*".into()
///     }
///
///     async fn list(&self, cx: &RunContext) -> Result<Vec<RemoteTool>, Error> {
///         let name = format!("report_{}", cx.scope().tenant_id());
///         let listed = json!({"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
///         Ok(vec![serde_json::from_value(listed).expect("a tool")])
///     }
///
///     fn tool(&self, listed: RemoteTool) -> SharedTool {
///         listed.into_tool(|_, _| async { Ok::<_, Error>("all is well") }).into_tool()
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// # let (model, handle) = ScriptedModel::new([Script::call("report_acme", "{}"), Script::text("All is well.")]);
/// let clerk = AgentBuilder::<String, String>::new("clerk").tools(ToolSet::new().with_all(&Reports));
/// clerk.build().run("How is it going?").scope("acme").model(model).await?;
/// # assert_eq!(handle.requests()[0].tools, ["report_acme"]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ToolSource: Send + Sync + 'static {
    /// Returns the pattern that the names of all tools of this source match, such as `github_*`. Before a run, checks
    /// of agents and teams know nothing else of these tools.
    fn names(&self) -> Pattern;

    /// Lists the tools of this source, for the scope that the run works for.
    ///
    /// # Errors
    /// When the tools cannot be listed. The error ends the agent's work.
    async fn list(&self, cx: &RunContext) -> Result<Vec<RemoteTool>, Error>;

    /// Returns the tool for an entry of the list. The entry may come from a stored run, so [`list`](Self::list) need
    /// not have been called before in this process.
    fn tool(&self, listed: RemoteTool) -> SharedTool;
}

/// A source of tools that several agents may share: behind an [`Arc`], without its type.
pub(crate) type SharedSource = Arc<dyn ToolSource>;

#[async_trait]
impl<S: ToolSource + ?Sized> ToolSource for Arc<S> {
    fn names(&self) -> Pattern {
        (**self).names()
    }

    async fn list(&self, cx: &RunContext) -> Result<Vec<RemoteTool>, Error> {
        (**self).list(cx).await
    }

    fn tool(&self, listed: RemoteTool) -> SharedTool {
        (**self).tool(listed)
    }
}

/// Several tools at once, for `..` in `tools = [..]`: a value with tools that can be iterated over, a [`ToolSet`], or a
/// [`ToolSource`] by reference.
// Public because a signature names it. Programs neither name nor implement it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` holds no tools",
    label = "neither an iterator of tools nor a source of tools",
    note = "after `..` comes what can be iterated over, such as a `Vec<SharedTool>`, or a `ToolSet`, or a source that lists its tools, such as an MCP server",
    note = "one tool is listed without `..`: `tools = [ReadFile]`; to defer one, write `..deferred([ReadFile])`"
)]
pub trait IntoTools<Kind> {
    /// Adds the tools, or the source, to the set of an agent's tools.
    fn add_to(self, set: &mut ToolSet);
}

/// Marks the implementation of [`IntoTools`] for values with tools that can be iterated over; without such markers, the
/// implementations overlap.
#[doc(hidden)]
#[derive(Debug)]
pub struct Each;

/// Marks the implementation of [`IntoTools`] for a whole set of tools.
#[doc(hidden)]
#[derive(Debug)]
pub struct Whole;

/// Marks the implementation of [`IntoTools`] for a source of tools, which is asked for its list later.
#[doc(hidden)]
#[derive(Debug)]
pub struct Asked;

impl<I> IntoTools<Each> for I
where
    I: IntoIterator,
    I::Item: IntoTool,
{
    fn add_to(self, set: &mut ToolSet) {
        for tool in self {
            set.push(tool.into_tool());
        }
    }
}

impl IntoTools<Whole> for ToolSet {
    fn add_to(self, set: &mut ToolSet) {
        set.append(self);
    }
}

impl<S: ToolSource + Clone> IntoTools<Asked> for &S {
    fn add_to(self, set: &mut ToolSet) {
        set.push_source(Arc::new(self.clone()));
    }
}
