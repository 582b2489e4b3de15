//! Agents: their organisation charts, and where their escalations went.

use super::escalations::{Climb, climbs};
use crate::{
    failure::Failure,
    room::{Room, Visitor},
};
use agents_core::{journal::Recorded, run::Timestamp, team::Chart};
use agents_store::RunFilter;
use serde::Serialize;
use std::cmp::Reverse;

/// Largest number of an agent's last runs in which escalations are looked for.
const RUNS: u32 = 20;
/// Maximum number of journal entries that are read for escalations. The newest run is read even if it has more.
const ENTRIES: u64 = 5_000;

#[derive(Serialize)]
pub(crate) struct Agents {
    pub(crate) agents: Vec<Agent>,
}

/// Agent as its workers describe it.
#[derive(Serialize)]
pub(crate) struct Agent {
    pub(crate) name: String,
    /// Forms in which workers have the agent, the newest first: one, or several while versions are at work side by side.
    pub(crate) forms: Vec<Form>,
    /// Number of earlier forms of the agent that the store has.
    pub(crate) earlier: usize,
}

/// Form in which one version of the workers has an agent.
#[derive(Serialize)]
pub(crate) struct Form {
    /// Organisation chart of the agent; missing if the worker's version does not report it.
    pub(crate) chart: Option<Chart>,
    pub(crate) first_seen_at: Timestamp,
    pub(crate) seen_at: Timestamp,
}

/// Agent with the escalations of its last runs.
#[derive(Serialize)]
pub(crate) struct Whole {
    #[serde(flatten)]
    pub(crate) agent: Agent,
    /// Escalations of the last runs, the newest run first; missing for a visitor who may not see the contents of runs.
    pub(crate) escalations: Option<Vec<Climbed>>,
    /// Number of the agent's last runs in which escalations were looked for.
    pub(crate) runs_read: usize,
}

/// Escalation, with the run in which it was raised.
#[derive(Serialize)]
pub(crate) struct Climbed {
    pub(crate) run_id: String,
    #[serde(flatten)]
    pub(crate) climb: Climb,
}

/// Returns the agents that workers have or have had, in the order of their names.
pub(crate) async fn agents(room: &Room) -> Result<Agents, Failure> {
    let mut agents: Vec<Agent> = Vec::new();
    for known in room.client.agents().await? {
        if agents.last().is_none_or(|last| last.name != known.name) {
            agents.push(Agent {
                name: known.name,
                forms: Vec::new(),
                earlier: 0,
            });
        }
        let Some(agent) = agents.last_mut() else {
            continue;
        };
        match known.is_current {
            true => agent.forms.push(Form {
                chart: known.manifest.chart,
                first_seen_at: known.first_seen_at,
                seen_at: known.seen_at,
            }),
            false => agent.earlier += 1,
        }
    }
    for agent in &mut agents {
        let forms = &mut agent.forms;
        forms.sort_by_key(|form| Reverse(form.first_seen_at));
    }
    Ok(Agents { agents })
}

/// Returns one agent, with the escalations of its last runs.
pub(crate) async fn agent(room: &Room, visitor: &Visitor, name: &str) -> Result<Whole, Failure> {
    let mut found = agents(room).await?.agents.into_iter();
    let agent = found.find(|agent| agent.name == name);
    let agent = agent.ok_or_else(Failure::not_found)?;
    let (escalations, runs_read) = match room.client.may_see_contents(&visitor.principal) {
        true => {
            let (found, runs_read) = escalations(room, visitor, name).await?;
            (Some(found), runs_read)
        }
        false => (None, 0),
    };
    Ok(Whole {
        agent,
        escalations,
        runs_read,
    })
}

/// Returns the escalations of the last runs of an agent, with the number of runs that were read for them. Journals of long runs
/// are long: the number of runs depends on their length.
async fn escalations(
    room: &Room,
    visitor: &Visitor,
    name: &str,
) -> Result<(Vec<Climbed>, usize), Failure> {
    let filter = RunFilter {
        agent: Some(name.to_owned()),
        tenant: visitor.tenant(),
        limit: RUNS,
        ..RunFilter::default()
    };
    let (mut found, mut runs_read, mut entries) = (Vec::new(), 0, 0);
    for run in room.client.runs(&filter).await? {
        entries += run.last_seq;
        if runs_read > 0 && entries > ENTRIES {
            break;
        }
        runs_read += 1;
        // A run whose journal cannot be read says so on its own page.
        let recorded = room.client.recorded(&run.id).await.ok().flatten();
        let events = recorded.as_ref().map(Recorded::events);
        let climbs = climbs(&events.unwrap_or_default());
        found.extend(climbs.into_iter().map(|climb| Climbed {
            run_id: run.id.clone(),
            climb,
        }));
    }
    Ok((found, runs_read))
}
