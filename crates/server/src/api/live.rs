//! The audit trail as server-sent events.

use crate::{
    failure::Failure,
    live::{Listening, PAUSE},
    query::Query,
    room::{Room, Visitor},
};
use agents_runtime::{AuditRecord, Client};
use agents_store::AuditFilter;
use axum::{
    Extension,
    extract::State,
    http::HeaderMap,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::stream;
use serde::Deserialize;
use std::{collections::VecDeque, convert::Infallible};

/// Name of the event that tells a reader that it has missed some: it has to load the page again.
const MISSED: &str = "missed";

struct Reader {
    client: Client,
    listening: Listening,
    tenant: Option<String>,
    /// Number of the last event that the reader has got, behind which events are read from the store: the reader has
    /// come back, or was too slow. `None` for a new reader, and once the store has no more of them.
    behind: Option<u64>,
    /// Events that were read from the store, and are still to be sent to the reader.
    earlier: VecDeque<AuditRecord>,
    /// Number of the last event that was sent to the reader.
    last: u64,
}

/// Query that says behind which event a reader begins, for readers that cannot send a header.
#[derive(Deserialize)]
pub(crate) struct Begin {
    after: Option<u64>,
}

pub(crate) async fn events(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(begin): Query<Begin>,
    headers: HeaderMap,
) -> Response {
    let last = headers.get("last-event-id");
    let last = last.and_then(|last| last.to_str().ok()?.parse().ok());
    let last = last.or(begin.after);
    let reader = async {
        let listening = room.live.listen().await?;
        let mut reader = Reader {
            client: room.client.clone(),
            listening,
            tenant: visitor.tenant(),
            behind: last,
            earlier: VecDeque::new(),
            last: last.unwrap_or(0),
        };
        reader.read_stored().await?;
        Ok::<_, Failure>(reader)
    };
    match reader.await {
        Ok(reader) => {
            let next = |mut reader: Reader| async move {
                let event = reader.next().await;
                Some((Ok::<_, Infallible>(event), reader))
            };
            let events = Sse::new(stream::unfold(reader, next));
            events.keep_alive(KeepAlive::default()).into_response()
        }
        Err(failure) => failure.json(),
    }
}

impl Reader {
    /// Reads a page of the events that the reader has missed from the store. Nothing is read if there are none, or if
    /// events are left to be sent.
    async fn read_stored(&mut self) -> Result<(), Failure> {
        while let Some(after) = self.behind.filter(|_| self.earlier.is_empty()) {
            let filter = AuditFilter {
                tenant: self.tenant.clone(),
                after,
                ..AuditFilter::default()
            };
            let page = self.client.audit().events(&filter).await?;
            self.behind = page.last().map(|end| end.number);
            self.earlier.extend(page);
        }
        Ok(())
    }

    async fn next(&mut self) -> Event {
        loop {
            // The store comes back, and still has the events.
            while self.read_stored().await.is_err() {
                tokio::time::sleep(PAUSE).await;
            }
            let event = match self.earlier.pop_front() {
                Some(event) => event,
                None => match self.listening.next().await {
                    Some(event) => event,
                    // The reader was too slow: the store has what it has missed.
                    None if self.last > 0 => {
                        self.behind = Some(self.last);
                        continue;
                    }
                    None => return Event::default().event(MISSED).data("{}"),
                },
            };
            let is_own = self
                .tenant
                .as_ref()
                .is_none_or(|own| *own == event.tenant_id);
            if is_own && event.number > self.last {
                self.last = event.number;
                let data = serde_json::to_string(&event).unwrap_or_default();
                let kind = event.kind.as_str();
                return Event::default()
                    .id(event.number.to_string())
                    .event(kind)
                    .data(data);
            }
        }
    }
}
