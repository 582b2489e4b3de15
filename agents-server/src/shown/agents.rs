//! Agents: their organisation charts, and where their escalations went.

use super::escalations::{Climb, climbs};
use crate::{
    failure::Failure,
    room::{Room, Visitor},
};
use agents_core::{journal::Recorded, run::Timestamp, team::Chart};
use agents_store::RunFilter;
use serde::Serialize;

/// Number of the last runs of an agent whose escalations are shown.
const RUNS: u32 = 20;

#[derive(Serialize)]
pub(crate) struct Agents {
    pub(crate) agents: Vec<Agent>,
}

/// Agent as its workers describe it.
#[derive(Serialize)]
pub(crate) struct Agent {
    pub(crate) name: String,
    /// Organisation chart; missing if the worker is of a version that does not say it.
    pub(crate) chart: Option<Chart>,
    pub(crate) first_seen_at: Timestamp,
    pub(crate) seen_at: Timestamp,
    /// Number of earlier descriptions of the agent that the store has.
    pub(crate) earlier: usize,
}

/// Agent with the escalations of its last runs.
#[derive(Serialize)]
pub(crate) struct Whole {
    #[serde(flatten)]
    pub(crate) agent: Agent,
    /// Escalations, those of the last run first; missing for whoever may not see the contents of runs.
    pub(crate) escalations: Option<Vec<Climbed>>,
}

/// Escalation of a run.
#[derive(Serialize)]
pub(crate) struct Climbed {
    pub(crate) run_id: String,
    #[serde(flatten)]
    pub(crate) climb: Climb,
}

/// Returns the agents that workers have, by their names.
pub(crate) async fn agents(room: &Room) -> Result<Agents, Failure> {
    let mut agents: Vec<Agent> = Vec::new();
    for known in room.client.agents().await? {
        match agents.last_mut().filter(|last| last.name == known.name) {
            Some(last) => last.earlier += 1,
            None => agents.push(Agent {
                name: known.name,
                chart: known.manifest.chart,
                first_seen_at: known.first_seen_at,
                seen_at: known.seen_at,
                earlier: 0,
            }),
        }
    }
    Ok(Agents { agents })
}

/// Returns one agent, with the escalations of its last runs.
pub(crate) async fn agent(room: &Room, visitor: &Visitor, name: &str) -> Result<Whole, Failure> {
    let mut found = agents(room).await?.agents.into_iter();
    let agent = found.find(|agent| agent.name == name);
    let agent = agent.ok_or_else(Failure::not_found)?;
    let escalations = match room.client.may_see_contents(&visitor.principal) {
        true => Some(escalations(room, visitor, name).await?),
        false => None,
    };
    Ok(Whole { agent, escalations })
}

async fn escalations(room: &Room, visitor: &Visitor, name: &str) -> Result<Vec<Climbed>, Failure> {
    let filter = RunFilter {
        agent: Some(name.to_owned()),
        tenant: visitor.tenant(),
        limit: RUNS,
        ..RunFilter::default()
    };
    let mut found = Vec::new();
    for run in room.client.runs(&filter).await? {
        // A run whose journal cannot be read says so on its own page.
        let recorded = room.client.recorded(&run.id).await.ok().flatten();
        let events = recorded.as_ref().map(Recorded::events);
        let climbs = climbs(&events.unwrap_or_default());
        found.extend(climbs.into_iter().map(|climb| Climbed {
            run_id: run.id.clone(),
            climb,
        }));
    }
    Ok(found)
}
