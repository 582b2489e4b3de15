use super::Placement;
use crate::{
    budget::Budget,
    recovery::RepairInput,
    shared::Shared,
    tool::{Effects, Pattern, SharedTool, ToolDescription, ToolSet, ToolSpec},
};
use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

/// Static description of an agent: its tools, its skills and its bounds, known before any run.
///
/// A [`team`](crate::team) is checked and drawn from the profiles of its agents.
///
/// [`Agent::profile`](crate::Agent::profile) returns it. An agent that is written by hand and has tools declares
/// them there:
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::Profile;
/// use agents::Effects;
///
/// let profile = Profile::new().tool("read_file", Effects::Reads).skill("read", None);
/// assert_eq!(profile.tools().collect::<Vec<_>>(), ["read_file"]);
/// assert_eq!(profile.effects(), Effects::Writes);
/// ```
#[derive(Clone, Debug)]
pub struct Profile {
    pub(crate) tools: Vec<OwnTool>,
    pub(crate) skills: Vec<OwnSkill>,
    pub(crate) budget: Budget,
    /// Effects on the outside world that the agent's own code has, in addition to its tools' effects.
    pub(crate) code: Effects,
    /// Is `true` if the agent is made of other agents, which the grants of a place do not reach.
    pub(crate) is_composite: bool,
    /// Root of the team, if the agent is a team; else `None`.
    pub(crate) team: Option<Shared<Placement>>,
    /// Teams among the parts of a composite; each team has grants of its own.
    pub(crate) teams: Vec<Shared<Placement>>,
    /// Defects that keep the agent from working, each with its remedy.
    pub(crate) defects: Vec<Defect>,
    /// Is `true` if the agent brings a model of its own, which also drives the agents below it that bring none.
    pub(crate) brings_model: bool,
    /// Texts of the defects that the agent has unless a model from outside drives it.
    pub(crate) needs_model: Vec<String>,
    /// Form in which the agent gets its input as a repair agent: the text that failed, or the report.
    pub(crate) repair_input: RepairInput,
    /// Name of the input, for models that call the agent as a delegate.
    pub(crate) input_name: Cow<'static, str>,
    /// Digest of the type of the agent's answer, if a model gives the answer. Of compositions, only a chain has one.
    pub(crate) answer: Option<Arc<str>>,
    /// Names of the tools that the agent's answer may claim calls of.
    pub(crate) claims: Vec<String>,
}

/// Defect that keeps an agent from working: its text, and what would mend it.
#[derive(Clone, Debug)]
pub(crate) struct Defect {
    pub(crate) text: String,
    /// Pattern of the names of missing tools. In a team, a delegate with such a name mends the defect. `None` if the
    /// defect is not about missing tools.
    pub(crate) lacks: Option<Pattern>,
}

impl From<String> for Defect {
    fn from(text: String) -> Self {
        Defect { text, lacks: None }
    }
}

impl Defect {
    pub(crate) fn is_mended_by(&self, delegate: &str) -> bool {
        let lacks = self.lacks.as_ref();
        lacks.is_some_and(|pattern| pattern.matches(delegate))
    }
}

/// Tool in an agent's profile: the tool itself, or what is known of it before the agent runs.
#[derive(Clone)]
pub(crate) enum OwnTool {
    /// The tool itself, as the agent has it.
    Held(SharedTool),
    /// Name and effects of a tool, from the profile of an agent that was written by hand.
    Named { name: String, effects: Effects },
    /// Tools that a source will list, with names that match the pattern.
    Listed(Pattern),
}

impl OwnTool {
    pub(crate) fn name(&self) -> &str {
        match self {
            OwnTool::Held(tool) => &tool.spec().name,
            OwnTool::Named { name, .. } => name,
            OwnTool::Listed(names) => names.as_str(),
        }
    }

    /// Returns `true` if the tool's name matches the pattern, or may do so in case of a tool that a source will list.
    pub(crate) fn may_match(&self, pattern: &Pattern) -> bool {
        match self {
            OwnTool::Listed(names) => names.overlaps(pattern),
            _ => pattern.matches(self.name()),
        }
    }

