//! Manifests: what the code of a runtime can go on with, compared with the runs of a store.

use crate::{Client, Runtime, RuntimeError, error::RuntimeErrorKind};
use agents_core::{
    Effects,
    agent::Profile,
    journal::Recorded,
    run::Timestamp,
    team::Chart,
    tool::{Pattern, ToolDescription},
};
use agents_store::{NewManifest, Run, RunFilter, RunStatus};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Number of the manifest's format that this version writes.
const FORMAT: u32 = 1;

/// Time after which a worker stores the descriptions of its agents again.
const SAID_EVERY: Duration = Duration::from_secs(60);
/// Time by which a description of an agent may be older than its newest one, and is still current.
const SILENT: Duration = Duration::from_secs(3 * 60);

/// Description of the agents of a runtime, as far as stored runs depend on them.
///
/// A deployment compares its manifest with the store before it begins: [`Client::misfits`], or
/// `agents check-deploy manifest.json`.
///
/// ```
/// use agents::prelude::*;
/// use agents_runtime::{Manifest, Runtime, SqliteStore};
///
/// /// You greet guests.
/// #[agent]
/// async fn greeter(name: String) -> String;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::open(SqliteStore::in_memory().await?);
/// runtime.agent(Greeter);
/// let json = serde_json::to_string_pretty(&runtime.manifest())?;
///
/// // Elsewhere:
/// let manifest = Manifest::read(&json)?;
/// assert_eq!(manifest.agents["greeter"].answer.as_deref(), Some("text"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manifest {
    /// Number of the manifest's format.
    pub agents_manifest: u32,
    /// Agents of the process, each by its name.
    pub agents: BTreeMap<String, AgentManifest>,
    /// Names of the policies that apply to all runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<String>,
    /// Names of the models that runs find by name; `None` in a manifest of a version that did not compare them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<Vec<String>>,
}

/// Description of one agent: its tools, the type of its answer, and its organisation chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentManifest {
    /// Tools of the agent, and of all agents that it has: the parts of a composite, and the delegates of a team. A
    /// delegate is itself among the tools.
    pub tools: Vec<ToolManifest>,
    /// Digest of the type of the agent's answer; `None` if no model gives the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Organisation chart of the agent; `None` in a manifest of a version without charts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chart: Option<Chart>,
}

/// Description of one tool, as an agent has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolManifest {
    /// Name by which the agent's model knows the tool, or the pattern of the names that a source of tools will list.
    pub name: String,
    /// Version of the tool; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Is `true` if the tool changes the outside world.
    pub writes: bool,
    /// Description of the tool; `None` if it is not known, as with tools that a source will list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Box<ToolDescription>>,
    /// Is `true` if the tool is a delegate: an agent that another one calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_delegate: bool,
}

/// Description of an agent, as processes have stored it. An agent whose code has changed has several descriptions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownAgent {
    /// Name of the agent, as runs name it.
    pub name: String,
    /// Description of the agent, as the process stored it.
    pub manifest: AgentManifest,
    /// Time at which a process has stored this description for the first time.
    pub first_seen_at: Timestamp,
    /// Time at which a process last stored this description. A worker stores it when it begins, and every minute.
    pub seen_at: Timestamp,
    /// Is `true` for the description that was seen last, and for each that was seen in the three minutes before it: workers of
    /// several versions are then at work side by side.
    pub is_current: bool,
}

/// Run that no agent of a manifest can go on with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Misfit {
    /// Id of the run that cannot go on.
    pub run_id: String,
    /// Name of the agent of the run.
    pub agent_name: String,
    /// Tenant that the run works for.
    pub tenant_id: String,
    /// Reasons why no agent of the manifest can go on with the run, each a sentence without a full stop.
    pub reasons: Vec<String>,
}

impl Manifest {
    /// Reads a manifest from JSON.
    ///
    /// # Errors
    /// When the text is no manifest, or has another format.
    pub fn read(json: &str) -> Result<Self, RuntimeError> {
        let manifest: Manifest =
            serde_json::from_str(json).map_err(|error| crate::wording::no_manifest(&error))?;
        match manifest.agents_manifest {
            FORMAT => Ok(manifest),
            other => Err(crate::wording::manifest_of_other_format(other, FORMAT)),
        }
    }

