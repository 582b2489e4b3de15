use super::{
    IntoTool, SharedTool, Status, ToolSet, ToolSpec, ToolStatuses, alias::under_spec, nearest,
    version::Version, wording,
};
use crate::{Error, ErrorKind};
use std::{borrow::Cow, collections::BTreeMap, fmt};

/// Collection of tools by `name@version`, from which agents pick their tools.
///
/// Several versions of one name may be registered. A second registration of the same version is refused.
///
/// ```
/// # use agents_core as agents;
/// use agents::{AgentBuilder, Effects, tool::{FnTool, Registry, ToolSpec}};
/// use serde_json::json;
///
/// # fn read(version: &'static str) -> FnTool {
/// #     let spec = ToolSpec::new("read", "Reads.", Effects::Reads, json!({"type": "object"})).version(version);
/// #     FnTool::with_spec(spec, |_, _| async { Ok::<_, std::io::Error>("text") })
/// # }
/// # fn main() -> Result<(), agents::Error> {
/// let mut registry = Registry::new().with(read("1.0.0"))?.with(read("2.0.0"))?;
/// registry.deprecate("read@1.0.0", "use read 2")?;
///
/// assert_eq!(registry.get("read")?.spec().version, "2.0.0");
/// assert_eq!(registry.get("read@1.0.0")?.spec().version, "1.0.0");
/// assert_eq!(registry.list().count(), 1);
///
/// // Both at once: a model knows them by two names, receipts by one name and two versions.
/// let agent = AgentBuilder::<String, String>::new("reader")
///     .tools(registry.pick(["read", "read@1.0.0"])?)
///     .build();
/// # let tools = registry.pick(["read", "read@1.0.0"])?;
/// # assert_eq!(tools.specs().map(|spec| &*spec.name).collect::<Vec<_>>(), ["read", "read_v1_0_0"]);
/// # Ok(())
/// # }
/// ```
///
/// A tool that is handed out keeps the status that it had at that moment. As a policy of a run, the
/// [`statuses`](Registry::statuses) of the registry also reach agents that are built already, and runs under way.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, BTreeMap<Version, SharedTool>>,
    statuses: ToolStatuses,
}

impl Registry {
    /// Creates a registry that has no tools yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool and returns the registry.
    ///
    /// # Errors
    /// When this version of the tool is registered already, or its name has an `@`.
    pub fn with(mut self, tool: impl IntoTool) -> Result<Self, Error> {
        self.register(tool)?;
        Ok(self)
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// When this version of the tool is registered already, or its name has an `@`.
    pub fn register(&mut self, tool: impl IntoTool) -> Result<(), Error> {
        let tool = tool.into_tool();
        let spec = tool.spec();
        let (name, key) = (spec.own_name().to_owned(), spec.key());
        if name.contains('@') {
            return Err(defect(wording::name_with_at(&name)));
        }
        let version = Version::new(&*spec.version);
        let versions = self.tools.entry(name).or_default();
        if versions.contains_key(&version) {
            return Err(defect(wording::registered(&key)));
        }
        versions.insert(version, tool);
        Ok(())
    }

    /// Marks a tool as deprecated, with a `note` on what to use instead.
    ///
    /// The tool runs as before, but is not [listed](Self::list). A tool that was handed out before keeps its status,
    /// unless the run has the [statuses](Self::statuses) as a policy.
    ///
    /// # Errors
    /// When there is no such `name@version`.
    pub fn deprecate(
        &mut self,
        key: &str,
        note: impl Into<Cow<'static, str>>,
    ) -> Result<(), Error> {
        self.set_status(key, Status::Deprecated { note: note.into() })
    }

    /// Blocks a tool: its calls are refused, and no model is offered the tool. A tool that was handed out before keeps
    /// its status, unless the run has the [statuses](Self::statuses) as a policy.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder, Effects, tool::{FnTool, Registry}};
    /// # use agents::{Code, testing::{Script, ScriptedModel}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let shell = FnTool::new("shell", "Runs.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("ran") });
    /// # let (model, handle) = ScriptedModel::new([Script::call("shell", "{}"), Script::text("I cannot")]);
    /// let mut registry = Registry::new().with(shell)?;
    /// registry.block("shell@1.0.0", "CVE-2026-1234")?;
    ///
    /// // An agent that lists the tool is built as before; no model is told of the tool, and no call of it runs.
    /// let agent = AgentBuilder::<String, String>::new("admin").tools(registry.pick(["shell"])?).model(model).build();
    /// let outcome = agent.run("Clean up").outcome().await?;
    /// assert!(handle.requests()[0].tools.is_empty());
    /// assert_eq!(outcome.outputs.receipts().next().unwrap().error.as_ref().unwrap().code, Code::PolicyDenied);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such `name@version`.
    pub fn block(&mut self, key: &str, reason: impl Into<Cow<'static, str>>) -> Result<(), Error> {
        let reason = reason.into();
        self.set_status(key, Status::Blocked { reason })
    }

    /// Makes a deprecated or blocked tool active again.
    ///
    /// # Errors
    /// When there is no such `name@version`.
    pub fn activate(&mut self, key: &str) -> Result<(), Error> {
        self.set_status(key, Status::Active)
    }

    fn set_status(&mut self, key: &str, status: Status) -> Result<(), Error> {
        let (name, version) = exactly(key)?;
        let found = self
            .tools
            .get_mut(name)
            .and_then(|versions| versions.get_mut(&Version::new(version)));
        let Some(tool) = found else {
            return Err(self.unknown(key));
        };
        self.statuses.set(key.to_owned().into(), status.clone());
        let mut spec = tool.spec().clone();
        spec.status = status;
        *tool = under_spec(tool.clone(), spec);
        Ok(())
    }

    /// Returns the statuses that this registry and its clones have set, as a policy for runs. A tool that is blocked
    /// later is refused in these runs at once, also to agents that were built before.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder, Code, Effects, tool::{FnTool, Registry}};
    /// # use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let shell = FnTool::new("shell", "Runs.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("ran") });
    /// # let (model, _) = ScriptedModel::new([Script::call("shell", "{}"), Script::text("I cannot")]);
    /// let mut registry = Registry::new().with(shell)?;
    /// let tools = registry.pick(["shell"])?;
    /// let admin = AgentBuilder::<String, String>::new("admin").tools(tools).model(model).build();
    ///
    /// let run = admin.run("Clean up").policy(registry.statuses());
    /// registry.block("shell@1.0.0", "CVE-2026-1234")?;
    /// let outcome = run.outcome().await?;
    /// let receipt = outcome.outputs.receipts().next().unwrap();
    /// assert_eq!(receipt.error.as_ref().unwrap().code, Code::PolicyDenied);
    /// # Ok(())
    /// # }
    /// ```
    pub fn statuses(&self) -> ToolStatuses {
        self.statuses.clone()
    }

    /// Returns the tool `name@version`, or the latest version of a bare name.
    ///
    /// A bare name stands for the latest active version. If no version is active, it stands for the latest deprecated
    /// version, and if all are blocked, for the latest of all. A deprecated tool is logged as a warning.
    ///
    /// # Errors
    /// When there is no such tool.
    pub fn get(&self, key: &str) -> Result<SharedTool, Error> {
        let found = match key.split_once('@') {
            Some((name, version)) => self
                .tools
                .get(name)
                .and_then(|versions| versions.get(&Version::new(version))),
            None => self.tools.get(key).and_then(latest),
        };
        let tool = found.ok_or_else(|| self.unknown(key))?.clone();
        if let Status::Deprecated { note } = &tool.spec().status {
            tracing::warn!(tool = tool.spec().key(), %note, "this tool is deprecated");
        }
        Ok(tool)
    }

    /// Returns several tools, by name or `name@version`, as a set for an agent.
    ///
    /// If several versions of one name are picked, the latest keeps the name. Models and an agent's arms call each
    /// other version by a name such as `read_v1_0_0`. With [`alias`](super::alias) a tool has any other name.
    ///
    /// # Errors
    /// When there is no tool for one of the keys.
    pub fn pick<'k>(&self, keys: impl IntoIterator<Item = &'k str>) -> Result<ToolSet, Error> {
        let tools: Vec<SharedTool> = keys
            .into_iter()
            .map(|key| self.get(key))
            .collect::<Result<_, _>>()?;
        let version = |tool: &SharedTool| Version::new(&*tool.spec().version);
        let is_superseded = |tool: &SharedTool| {
            let same = |other: &&SharedTool| other.spec().name == tool.spec().name;
            let mut others = tools.iter().filter(same);
            others.any(|other| version(other) > version(tool))
        };
        let named = tools.iter().map(|tool| match is_superseded(tool) {
            true => by_version(tool),
            false => tool.clone(),
        });
        Ok(ToolSet::new().with_all(named))
    }

