use super::{DynTool, Pattern, SharedSource, Tool, ToolSpec, source::IntoTools, wording};
use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, OnceLock},
};

/// A tool that several agents may share: its types are hidden, and it is behind an [`Arc`].
///
/// ```
/// # use agents_core as agents;
/// use agents::{AgentBuilder, tool::{IntoTool, SharedTool}};
/// # use agents::{Effects, tool::FnTool};
/// # let schema = serde_json::json!({"type": "object"});
/// # let search = FnTool::new("search", "Searches.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("found") });
///
/// // One tool, with one pool of connections, for two agents.
/// let search: SharedTool = search.into_tool();
/// let scout = AgentBuilder::<String, String>::new("scout").tool(search.clone()).build();
/// let clerk = AgentBuilder::<String, String>::new("clerk").tool(search).build();
/// ```
pub type SharedTool = Arc<dyn DynTool>;

/// Conversion into a shared tool, for the items of `tools = [..]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "expected a tool here",
    note = "a tool is the CamelCase type that `#[tool]` or `tool!` leaves beside the function: for `async fn read_file(..)` write `ReadFile`, or `ReadFile {{ .. }}` if it has `#[inject]` parameters",
    note = "several at once are spread: `tools = [ReadFile, ..more]`"
)]
pub trait IntoTool {
    /// Converts the value into a tool that several agents may share.
    fn into_tool(self) -> SharedTool;
}

#[diagnostic::do_not_recommend]
impl<T: Tool> IntoTool for T {
    fn into_tool(self) -> SharedTool {
        Arc::new(self)
    }
}

#[diagnostic::do_not_recommend]
impl IntoTool for SharedTool {
    fn into_tool(self) -> SharedTool {
        self
    }
}

/// An ordered set of the tools an agent may call, and of the sources that list further tools when the agent begins its
/// work.
///
/// Except for [`is_empty`](Self::is_empty), the methods tell of the tools that the set has now, not of those that a
/// [source](super::ToolSource) will list.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::{Effects, FnTool, ToolSet};
/// use serde_json::json;
///
/// let schema = json!({"type": "object"});
/// let clock = FnTool::new("read_clock", "Tells the time.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("noon") });
/// let tools = ToolSet::new().with(clock);
///
/// assert_eq!(tools.len(), 1);
/// assert!(tools.get("read_clock").is_some());
/// assert_eq!(tools.suggest("read_clok"), Some("read_clock"));
/// ```
#[derive(Clone, Default)]
pub struct ToolSet {
    tools: Vec<SharedTool>,
    sources: Vec<SharedSource>,
    /// Names of the tools, and patterns of the sources, that are offered once they are loaded.
    deferred: BTreeSet<Box<str>>,
    /// Names of the deferred tools that are loaded, in the order of loading.
    loaded: Vec<Box<str>>,
    /// Declarations of the offered tools as one JSON array, made on first use; clones of the set share them.
    declarations: Arc<OnceLock<String>>,
}

impl ToolSet {
    /// Creates a set that has no tools yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool to the set.
    #[must_use]
    pub fn with(mut self, tool: impl IntoTool) -> Self {
        self.push(tool.into_tool());
        self
    }

    /// Adds several tools: those of a value that can be iterated over, such as a `Vec`, those of another set, or those
    /// of a [source](super::ToolSource) that is given by reference.
    #[must_use]
    pub fn with_all<Kind>(mut self, tools: impl IntoTools<Kind>) -> Self {
        tools.add_to(&mut self);
        self
    }

    pub(super) fn push(&mut self, tool: SharedTool) {
        self.tools.push(tool);
        self.declarations = Arc::default();
    }

    pub(super) fn push_source(&mut self, source: SharedSource) {
        self.sources.push(source);
    }

    pub(super) fn append(&mut self, other: ToolSet) {
        self.tools.extend(other.tools);
        self.sources.extend(other.sources);
        self.deferred.extend(other.deferred);
        self.declarations = Arc::default();
    }

    /// Returns the sources that list further tools.
    pub(crate) fn sources(&self) -> &[SharedSource] {
        &self.sources
    }

    /// Returns the set without its sources, once they have been asked.
    pub(crate) fn without_sources(mut self) -> Self {
        self.sources.clear();
        self
    }

    /// Returns the tools that the set has now, without the tools that sources may list later.
    pub(crate) fn known(&self) -> impl Iterator<Item = &SharedTool> {
        self.tools.iter()
    }

    /// Returns `true` if a source may list a tool of this name.
    pub(crate) fn may_list(&self, name: &str) -> bool {
        let mut sources = self.sources.iter();
        sources.any(|source| source.names().matches(name))
    }

    /// Returns the set in which each tool is replaced by the result of `change`.
    pub(crate) fn mapped(self, change: impl FnMut(SharedTool) -> SharedTool) -> ToolSet {
        ToolSet {
            tools: self.tools.into_iter().map(change).collect(),
            declarations: Arc::default(),
            ..self
        }
    }

    /// Returns `true` if the name of any tool matches the pattern, or a source may list such a tool.
    pub(crate) fn fits_any(&self, pattern: &Pattern) -> bool {
        let mut sources = self.sources.iter();
        self.specs().any(|spec| pattern.matches(&spec.name))
            || sources.any(|source| source.names().overlaps(pattern))
    }

