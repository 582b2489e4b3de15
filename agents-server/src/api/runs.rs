//! Runs.

use super::{answer, body, query};
use crate::{
    failure::Failure,
    room::{Room, Visitor},
    steering,
};
use agents_core::run::{Event, Timestamp};
use agents_store::{HeldReason, Run, RunFilter};
use axum::{
    Extension, Json,
    extract::{
        Path, Query, State,
        rejection::{JsonRejection, QueryRejection},
    },
    response::Response,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Deserialize)]
pub(crate) struct Choice {
    status: Option<String>,
    agent: Option<String>,
    before: Option<String>,
    limit: Option<u32>,
}

#[derive(Serialize)]
struct Page {
    runs: Vec<Summary>,
    /// Id before which the next page begins; `None` for the last page.
    next: Option<String>,
}

/// Stored run, as a list shows it.
#[derive(Serialize)]
struct Summary {
    id: String,
    tenant_id: String,
    key: Option<String>,
    agent: String,
    conversation: Option<String>,
    started_by: Option<String>,
    labels: BTreeMap<String, String>,
    status: &'static str,
    end: Option<&'static str>,
    held: Option<HeldReason>,
    wake_at: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    run: Summary,
    /// Events so far; missing if the visitor may not see the contents of runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Vec<Event>>,
}

#[derive(Deserialize)]
pub(crate) struct Steer {
    action: String,
}

impl From<Run> for Summary {
    fn from(run: Run) -> Self {
        Summary {
            id: run.id,
            tenant_id: run.tenant,
            key: run.key,
            agent: run.agent,
            conversation: run.conversation,
            started_by: run.started_by,
            labels: run.labels,
            status: run.status.as_str(),
            end: run.end.map(agents_store::End::as_str),
            held: run.held,
            wake_at: run.wake_at,
            created_at: run.created_at,
            updated_at: run.updated_at,
        }
    }
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    choice: Result<Query<Choice>, QueryRejection>,
) -> Response {
    let page = async {
        let choice = query(choice)?;
        let filter = RunFilter {
            status: steering::state(choice.status.as_deref())?,
            agent: choice.agent,
            before: choice.before,
            limit: choice.limit.unwrap_or(0),
            tenant: visitor.tenant(),
            ..RunFilter::default()
        };
        let found = room.client.runs(&filter).await?;
        let is_full = found.len() >= steering::size(filter.limit);
        let next = found.last().filter(|_| is_full).map(|last| last.id.clone());
        let runs = found.into_iter().map(Summary::from).collect();
        Ok::<_, Failure>(Page { runs, next })
    };
    answer(page.await)
}

pub(crate) async fn one(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    let whole = async {
        let run = room.client.stored(&id, &visitor.principal).await?;
        let events = match room.client.may_see_contents(&visitor.principal) {
            true => {
                let recorded = room.client.recorded(&id).await?;
                Some(recorded.map_or_else(Vec::new, |recorded| recorded.events()))
            }
            false => None,
        };
        Ok::<_, Failure>(Whole {
            run: run.into(),
            events,
        })
    };
    answer(whole.await)
}

pub(crate) async fn steer(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    given: Result<Json<Steer>, JsonRejection>,
) -> Response {
    let steered = async {
        let action = body(given)?.action;
        steering::steer(&room, &visitor, &id, &action).await?;
        let run = room.client.stored(&id, &visitor.principal).await?;
        Ok::<_, Failure>(Summary::from(run))
    };
    answer(steered.await)
}
