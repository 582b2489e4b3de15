//! `agents events`: what happens in a run.

use super::seconds;
use crate::{args::EventsArgs, failure::Failure, out::Out, session::Session};
use agents_core::{
    journal::Follower,
    run::{Approval, Event, EventKind, Timestamp},
};
use futures_util::StreamExt;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Names of the fields in the data of an event that are printed without `--exact`. Their values are neither arguments
/// nor texts of the run.
const NAMES: [&str; 9] = [
    "tool", "model", "skill", "to", "fixer", "turn", "attempt", "ok", "by",
];

/// Event without the arguments and texts of the run: the form in which the event is printed without `--exact`.
#[derive(Serialize)]
struct Bare {
    seq: u64,
    at: Timestamp,
    agent: Arc<str>,
    depth: u32,
    event: String,
    #[serde(skip_serializing_if = "Map::is_empty")]
    data: Map<String, Value>,
}

impl Bare {
    fn of(event: &Event) -> Result<Self, Failure> {
        let unreadable = |error: serde_json::Error| Failure::failed(error.to_string());
        let kind = serde_json::to_value(&event.kind).map_err(unreadable)?;
        let mut data = match &kind["data"] {
            Value::Object(data) => data.clone(),
            _ => Map::new(),
        };
        data.retain(|name, value| {
            NAMES.contains(&&**name) && !(value.is_object() || value.is_array())
        });
        match &event.kind {
            EventKind::CallEnded(receipt) => {
                data.insert("tool".to_owned(), receipt.name.clone().into());
                data.insert("ok".to_owned(), receipt.is_ok().into());
            }
            EventKind::ApprovalRequested(request) => {
                data.insert("tool".to_owned(), request.tool_name.clone().into());
            }
            EventKind::ApprovalDecided { approval, .. } => {
                data.insert("decision".to_owned(), word_for(approval).into());
            }
            _ => {}
        }
        Ok(Bare {
            seq: event.seq,
            at: event.at,
            agent: event.agent.clone(),
            depth: event.depth,
            event: kind["event"].as_str().unwrap_or_default().to_owned(),
            data,
        })
    }
}

fn word_for(approval: &Approval) -> &'static str {
    match approval {
        Approval::Approve => "approved",
        Approval::ApproveWith { .. } => "approved with other arguments",
        Approval::Answer { .. } => "answered",
        Approval::Deny { .. } => "denied",
        Approval::Expired { .. } => "expired",
        Approval::Revise { .. } => "revision requested",
    }
}

pub(crate) async fn events(
    session: &Session,
    asked: &EventsArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    session.run(&asked.run).await?;
    let client = session.with_keys()?;
    if !asked.no_follow {
        let mut events = client.events(&asked.run).after(asked.after).stream();
        while let Some(event) = events.next().await {
            print(&event?, asked, out)?;
        }
        return Ok(());
    }
    let Some(recorded) = client.recorded(&asked.run).await? else {
        return Ok(());
    };
    let mut follower = Follower::new();
    for entry in recorded.entries() {
        let followed = follower.on(entry);
        let followed = followed.map_err(|error| Failure::failed(error.to_string()))?;
        for event in followed.events {
            if event.seq > asked.after {
                print(&event, asked, out)?;
            }
        }
    }
    Ok(())
}

fn print(event: &Event, asked: &EventsArgs, out: &mut Out) -> Result<(), Failure> {
    if asked.exact {
        return out.object(event);
    }
    let bare = Bare::of(event)?;
    if out.is_json() {
        return out.object(&bare);
    }
    let data = bare.data.iter().map(|(name, value)| match value {
        Value::String(text) => format!(" {name}={text}"),
        value => format!(" {name}={value}"),
    });
    out.line(&format!(
        "{:>5} {} {} {}{}",
        bare.seq,
        seconds(bare.at),
        bare.agent,
        bare.event,
        data.collect::<String>()
    ))
}
