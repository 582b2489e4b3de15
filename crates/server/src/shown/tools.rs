//! Tools: what the agents of the workers can call, and whether the secrets for it are there.

use crate::{
    failure::Failure,
    room::{Room, Visitor},
    wording,
};
use agents_core::{
    run::Timestamp,
    secret::resolve,
    tool::{Category, Effects, Scope, Status, ToolDescription},
};
use agents_runtime::KnownAgent;
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use tokio::time::timeout;

/// Time within which a store of secrets has to answer. After it, nobody knows whether the secret is there.
const PATIENCE: Duration = Duration::from_secs(3);

/// Search of a visitor for tools.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Search {
    /// Part of the name or of the description of the tools.
    #[serde(default)]
    pub(crate) q: String,
    #[serde(default)]
    pub(crate) category: String,
    #[serde(default)]
    pub(crate) effects: String,
    #[serde(default)]
    pub(crate) agent: String,
    #[serde(default)]
    pub(crate) status: String,
}

#[derive(Serialize)]
pub(crate) struct Tools {
    pub(crate) tools: Vec<Tool>,
}

/// Version of a tool that agents have, or have had.
#[derive(Serialize)]
pub(crate) struct Tool {
    /// Name by which models call the tool, or the pattern of the names that a source of tools will list.
    pub(crate) name: String,
    /// Version of the tool; missing if it is not known.
    pub(crate) version: Option<String>,
    pub(crate) effects: Effects,
    /// State in a word: `active`, `deprecated`, `blocked`, or `gone` if no current agent has this version.
    pub(crate) status: &'static str,
    /// Agents that have this version now; those that had it last if it is gone.
    pub(crate) agents: Vec<String>,
    /// Time at which a worker has last said that it has the tool.
    pub(crate) seen_at: Timestamp,
    /// Other versions of the tool that the store knows of.
    pub(crate) other_versions: Vec<String>,
    pub(crate) secrets: Vec<Secret>,
    /// Description of the tool; missing if only its name is known.
    pub(crate) description: Option<Box<ToolDescription>>,
}

/// Secret that a tool looks up, and whether it is there.
#[derive(Clone, Serialize)]
pub(crate) struct Secret {
    pub(crate) name: String,
    /// State in a word: `there`, `missing`, or `not_known`. The state is not known where the control room does not look
    /// secrets up, for the operator, and if the store of secrets fails or does not answer in time.
    pub(crate) state: &'static str,
    /// Owner whose secret it is: `user`, `workspace` or `organisation`; missing unless the secret is there.
    pub(crate) scope: Option<String>,
}

/// Words for the states of a tool, by which a visitor searches.
pub(crate) const STATES: [&str; 4] = ["active", "deprecated", "blocked", "gone"];

/// Words for the categories of tools, by which a visitor searches.
pub(crate) const CATEGORIES: [&str; 5] = ["api", "code", "data", "search", "utility"];

/// Words for the effects of tools, by which a visitor searches.
pub(crate) const EFFECTS: [&str; 3] = ["none", "reads", "writes"];

impl Tool {
    /// Returns a word and a note for a tool that should not be used: it is `deprecated` or `blocked`, and why. `None`
    /// for any other tool.
    pub(crate) fn warning(&self) -> Option<(&'static str, &str)> {
        match &self.description.as_ref()?.status {
            Status::Deprecated { note } => Some(("deprecated", note)),
            Status::Blocked { reason } => Some(("blocked", reason)),
            _ => None,
        }
    }

    fn fits(&self, search: &Search) -> bool {
        let text = search.q.trim().to_lowercase();
        let about = self.description.as_ref();
        let says = |part: &str| part.to_lowercase().contains(&text);
        let is_found = text.is_empty()
            || says(&self.name)
            || about.is_some_and(|about| says(&about.description));
        let is = |wanted: &str, word: &str| wanted.is_empty() || wanted == word;
        let category = about.map_or(Category::default(), |about| about.category);
        is_found
            && is(&search.category, &word(&category))
            && is(&search.effects, &word(&self.effects))
            && (search.agent.is_empty() || self.agents.contains(&search.agent))
            && match &*search.status {
                "" => self.status != "gone",
                status => self.status == status,
            }
    }
}

/// Returns the word that JSON has for a value, such as a category.
pub(crate) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

/// Checks that the words of a search are known; the failure names the field.
fn check(search: &Search) -> Result<(), Failure> {
    for (field, given, known) in [
        ("category", &search.category, &CATEGORIES[..]),
        ("effects", &search.effects, &EFFECTS[..]),
        ("status", &search.status, &STATES[..]),
    ] {
        if !given.is_empty() && !known.contains(&&**given) {
            return Err(Failure::invalid(wording::unknown_word(field, given, known)));
        }
    }
    Ok(())
}

/// Returns the tools that the search is for, in the order of their names.
pub(crate) async fn tools(
    room: &Room,
    visitor: &Visitor,
    search: &Search,
) -> Result<Tools, Failure> {
    check(search)?;
    let mut tools = all(room.client.agents().await?);
    tools.retain(|tool| tool.fits(search));
    look_up(room, visitor, &mut tools).await;
    Ok(Tools { tools })
}

