//! Lists of tools, for which the sources of an agent are asked before its conversation begins.

use crate::{
    Error,
    context::RunContext,
    definition::AgentDefinition,
    journal::Fact,
    panics::{self, guarded_while},
    tool::{RemoteTool, SharedSource},
};
use futures_util::future::try_join_all;
use std::sync::Arc;

/// Returns the definition with the tools that its sources list; `None` if it has no sources. A stored run that goes on
/// uses the stored lists.
pub(super) async fn listed<'a>(
    definition: &AgentDefinition<'a>,
    cx: &RunContext,
) -> Result<Option<AgentDefinition<'a>>, Error> {
    if definition.tools.sources().is_empty() {
        return Ok(None);
    }
    let sources: Vec<_> = definition.sources().collect();
    // A replay asks no server.
    let again = |from: &str| {
        let replay = cx.root.settings.replay.as_ref()?;
        replay.listed(cx.node.path().to_string(), from)
    };
    let stored = |source: &SharedSource| {
        let from = source.names();
        let listed = cx.node.frame(|frame| frame.listed(from.as_str()));
        listed.or_else(|| again(from.as_str()))
    };
    let asked = sources.iter().filter(|source| stored(source).is_none());
    let asked = asked.map(|source| ask(definition, cx, source));
    for (from, tools) in try_join_all(asked).await? {
        cx.node.add(Fact::Listed { from, tools });
    }
    let lists = sources.into_iter().map(|source| {
        let tools = stored(source).unwrap_or_default();
        (source, tools.to_vec())
    });
    definition.with_listed(lists).map(Some)
}

/// Asks one source for its list of tools. Returns the list, with the pattern of the source's tool names.
async fn ask(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
    source: &SharedSource,
) -> Result<(Box<str>, Arc<[RemoteTool]>), Error> {
    let names = source.names();
    let what = || format!("agent `{}`: the tools `{names}`", definition.name);
    // The call that makes the future may panic, as well as the future itself.
    let work = cx.clone().enter(async { source.list(cx).await });
    let tools = guarded_while(work).await.map_err(panics::error(what()))?;
    let tools = tools.map_err(|error| error.context(what()))?;
    Ok((names.as_str().into(), tools.into()))
}