    /// Returns the version of the tool; `None` if the tool itself is not known.
    fn version(&self) -> Option<&str> {
        self.tool().map(|tool| &*tool.spec().version)
    }

    pub(crate) fn effects(&self) -> Effects {
        match self {
            OwnTool::Held(tool) => tool.spec().effects,
            OwnTool::Named { effects, .. } => *effects,
            OwnTool::Listed(_) => Effects::Writes,
        }
    }

    /// Returns `true` if the agent may use the tool in a team even if no grant names it, such as one for its own
    /// memory.
    pub(crate) fn innate(&self) -> bool {
        self.tool().is_some_and(|tool| tool.spec().innate)
    }

    fn tool(&self) -> Option<&SharedTool> {
        match self {
            OwnTool::Held(tool) => Some(tool),
            OwnTool::Named { .. } | OwnTool::Listed(_) => None,
        }
    }
}

impl PartialEq for OwnTool {
    fn eq(&self, other: &Self) -> bool {
        let all = |tool: &OwnTool| (tool.effects(), tool.innate());
        self.name() == other.name() && self.version() == other.version() && all(self) == all(other)
    }
}

impl std::fmt::Debug for OwnTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnTool")
            .field("name", &self.name())
            .field("version", &self.version())
            .field("effects", &self.effects())
            .field("innate", &self.innate())
            .finish()
    }
}

impl Placement {
    /// Returns the first tool for which `is` returns `true`, at this place or below; `None` if there is none.
    fn find_tool(&self, is: &dyn Fn(&SharedTool) -> bool) -> Option<SharedTool> {
        let place = self.inner();
        let mut own = place.usable().filter_map(OwnTool::tool);
        own.find(|tool| is(tool))
            .cloned()
            .or_else(|| place.profile.find(is))
            .or_else(|| {
                let mut delegates = place.delegates.iter();
                delegates.find_map(|delegate| delegate.placement().find_tool(is))
            })
    }
}

impl Placement {
    /// Returns `true` if this place or one below it demands an approval of each call of the tool.
    fn confirms_below(&self, tool: &str) -> bool {
        let place = self.inner();
        let mut delegates = place.delegates.iter();
        place.confirms(tool)
            || place.profile.confirms(tool)
            || delegates.any(|delegate| delegate.placement().confirms_below(tool))
    }
}

/// Tool that an agent is known to have: see [`Profile::known_tools`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownTool {
    /// Name by which the agent's model knows the tool. For tools that a [source](crate::tool::ToolSource) will list, this
    /// is the pattern of their names.
    pub name: String,
    /// Version of the tool; `None` if the version is not known, as with tools that a source will list.
    pub version: Option<String>,
    /// Effects of the tool on the outside world. Tools that a source will list count as tools that write.
    pub effects: Effects,
    /// Description of the tool; `None` if the tool itself is not known.
    pub description: Option<Box<ToolDescription>>,
    /// Is `true` if the tool is a delegate: an agent that another one calls.
    pub is_delegate: bool,
}

impl From<&OwnTool> for KnownTool {
    fn from(tool: &OwnTool) -> Self {
        KnownTool {
            name: tool.name().to_owned(),
            version: tool.version().map(str::to_owned),
            effects: tool.effects(),
            description: tool.tool().map(|tool| Box::new(tool.spec().describe())),
            is_delegate: false,
        }
    }
}

impl KnownTool {
    fn delegate(spec: &ToolSpec) -> Self {
        KnownTool {
            name: spec.name.to_string(),
            version: Some(spec.version.to_string()),
            effects: spec.effects,
            description: Some(Box::new(spec.describe())),
            is_delegate: true,
        }
    }
}