    /// Returns the reasons why none of the agents can go on with a run, whose journal is `recorded` if it has begun.
    fn refuses(&self, run: &Run, recorded: Option<&Recorded>) -> Vec<String> {
        let name = &run.agent;
        let Some(agent) = self.agents.get(name) else {
            return vec![crate::wording::no_agent(name)];
        };
        let Some(recorded) = recorded else {
            return Vec::new();
        };
        let mut reasons = agent.refuses(recorded);
        let mut given: Vec<_> = self.policies.iter().collect();
        for policy in recorded.policies() {
            match given.iter().position(|given| *given == policy) {
                Some(at) => _ = given.swap_remove(at),
                None => reasons.push(crate::wording::no_policy(policy)),
            }
        }
        if let Some(models) = &self.models {
            let given = recorded.given_models().into_iter();
            let missing = given.filter(|name| !models.iter().any(|own| own == name));
            reasons.extend(missing.map(crate::wording::model_missing));
        }
        reasons
    }
}

impl AgentManifest {
    pub(crate) fn of(name: &str, profile: &Profile) -> Self {
        let tools = profile.known_tools().into_iter();
        let tools = tools.map(|tool| ToolManifest {
            name: tool.name,
            version: tool.version,
            writes: tool.effects == Effects::Writes,
            description: tool.description,
            is_delegate: tool.is_delegate,
        });
        AgentManifest {
            tools: tools.collect(),
            answer: profile.answer_digest().map(str::to_owned),
            chart: Some(profile.chart(name)),
        }
    }

    fn refuses(&self, recorded: &Recorded) -> Vec<String> {
        let mut reasons = Vec::new();
        let answer = recorded.answer_digest();
        if answer.is_some() && answer != self.answer.as_deref() {
            reasons.push(crate::wording::other_answer());
        }
        for call in recorded.open_calls() {
            let tool = &call.tool;
            // Tools that a source lists are known by the pattern of their names.
            let is_meant = |own: &&ToolManifest| Pattern::from(&own.name).matches(tool);
            let there: Vec<_> = self.tools.iter().filter(is_meant).collect();
            let fits = |own: &&ToolManifest| own.version.is_none() || own.version == call.version;
            let reason = match (&call.version, &there[..]) {
                (None, []) => continue,
                (Some(_), []) if !call.is_declared => continue,
                (Some(version), []) => crate::wording::open_call_without_tool(tool, version),
                (_, there) if there.iter().any(fits) => continue,
                (was, there) => {
                    let now = there.iter().filter_map(|own| own.version.as_deref());
                    let now = now.collect::<Vec<_>>().join(", ");
                    crate::wording::open_call_of_other_version(tool, was.as_deref(), &now)
                }
            };
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons
    }
}

impl Runtime {
    /// Stores the descriptions of this process's agents when the process begins, whenever an agent is registered, and
    /// every minute.
    pub(crate) async fn announce(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let registered = self.shared.registered.notified();
            let again_in = match self.put_manifests().await {
                Ok(()) => SAID_EVERY,
                Err(error) => {
                    tracing::warn!(%error, "the descriptions of agents cannot be stored");
                    Duration::from_secs(5)
                }
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(again_in) => {}
                () = registered => {}
            }
        }
    }

    async fn put_manifests(&self) -> Result<(), RuntimeError> {
        let described = self.shared.manifests().into_iter();
        let manifests = described.map(|(agent, manifest)| {
            let contents = serde_json::to_vec(&manifest).map_err(RuntimeError::unreadable)?;
            Ok(NewManifest { agent, contents })
        });
        let manifests = manifests.collect::<Result<Vec<_>, RuntimeError>>()?;
        Ok(self.client.store().await?.put_manifests(&manifests).await?)
    }

    /// Returns the manifest of the agents that are registered so far.
    ///
    /// An agent that is made for the scope of each run is made for the empty scope here.
    pub fn manifest(&self) -> Manifest {
        let policies = self.settings.policies.iter();
        let models = self
            .settings
            .known_models
            .iter()
            .chain(&self.settings.model);
        let models: BTreeSet<_> = models.map(|model| model.id().to_owned()).collect();
        Manifest {
            agents_manifest: FORMAT,
            agents: self.shared.manifests(),
            policies: policies
                .filter_map(|policy| policy.name().map(str::to_owned))
                .collect(),
            models: Some(models.into_iter().collect()),
        }
    }
}