    /// Returns the specifications of all active tools, ordered by name and version.
    pub fn list(&self) -> impl Iterator<Item = &ToolSpec> {
        self.all().filter(|spec| spec.status.is_active())
    }

    /// Returns the specifications of all active and deprecated tools, ordered by name and version.
    pub fn list_with_deprecated(&self) -> impl Iterator<Item = &ToolSpec> {
        self.all().filter(|spec| spec.status.blocked().is_none())
    }

    /// Returns the specifications of all tools, blocked ones included, ordered by name and version.
    pub fn all(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools
            .values()
            .flat_map(BTreeMap::values)
            .map(|tool| tool.spec())
    }

    fn unknown(&self, key: &str) -> Error {
        let name = key.split('@').next().unwrap_or_default();
        let why = match self.tools.get(name) {
            Some(versions) => {
                let keys: Vec<_> = versions
                    .keys()
                    .map(|version| format!("`{name}@{version}`"))
                    .collect();
                format!("there is {}", keys.join(", "))
            }
            None => match nearest(name, self.tools.keys().map(String::as_str)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "register it first".to_owned(),
            },
        };
        defect(wording::not_registered(key, &why))
    }
}

/// Returns the latest active version of a tool, else the latest deprecated one, else the latest blocked one.
fn latest(versions: &BTreeMap<Version, SharedTool>) -> Option<&SharedTool> {
    let rank = |tool: &SharedTool| match tool.spec().status {
        Status::Active => 2,
        Status::Deprecated { .. } => 1,
        Status::Blocked { .. } => 0,
    };
    // `max_by_key` returns the last of equals, which is the latest version.
    versions.values().max_by_key(|tool| rank(tool))
}

/// Returns the tool with its version in its name, `read_v1_0_0` for `read@1.0.0`, and in its description, so that
/// models can tell versions apart.
fn by_version(tool: &SharedTool) -> SharedTool {
    let spec = tool.spec();
    let version = spec
        .version
        .replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    let mut old = spec.renamed(format!("{}_v{version}", spec.name).into());
    old.description = format!("{} (Version {}.)", spec.description, spec.version).into();
    under_spec(tool.clone(), old)
}

fn exactly(key: &str) -> Result<(&str, &str), Error> {
    key.split_once('@')
        .ok_or_else(|| defect(wording::no_version(key)))
}

fn defect(message: String) -> Error {
    Error::new(ErrorKind::Build, message)
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.all().map(ToolSpec::key))
            .finish()
    }
}