/// Returns one version of a tool of an agent, with whether its secrets are there.
pub(crate) async fn tool(
    room: &Room,
    visitor: &Visitor,
    callee: (&str, &str, &str),
) -> Result<Tool, Failure> {
    let mut tool = [known(room, callee).await?];
    look_up(room, visitor, &mut tool).await;
    let [tool] = tool;
    Ok(tool)
}

/// Returns one version of a tool of an agent, without looking its secrets up.
pub(crate) async fn known(
    room: &Room,
    (agent, name, version): (&str, &str, &str),
) -> Result<Tool, Failure> {
    let all = all(room.client.agents().await?).into_iter();
    let mut found = all.filter(|tool| {
        tool.name == name
            && tool.version.as_deref() == Some(version)
            && tool.agents.iter().any(|one| one == agent)
    });
    found.next().ok_or_else(Failure::not_found)
}

/// Returns all versions of all tools of these agents. A version that two agents have in different forms is there twice.
fn all(agents: Vec<KnownAgent>) -> Vec<Tool> {
    let mut tools: Vec<Tool> = Vec::new();
    for agent in agents {
        // Agents that others call are on the page of the teams.
        let tools_of_agent = agent.manifest.tools.into_iter();
        for one in tools_of_agent.filter(|tool| !tool.is_delegate) {
            let is_current = agent.is_current;
            let mut known = tools.iter_mut();
            let known = known.find(|tool| {
                tool.name == one.name
                    && tool.version == one.version
                    && tool.description == one.description
            });
            let status = match (
                is_current,
                one.description.as_ref().map(|about| &about.status),
            ) {
                (false, _) => "gone",
                (true, Some(Status::Deprecated { .. })) => "deprecated",
                (true, Some(Status::Blocked { .. })) => "blocked",
                (true, _) => "active",
            };
            match known {
                Some(tool) => {
                    // Agents that have it now stand for themselves.
                    if tool.status == "gone" && is_current {
                        tool.agents.clear();
                        tool.status = status;
                    }
                    if (tool.status == "gone") != is_current && !tool.agents.contains(&agent.name) {
                        tool.agents.push(agent.name.clone());
                    }
                    tool.seen_at = tool.seen_at.max(agent.seen_at);
                }
                None => tools.push(Tool {
                    effects: match &one.description {
                        Some(about) => about.effects,
                        None if one.writes => Effects::Writes,
                        None => Effects::Reads,
                    },
                    name: one.name,
                    version: one.version,
                    status,
                    agents: vec![agent.name.clone()],
                    seen_at: agent.seen_at,
                    other_versions: Vec::new(),
                    secrets: Vec::new(),
                    description: one.description,
                }),
            }
        }
    }
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for tool in &tools {
        let known = versions.entry(tool.name.clone()).or_default();
        let version = tool.version.clone().into_iter();
        known.extend(
            version
                .filter(|version| !known.contains(version))
                .collect::<Vec<_>>(),
        );
    }
    for tool in &mut tools {
        let known = versions.get(&tool.name).into_iter().flatten();
        let others = known.filter(|version| tool.version.as_ref() != Some(version));
        tool.other_versions = others.cloned().collect();
    }
    tools.sort_by(|a, b| (&a.name, &a.version, &a.agents).cmp(&(&b.name, &b.version, &b.agents)));
    tools
}

/// Looks up whether the secrets of these tools are there for the visitor, and whose they are: each name once, all side
/// by side. What cannot be looked up, or not in time, is not known. Values are not kept.
async fn look_up(room: &Room, visitor: &Visitor, tools: &mut [Tool]) {
    let names = |tool: &Tool| {
        let about = tool.description.iter();
        about
            .flat_map(|about| about.secrets.clone())
            .collect::<Vec<_>>()
    };
    let wanted: BTreeSet<String> = tools.iter().flat_map(names).collect();
    let found = wanted.into_iter().map(|name| secret(room, visitor, name));
    let found: BTreeMap<String, Secret> = join_all(found)
        .await
        .into_iter()
        .map(|secret| (secret.name.clone(), secret))
        .collect();
    for tool in tools {
        let secrets = names(tool).into_iter();
        tool.secrets = secrets
            .filter_map(|name| found.get(&name).cloned())
            .collect();
    }
}

async fn secret(room: &Room, visitor: &Visitor, name: String) -> Secret {
    let scope = visitor.tenant().map(|tenant| {
        let scope = Scope::from(tenant);
        scope.user(visitor.principal.id())
    });
    let (state, scope) = match (&room.secrets, scope) {
        (Some(secrets), Some(scope)) => {
            let asked = resolve(&**secrets, &scope, &name);
            match timeout(PATIENCE, asked).await {
                Ok(Ok(Some(secret))) => ("there", Some(secret.scope().to_string())),
                Ok(Ok(None)) => ("missing", None),
                Ok(Err(error)) => {
                    tracing::warn!(secret = name, %error, "a secret cannot be looked up");
                    ("not_known", None)
                }
                Err(_) => {
                    tracing::warn!(secret = name, "a secret is not looked up in time");
                    ("not_known", None)
                }
            }
        }
        _ => ("not_known", None),
    };
    Secret { name, state, scope }
}
