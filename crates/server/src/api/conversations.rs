//! Conversations: messages to agents, and what becomes of them, while workers anywhere do the work.

use super::{answer, body};
use crate::{
    query::Query,
    room::{Room, Visitor},
    shown::{
        conversations::{self as shown, News, Sent},
        runs::Summary,
    },
};
use axum::{
    Extension, Json,
    extract::{Path, State, rejection::JsonRejection},
    http::HeaderMap,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::TryStreamExt;
use serde::Deserialize;

/// Query of a request about a conversation, whose id is in the path.
#[derive(Deserialize)]
pub(crate) struct Choice {
    /// Tenant of the conversation, which only the operator names.
    tenant: Option<String>,
}

/// Query that chooses a page of a conversation, whose id is in the path.
#[derive(Deserialize)]
pub(crate) struct Page {
    tenant: Option<String>,
    /// Id of a run: the page has the newest of the runs that are older. `None` for the newest runs of all.
    before: Option<String>,
}

/// Query that says behind which event a reader begins, for readers that cannot send a header.
#[derive(Deserialize)]
pub(crate) struct Begin {
    tenant: Option<String>,
    after: Option<String>,
}

pub(crate) async fn one(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    Query(page): Query<Page>,
) -> Response {
    let whole = async {
        let Page { tenant, before } = page;
        let open = shown::open(&room, &visitor, &id, tenant).await?;
        shown::whole(&room, &visitor, open, before).await
    };
    answer(whole.await)
}

pub(crate) async fn send(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    Query(choice): Query<Choice>,
    given: Result<Json<Sent>, JsonRejection>,
) -> Response {
    let sent = async {
        let (tenant, sent) = (choice.tenant, body(given)?);
        let run = shown::send(&room, &visitor, &id, tenant, sent).await?;
        Ok(Summary::from(run))
    };
    answer(sent.await)
}

/// Sends what happens to the messages of a conversation, as server-sent events: `message`, `piece`, `reset`, `asked`,
/// `decided`, `held`, and `end` for each. After ten minutes the response ends, and the reader asks again.
pub(crate) async fn events(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    Query(choice): Query<Begin>,
    headers: HeaderMap,
) -> Response {
    let news = async {
        let Begin { tenant, after } = choice;
        let open = shown::open(&room, &visitor, &id, tenant).await?;
        let last = headers.get("last-event-id");
        let last = last.map(|last| last.to_str().unwrap_or_default());
        shown::follow(&room, &visitor, open, last.or(after.as_deref())).await
    };
    match news.await {
        Ok(news) => {
            // An error ends the connection, and the reader comes back with the id of the last event.
            let events = Sse::new(news.map_ok(event));
            events.keep_alive(KeepAlive::default()).into_response()
        }
        Err(failure) => failure.json(),
    }
}

fn event(news: News) -> Event {
    let event = match news.told {
        Some((kind, data)) => Event::default().event(kind).data(data.to_string()),
        None => Event::default(),
    };
    match news.id {
        Some(id) => event.id(id),
        None => event,
    }
}