    /// Returns the set of the tools for which `keep` returns `true`. Sources stay.
    pub(crate) fn only(&self, keep: impl Fn(&ToolSpec) -> bool) -> ToolSet {
        let kept = self.tools.iter().filter(|tool| keep(tool.spec()));
        ToolSet {
            tools: kept.cloned().collect(),
            sources: self.sources.clone(),
            deferred: self.deferred.clone(),
            loaded: self.loaded.clone(),
            declarations: Arc::default(),
        }
    }

    /// Returns the set with all of its tools and sources deferred.
    pub(super) fn all_deferred(mut self) -> Self {
        let names = self.tools.iter().map(|tool| Box::from(&*tool.spec().name));
        let sources = self
            .sources
            .iter()
            .map(|source| Box::from(source.names().as_str()));
        self.deferred.extend(names.chain(sources));
        self
    }

    /// Returns `true` if the tool of this name, or the source with this pattern, is deferred.
    pub(crate) fn is_deferred(&self, name: &str) -> bool {
        self.deferred.contains(name)
    }

    /// Returns `true` if tools of the set, or tools that are not in it any more, were deferred.
    pub(crate) fn defers_any(&self) -> bool {
        !self.deferred.is_empty()
    }

    /// Returns `true` if the set has a deferred tool, or a deferred source.
    pub(crate) fn defers(&self) -> bool {
        let mut sources = self.sources.iter();
        self.later().next().is_some()
            || sources.any(|source| self.is_deferred(source.names().as_str()))
    }

    /// Returns the deferred tools, loaded or not.
    pub(super) fn later(&self) -> impl Iterator<Item = &SharedTool> {
        let tools = self.tools.iter();
        tools.filter(|tool| self.is_deferred(&tool.spec().name))
    }

    /// Returns the set with `tool` at the place of the tool that `is_old` is true for, or at the end.
    pub(super) fn with_in_place_of(
        mut self,
        is_old: impl Fn(&SharedTool) -> bool,
        tool: SharedTool,
    ) -> Self {
        match self.tools.iter().position(is_old) {
            Some(at) => self.tools[at] = tool,
            None => self.tools.push(tool),
        }
        self.declarations = Arc::default();
        self
    }

    /// Returns the set without the tools that `is_left_out` is true for.
    pub(super) fn without(mut self, is_left_out: impl Fn(&SharedTool) -> bool) -> Self {
        self.tools.retain(|tool| !is_left_out(tool));
        self.declarations = Arc::default();
        self
    }

    /// Returns the set with these of its deferred tools offered, in this order, behind all others.
    pub(super) fn offering(mut self, loaded: Vec<Box<str>>) -> Self {
        self.loaded = loaded;
        self.declarations = Arc::default();
        self
    }

    /// Returns `true` if there are neither tools nor sources of tools.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.sources.is_empty()
    }

    /// Returns the number of tools that the set has now, without the tools that sources may list later.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Returns the tool that models call by this name, blocked or not; `None` if the set has no such tool.
    pub fn get(&self, name: &str) -> Option<&SharedTool> {
        self.tools.iter().find(|tool| tool.spec().name == name)
    }

    /// Returns the specifications of the tools, blocked ones included.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().map(|tool| tool.spec())
    }

    /// Returns the specifications of the tools that a model may call: all but the blocked ones.
    fn callable(&self) -> impl Iterator<Item = &ToolSpec> {
        self.specs().filter(|spec| spec.status.blocked().is_none())
    }

    /// Returns the specifications of the tools that a model is offered: all but the blocked ones, and of the deferred
    /// ones those that are loaded. Loaded tools come last, in the order of loading.
    pub(crate) fn offered(&self) -> impl Iterator<Item = &ToolSpec> {
        let is_loaded = |name: &str| self.callable().find(move |spec| spec.name == name);
        self.callable()
            .filter(|spec| !self.is_deferred(&spec.name))
            .chain(self.loaded.iter().filter_map(move |name| is_loaded(name)))
    }

    /// Returns the declarations of all offered tools as one JSON array, serialized once.
    pub(crate) fn declarations(&self) -> &str {
        self.declarations.get_or_init(|| {
            let all: Vec<&str> = self.offered().map(ToolSpec::declaration).collect();
            format!("[{}]", all.join(","))
        })
    }

    /// Returns the name of a tool that `name` was probably meant to be, or `None` if none is similar. Blocked tools are
    /// never meant; deferred tools may be.
    pub fn suggest(&self, name: &str) -> Option<&str> {
        nearest(name, self.callable().map(|spec| &*spec.name))
    }

    /// Checks that no two tools, and no two sources, have the same name: neither a model nor a stored run could tell
    /// them apart.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        let mut names = self.sources.iter().map(|source| source.names().to_string());
        if let Some(names) = names.find(|names| !seen.insert(names.clone())) {
            return Err(wording::source_twice(&names));
        }
        let mut seen = BTreeSet::new();
        let twice: Vec<_> = self
            .specs()
            .map(|s| &*s.name)
            .filter(|name| !seen.insert(*name))
            .collect();
        if twice.is_empty() {
            return Ok(());
        }
        Err(wording::tool_twice(&twice.join("`, `")))
    }
}

/// Returns the known name that a misspelt `name` was probably meant to be; `None` if none is similar.
pub(crate) fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let wanted = name.to_lowercase();
    known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(&wanted, &known.to_lowercase()), known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.specs().map(|spec| spec.name.to_string());
        let sources = self.sources.iter().map(|source| source.names().to_string());
        f.debug_list().entries(names.chain(sources)).finish()
    }
}