impl Placement {
    /// Adds the tools at this place and below to `known`.
    fn known_tools(&self, known: &mut Vec<KnownTool>) {
        let place = self.inner();
        known.extend(place.usable().map(KnownTool::from));
        for team in &place.profile.teams {
            team.known_tools(known);
        }
        for delegate in &place.delegates {
            known.push(KnownTool::delegate(delegate.spec()));
            delegate.placement().known_tools(known);
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnSkill {
    pub(crate) name: String,
    /// Tools that the skill is limited to; `None` if it is not limited.
    pub(crate) tools: Option<Vec<String>>,
}

impl Default for Profile {
    fn default() -> Self {
        Self::new()
    }
}

impl Profile {
    /// Creates the profile of an unknown agent: no tools and no skills. Its effects count as
    /// [`Effects::Writes`](crate::Effects), because code declares none.
    pub fn new() -> Self {
        Profile {
            tools: Vec::new(),
            skills: Vec::new(),
            budget: Budget::new(),
            code: Effects::Writes,
            is_composite: false,
            team: None,
            teams: Vec::new(),
            defects: Vec::new(),
            brings_model: false,
            needs_model: Vec::new(),
            repair_input: RepairInput::Raw,
            input_name: Cow::Borrowed("input"),
            answer: None,
            claims: Vec::new(),
        }
    }

    /// Creates the profile of an agent that acts on the world only through these tools.
    pub(crate) fn driven(tools: &ToolSet, budget: &Budget) -> Self {
        let bare = Profile {
            code: Effects::None,
            budget: budget.clone(),
            ..Self::new()
        };
        let mut profile = bare.with_tools(tools.known().cloned());
        let sources = tools.sources().iter();
        let listed = sources.map(|source| OwnTool::Listed(source.names()));
        profile.tools.extend(listed);
        profile
    }

    /// Adds tools. A second tool of one name is left out here; the agent itself reports that defect.
    pub(crate) fn with_tools(mut self, tools: impl IntoIterator<Item = SharedTool>) -> Self {
        for tool in tools {
            if !self.tools.iter().any(|own| own.name() == tool.spec().name) {
                self.tools.push(OwnTool::Held(tool));
            }
        }
        self
    }

    /// Creates the profile of a composite from the profiles of its parts, the first part first. All tools of the parts
    /// are merged, but teams among the parts stay teams.
    #[cfg(feature = "compose")]
    pub(crate) fn of_parts(parts: impl IntoIterator<Item = Profile>) -> Self {
        let mut whole = Profile {
            code: Effects::None,
            is_composite: true,
            ..Self::new()
        };
        let mut parts = parts.into_iter().peekable();
        if let Some(first) = parts.peek() {
            whole.repair_input = first.repair_input;
            whole.input_name = first.input_name.clone();
        }
        for part in parts {
            whole.code = whole.code.max(part.code);
            if let Some(team) = part.team {
                if !whole.teams.iter().any(|other| other.is_same(&team)) {
                    whole.teams.push(team);
                }
                continue;
            }
            whole.teams.extend(part.teams);
            whole.defects.extend(part.defects);
            whole.needs_model.extend(part.needs_model);
            whole.claims.extend(part.claims);
            for tool in part.tools {
                if !whole.tools.contains(&tool) {
                    whole.tools.push(tool);
                }
            }
        }
        whole
    }

    /// Adds the profile of an agent that may take the place of this one, as by a hand-off.
    pub(crate) fn followed_by(mut self, next: Profile) -> Self {
        self.code = self.code.max(next.code);
        self.teams.extend(next.team.into_iter().chain(next.teams));
        self.defects.extend(next.defects);
        self.claims.extend(next.claims);
        if !self.brings_model {
            self.needs_model.extend(next.needs_model);
        }
        for tool in next.tools {
            if !self.tools.iter().any(|own| own.name() == tool.name()) {
                self.tools.push(tool);
            }
        }
        self
    }

    /// Declares a tool of the agent by its name and its effects.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>, effects: Effects) -> Self {
        self.tools.push(OwnTool::Named {
            name: name.into(),
            effects,
        });
        self
    }

    /// Declares a skill of the agent, with the names of the tools that it is limited to; `None` if it is not limited.
    #[must_use]
    pub fn skill(mut self, name: impl Into<String>, tools: Option<Vec<String>>) -> Self {
        self.skills.push(OwnSkill {
            name: name.into(),
            tools,
        });
        self
    }

    /// Sets the budget that the agent itself has, without that of its place.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Sets the name by which a model gives the agent its input, if the agent is a delegate; `input` by default. An input
    /// that is an object needs no name: its fields are the arguments.
    #[must_use]
    pub fn input_name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.input_name = name.into();
        self
    }

    /// Sets the agent's input as a [repair agent](crate::recovery::Fixer): the text alone, or the report. The default
    /// is the text, because an unknown agent counts as code.
    #[must_use]
    pub fn repair_input(mut self, input: RepairInput) -> Self {
        self.repair_input = input;
        self
    }

    /// Declares that the agent runs code of unknown effects, so that it counts as one that writes.
    pub(crate) fn with_code(mut self) -> Self {
        self.code = Effects::Writes;
        self
    }

    /// Creates the profile of a team from the place of its root.
    pub(crate) fn of_team(root: Shared<Placement>) -> Self {
        let mut profile = root.profile.clone();
        profile.tools.retain(|tool| root.has(tool));
        profile.code = root.effects();
        profile.budget = root.bounds();
        profile.team = Some(root);
        profile
    }

    /// Returns the names of the agent's tools; for a composite, the names of the tools of all its parts.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.all_tools().map(OwnTool::name)
    }

