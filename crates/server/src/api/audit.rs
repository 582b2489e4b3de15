//! The audit trail, as JSON and as lines of JSON.

use super::answer;
use crate::{
    failure::Failure,
    query::Query,
    room::{Room, Visitor},
    shown::audit::Search,
};
use agents_runtime::{AuditRecord, Client, RuntimeError};
use agents_store::AuditFilter;
use axum::{
    Extension,
    body::Body,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use futures_util::stream;
use serde::{Deserialize, Serialize};

/// Number of events of the audit trail that an export reads at once.
const READ: u32 = 500;

#[derive(Deserialize)]
pub(crate) struct Part {
    #[serde(default)]
    after: u64,
    #[serde(default)]
    limit: u32,
}

#[derive(Serialize)]
struct Page {
    events: Vec<AuditRecord>,
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(search): Query<Search>,
    Query(part): Query<Part>,
) -> Response {
    let page = async {
        let filter = AuditFilter {
            after: part.after,
            limit: part.limit,
            ..search.filter(&visitor)?
        };
        let events = room.client.audit().events(&filter).await?;
        Ok::<_, Failure>(Page { events })
    };
    answer(page.await)
}

/// Returns all events of the audit trail that the query finds, each as a line of JSON, the oldest first. They are read
/// from the store while they are sent.
pub(crate) async fn export(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(search): Query<Search>,
) -> Response {
    let filter = match search.filter(&visitor) {
        Ok(filter) => AuditFilter {
            limit: READ,
            ..filter
        },
        Err(failure) => return failure.json(),
    };
    let client = room.client.clone();
    let pages = stream::try_unfold(filter, move |filter| part(client.clone(), filter));
    let headers = [
        (header::CONTENT_TYPE, "application/jsonl; charset=utf-8"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"audit.jsonl\"",
        ),
    ];
    (headers, Body::from_stream(pages)).into_response()
}

/// Returns the next lines of an export of the audit trail, and the filter of those that follow; `None` at the end.
async fn part(
    client: Client,
    mut filter: AuditFilter,
) -> Result<Option<(Vec<u8>, AuditFilter)>, RuntimeError> {
    let audit = client.audit();
    let mut lines = Vec::new();
    // The last event of the lines, after which the next part begins.
    let events = audit.events(&filter).await?;
    let Some(last) = events.last() else {
        return Ok(None);
    };
    filter.after = last.number;
    for event in &events {
        if serde_json::to_writer(&mut lines, event).is_ok() {
            lines.push(b'\n');
        }
    }
    Ok(Some((lines, filter)))
}