impl Client {
    /// Returns the descriptions of the agents that workers of this store have or had, in the order of the agents'
    /// names. Each worker stores the descriptions of its agents when it begins, and again as long as it works.
    /// Descriptions of one agent follow each other, the one that was seen last first. Several of them may be
    /// [current](KnownAgent::is_current), as while a new version is tried beside the one before it. Descriptions that
    /// this version cannot read are left out.
    ///
    /// ```
    /// use agents::prelude::*;
    /// use agents_runtime::{Runtime, SqliteStore};
    /// use std::time::Duration;
    /// use tokio_util::sync::CancellationToken;
    ///
    /// /// You greet guests.
    /// #[agent]
    /// async fn greeter(name: String) -> String;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::open(SqliteStore::in_memory().await?);
    /// runtime.agent(Greeter);
    /// tokio::spawn(runtime.clone().work(CancellationToken::new()));
    ///
    /// // In any process with the store:
    /// while runtime.as_client().agents().await?.is_empty() {
    ///     tokio::time::sleep(Duration::from_millis(10)).await;
    /// }
    /// let agents = runtime.as_client().agents().await?;
    /// assert_eq!(agents[0].name, "greeter");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the store fails.
    pub async fn agents(&self) -> Result<Vec<KnownAgent>, RuntimeError> {
        let stored = self.bare_store().manifests().await?;
        let mut agents: Vec<KnownAgent> = Vec::new();
        // Agent of the rows that are read, with the time at which it was seen last.
        let mut last = (String::new(), Timestamp::default());
        for one in stored {
            if last.0 != one.agent {
                last = (one.agent.clone(), one.seen_at);
            }
            // A later version of this crate may have written it.
            let Ok(manifest) = serde_json::from_slice(&one.contents) else {
                tracing::warn!(agent = %one.agent, "the description of an agent cannot be read by this version");
                continue;
            };
            agents.push(KnownAgent {
                is_current: last.1.since(one.seen_at) < SILENT,
                name: one.agent,
                manifest,
                first_seen_at: one.first_seen_at,
                seen_at: one.seen_at,
            });
        }
        Ok(agents)
    }

    /// Returns the runs that are not over and that no agent of the manifest can go on with: each of them would be held, or
    /// would wait for a worker that has its agent. A run whose contents cannot be read is one of them.
    ///
    /// A call of an agent that runs in the body of a tool, or of a repair agent, is compared only if the manifest has a
    /// tool of that name. A model that only an `on_escalation` names counts as missing, although the `on_escalation`
    /// may name it again: name the model with [`Runtime::known_model`] as well.
    ///
    /// ```
    /// use agents::prelude::*;
    /// use agents_runtime::{Runtime, SqliteStore};
    ///
    /// /// You greet guests.
    /// #[agent]
    /// async fn greeter(name: String) -> String;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let store = SqliteStore::in_memory().await?;
    /// let today = Runtime::open(store.clone());
    /// today.agent(Greeter).run("Ada").start().await?;
    ///
    /// // The next version has no greeter any more, so a deployment would leave a run behind.
    /// let tomorrow = Runtime::open(store.clone());
    /// let misfits = Runtime::client(store).misfits(&tomorrow.manifest()).await?;
    /// assert_eq!(misfits[0].agent_name, "greeter");
    /// println!("{:?}", misfits[0].reasons);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the store fails.
    pub async fn misfits(&self, manifest: &Manifest) -> Result<Vec<Misfit>, RuntimeError> {
        let mut misfits = Vec::new();
        for status in [
            RunStatus::Ready,
            RunStatus::Running,
            RunStatus::Waiting,
            RunStatus::Held,
        ] {
            let mut filter = RunFilter {
                status: Some(status),
                ..RunFilter::default()
            };
            loop {
                let page = self.runs(&filter).await?;
                let Some(last) = page.last() else { break };
                filter.before = Some(last.id.clone());
                for run in page {
                    let reasons = match self.recorded_of(&run).await {
                        Ok(recorded) => manifest.refuses(&run, recorded.as_ref()),
                        Err(error) if matches!(error.kind(), RuntimeErrorKind::Store(_)) => {
                            return Err(error);
                        }
                        Err(error) => vec![error.to_string()],
                    };
                    if !reasons.is_empty() {
                        misfits.push(Misfit {
                            run_id: run.id,
                            agent_name: run.agent,
                            tenant_id: run.tenant,
                            reasons,
                        });
                    }
                }
            }
        }
        // A run may have come to another state meanwhile, and been seen twice.
        misfits.sort_by(|a, b| a.run_id.cmp(&b.run_id));
        misfits.dedup_by(|a, b| a.run_id == b.run_id);
        Ok(misfits)
    }
}