    /// Returns the agent's tools; for a composite, the tools of all its parts.
    pub(crate) fn all_tools(&self) -> impl Iterator<Item = &OwnTool> {
        let teams = self.teams.iter();
        let of_teams = teams.flat_map(|team| team.inner().usable());
        self.tools.iter().chain(of_teams)
    }

    /// Checks that the agent can work, as every run does before it begins. `has_model` says whether the run has a
    /// model for agents that bring none.
    ///
    /// # Errors
    /// When the agent, or a part of it, is put together wrongly or has no model.
    pub fn check(&self, has_model: bool) -> Result<(), crate::Error> {
        super::check::check_run(self, has_model)
    }

    /// Finds a tool by its version and its name, which may be an [`alias`](crate::tool::alias) or the tool's own. It
    /// looks in the agent and in all agents that it is known to have: the parts of a composite, and the delegates of a
    /// team. Returns `None` if none of them has it.
    pub fn find_tool(&self, name: &str, version: &str) -> Option<SharedTool> {
        let of_version = |tool: &SharedTool| tool.spec().version == version;
        self.find(&|tool| tool.spec().name == name && of_version(tool))
            .or_else(|| self.find(&|tool| tool.spec().own_name() == name && of_version(tool)))
    }

    /// Returns `true` if a place in the agent's known teams demands an approval of each call of this tool. `tool` is
    /// the name that models know.
    pub fn confirms(&self, tool: &str) -> bool {
        let mut teams = self.team.iter().chain(&self.teams);
        teams.any(|team| team.confirms_below(tool))
    }

    fn find(&self, is: &dyn Fn(&SharedTool) -> bool) -> Option<SharedTool> {
        let mut own = self.tools.iter().filter_map(OwnTool::tool);
        let mut teams = self.team.iter().chain(&self.teams);
        own.find(|tool| is(tool))
            .cloned()
            .or_else(|| teams.find_map(|team| team.find_tool(is)))
    }

    /// Returns the tools of the agent and of all agents that it is known to have: the parts of a composite, the
    /// delegates of a team, and the delegates themselves as tools. Each name and version comes once.
    pub fn known_tools(&self) -> Vec<KnownTool> {
        let mut known: Vec<_> = self.tools.iter().map(KnownTool::from).collect();
        for team in self.team.iter().chain(&self.teams) {
            team.known_tools(&mut known);
        }
        let mut seen = BTreeSet::new();
        known.retain(|tool| seen.insert((tool.name.clone(), tool.version.clone())));
        known
    }

    /// Returns a digest of the type of the agent's answer, by which a stored run notices that the type has changed;
    /// `None` if no model gives the answer, and for every composition but a chain whose last agent has a digest.
    pub fn answer_digest(&self) -> Option<&str> {
        self.answer.as_deref()
    }

    /// Returns the names of the agent's skills.
    pub fn skills(&self) -> impl Iterator<Item = &str> {
        self.skills.iter().map(|skill| &*skill.name)
    }

    /// Returns the strongest effect that the agent may have on the outside world.
    pub fn effects(&self) -> Effects {
        let tools = self.tools.iter().map(OwnTool::effects);
        tools.fold(self.code, Ord::max)
    }
}
