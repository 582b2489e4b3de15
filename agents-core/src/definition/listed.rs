//! Tools that the sources of an agent have listed.

use super::{AgentDefinition, wording};
use crate::{
    Error, ErrorKind, panics,
    place::OwnTool,
    tool::{Pattern, RemoteTool, SharedSource, ToolSet, ToolSpec, deferred},
};

impl AgentDefinition<'_> {
    /// Returns the sources whose tools the agent may have. The list of its skill and its place in a team exclude the
    /// others, by the patterns of their names.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &SharedSource> {
        let sources = self.tools.sources().iter();
        sources.filter(|source| {
            let names = source.names();
            let is_meant = |listed: &Vec<Pattern>| listed.iter().any(|one| one.overlaps(&names));
            let placement = self.placement.as_ref();
            self.listed.as_ref().is_none_or(is_meant)
                && placement.is_none_or(|placement| placement.has(&OwnTool::Listed(names.clone())))
        })
    }

    /// Returns this definition with the tools that its sources have listed, as far as the agent may have them: under
    /// its policies, and limited by the list of its skill and by its place.
    ///
    /// # Errors
    /// When a source panics, when it lists a tool whose name does not match the source's pattern, or when a policy
    /// loosens a tool's own demand for approval.
    pub(crate) fn with_listed<'s>(
        &self,
        lists: impl IntoIterator<Item = (&'s SharedSource, Vec<RemoteTool>)>,
    ) -> Result<Self, Error> {
        let mut listed = ToolSet::new();
        for (source, tools) in lists {
            let names = source.names();
            let made = panics::guarded(|| {
                let tools = tools.into_iter().map(|tool| source.tool(tool));
                tools.collect::<Vec<_>>()
            });
            let made = made.map_err(panics::error(wording::source_of(&names)))?;
            // Policies, arms and grants reach these tools by names that match the pattern.
            if let Some(stray) = made.iter().find(|tool| !names.matches(&tool.spec().name)) {
                let stray = &stray.spec().name;
                return Err(Error::new(
                    ErrorKind::Build,
                    wording::stray_in_list(&names, stray),
                ));
            }
            listed = match self.tools.is_deferred(names.as_str()) {
                true => listed.with_all(deferred(made)),
                false => listed.with_all(made),
            };
        }
        let loosened = self.loosened(&listed);
        if !loosened.is_empty() {
            return Err(Error::new(ErrorKind::Build, loosened.join("; ")));
        }
        let listed = self.governed(listed).only(|spec| self.may_have(spec));
        let mut definition = self.clone();
        definition.tools = definition.tools.without_sources().with_all(listed);
        Ok(definition)
    }

    /// Returns `true` if the list of the skill and the place of the agent admit a tool of a source.
    fn may_have(&self, spec: &ToolSpec) -> bool {
        let name = &spec.name;
        let is_meant = |listed: &Vec<Pattern>| listed.iter().any(|pattern| pattern.matches(name));
        let placement = self.placement.as_ref();
        self.listed.as_ref().is_none_or(is_meant)
            && placement.is_none_or(|placement| placement.admits(name))
    }
}
