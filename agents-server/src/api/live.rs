//! The audit trail as server-sent events.

use crate::{
    failure::Failure,
    live::Listening,
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
use std::{collections::VecDeque, convert::Infallible};

/// Event of a reader who has missed some: what is shown has to be loaded again.
const MISSED: &str = "missed";

struct Reader {
    client: Client,
    listening: Listening,
    tenant: Option<String>,
    /// Events that were stored before the reader came back.
    earlier: VecDeque<AuditRecord>,
    /// Number of the last event that was sent.
    last: u64,
}

pub(crate) async fn events(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
) -> Response {
    let last = headers.get("last-event-id");
    let last = last.and_then(|last| last.to_str().ok()?.parse().ok());
    let reader = async {
        let listening = room.live.listen().await?;
        let mut reader = Reader {
            client: room.client.clone(),
            listening,
            tenant: visitor.principal.tenant().map(str::to_owned),
            earlier: VecDeque::new(),
            last: 0,
        };
        if let Some(last) = last {
            reader.catch_up(last).await?;
        }
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
    /// Reads the events behind the last one that the reader has got.
    async fn catch_up(&mut self, last: u64) -> Result<(), Failure> {
        let mut filter = AuditFilter {
            tenant: self.tenant.clone(),
            after: last,
            ..AuditFilter::default()
        };
        loop {
            let page = self.client.audit().events(&filter).await?;
            let Some(end) = page.last() else {
                return Ok(());
            };
            filter.after = end.number;
            self.earlier.extend(page);
        }
    }

    async fn next(&mut self) -> Event {
        loop {
            let event = match self.earlier.pop_front() {
                Some(event) => event,
                None => match self.listening.next().await {
                    Some(event) => event,
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
