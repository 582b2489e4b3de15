//! Runs.

use super::{answer, body};
use crate::{
    failure::Failure,
    inert,
    query::Query,
    room::{Room, Visitor},
    shown::{
        conversations,
        runs::{self as shown, Summary},
    },
    steering,
};
use agents_core::agent::TextDelta;
use agents_store::RunFilter;
use axum::{
    Extension, Json,
    extract::{Path, State, rejection::JsonRejection},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

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
    /// Id of the last run of this page: as `before`, it asks for the next page, of older runs. `None` if this page is
    /// not full, so that it is the last.
    next: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Steer {
    action: String,
    /// Instruction to the agent, for the action `say`.
    #[serde(default)]
    text: String,
}

/// Body of a request about an execution: a finding that settles its doubt, or an undo. The note goes with a finding; an
/// undo has none.
#[derive(Deserialize)]
pub(crate) struct Act {
    action: String,
    #[serde(default)]
    note: String,
}

/// Response to a request about an execution: the execution as it is now, and the run that undoes it. The run is missing
/// if the execution was undone before, or if the action was no undo.
#[derive(Serialize)]
struct Acted {
    execution: shown::Executed,
    undo_run_id: Option<String>,
}

#[derive(Serialize)]
struct Executions {
    executions: Vec<shown::Executed>,
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(choice): Query<Choice>,
) -> Response {
    let page = async {
        if let Some(before) = &choice.before {
            room.client.stored(before, &visitor.principal).await?;
        }
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
    answer(shown::whole(&room, &visitor, &id).await)
}

pub(crate) async fn steer(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    given: Result<Json<Steer>, JsonRejection>,
) -> Response {
    let steered = async {
        let Steer { action, text } = body(given)?;
        steering::steer(&room, &visitor, &id, &action, &text).await?;
        let run = room.client.stored(&id, &visitor.principal).await?;
        Ok::<_, Failure>(Summary::from(run))
    };
    answer(steered.await)
}

pub(crate) async fn executions(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    let executions = shown::executions(&room, &visitor, &id).await;
    answer(executions.map(|executions| Executions { executions }))
}

pub(crate) async fn act(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((run, id)): Path<(String, String)>,
    given: Result<Json<Act>, JsonRejection>,
) -> Response {
    let acted = async {
        let Act { action, note } = body(given)?;
        let undo_run_id = steering::act(&room, &visitor, &run, &id, &action, &note).await?;
        let execution = shown::execution(&room, &visitor, &run, &id).await?;
        Ok(Acted {
            execution,
            undo_run_id,
        })
    };
    answer(acted.await)
}

/// Sends the answer of a run as it is written, as server-sent events: `piece`, `reset`, and `end` when the run is over.
pub(crate) async fn text(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    let allowed = async {
        let run = room.client.stored(&id, &visitor.principal).await?;
        match run.conversation {
            // Whoever reads a conversation reads its answers.
            Some(conversation) => {
                let tenant = Some(run.tenant);
                let open = conversations::open(&room, &visitor, &conversation, tenant);
                open.await.map(drop)
            }
            None if room.client.may_see_contents(&visitor.principal) => Ok(()),
            None => Err(Failure::contents_are_for_others()),
        }
    };
    if let Err(failure) = allowed.await {
        return failure.json();
    }
    let event = |delta| match delta {
        TextDelta::Piece(piece) => {
            let piece = serde_json::Value::from(inert::text(&piece));
            Event::default().event("piece").data(piece.to_string())
        }
        TextDelta::Reset => Event::default().event("reset").data("{}"),
    };
    // An error ends the connection, and the reader begins anew.
    let text = room.client.events(&id).text().map_ok(event);
    let end = stream::iter([Ok(Event::default().event("end").data("{}"))]);
    let events = Sse::new(text.chain(end));
    events.keep_alive(KeepAlive::default()).into_response()
}
