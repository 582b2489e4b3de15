//! Adapters for chat front ends: the stream protocols of others, over the conversations of this server. A request brings
//! the words of the user and nothing else: the store has what was said before, and people decide elsewhere.

pub(crate) mod ag_ui;
pub(crate) mod ai_sdk;
mod told;
mod wording;

use crate::{
    api,
    failure::Failure,
    room::{Room, Visitor},
    shown::conversations::{self, Sent},
    steering::once_of,
};
use agents_store::Run;
use axum::{
    BoxError, Json,
    extract::rejection::JsonRejection,
    http::StatusCode,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::{
    StreamExt,
    stream::{self, Stream},
};
use serde::Deserialize;
use serde_json::Value;
use std::{io, time::Duration};
use told::Told;

/// Time after which a reader has to come back. Then it is checked again whether the reader may read.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// Choice of a conversation, beside its id.
#[derive(Deserialize)]
pub(crate) struct Choice {
    /// Tenant, which only the operator chooses.
    tenant: Option<String>,
}

/// Largest number of bytes that the body of a request may have.
pub(crate) const MOST_BYTES: usize = 2 * 1024 * 1024;

/// Message of a front end, of which no more than this is read.
struct Words {
    conversation: String,
    /// Id of the message. The same message is sent once.
    message: Option<String>,
    text: String,
    /// Field of the request that has the text, for errors.
    field: String,
}

/// Returns the body of a request of a front end, read from its JSON. A body that does not fit is a failure that names
/// the field.
fn body<T>(given: Result<Json<T>, JsonRejection>) -> Result<T, Failure> {
    let read = api::body(given);
    read.map_err(|failure| match failure.status {
        StatusCode::PAYLOAD_TOO_LARGE => Failure {
            message: wording::too_large(MOST_BYTES),
            ..failure
        },
        _ => failure,
    })
}

/// Sends the words of the user to an agent, and returns the run that answers them.
async fn send(
    room: &Room,
    visitor: &Visitor,
    agent: &str,
    choice: Choice,
    words: Words,
) -> Result<Run, Failure> {
    let Words {
        conversation,
        message,
        text,
        field,
    } = words;
    if text.trim().is_empty() {
        return Err(Failure::invalid(wording::no_text(&field)));
    }
    let message = message.filter(|id| !id.is_empty());
    let key = message.map(|id| once_of("ui", &[&conversation, &id, &text]));
    let sent = Sent::text(agent, &text, key);
    conversations::send(room, visitor, &conversation, choice.tenant, sent).await
}

/// Translates news into the events of a protocol.
trait Protocol: Send + 'static {
    /// Returns the events that news mean, in their order.
    fn events(&mut self, told: Told) -> Vec<Value>;
}

/// Streams what becomes of a run, in the words of a protocol, and then `end`. An error ends the connection, and the
/// reader comes back.
fn stream_of(
    room: &Room,
    visitor: &Visitor,
    run: &Run,
    mut protocol: impl Protocol,
    end: Option<&'static str>,
) -> Response {
    let events = told::follow(room, visitor, run).flat_map(move |told| {
        let events = match told {
            Ok(told) => protocol.events(told).into_iter().map(Ok).collect(),
            Err(error) => vec![Err(BoxError::from(error))],
        };
        stream::iter(events)
    });
    let events = events.map(|event| event.map(|event| Event::default().data(event.to_string())));
    let end = end.map(|end| Ok(Event::default().data(end)));
    let events = broken_off(events.chain(stream::iter(end)));
    let events = Sse::new(events).keep_alive(KeepAlive::default());
    events.into_response()
}

/// Ends a stream with an error after ten minutes, unless it is over: a reader that comes back goes on.
fn broken_off(
    events: impl Stream<Item = Result<Event, BoxError>> + Send + 'static,
) -> impl Stream<Item = Result<Event, BoxError>> + Send {
    let events = Box::pin(events);
    let until = Box::pin(tokio::time::sleep(LONGEST));
    stream::unfold(Some((events, until)), |state| async move {
        let (mut events, mut until) = state?;
        tokio::select! {
            event = events.next() => event.map(|event| (event, Some((events, until)))),
            () = &mut until => Some((Err(io::Error::other(wording::COME_BACK).into()), None)),
        }
    })
}
