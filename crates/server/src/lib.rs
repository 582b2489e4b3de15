//! The control room: people see runs, models and costs in a browser, decide about calls, and steer them.
//!
//! [`serve`] opens the control room on this machine for whoever starts it. [`router`] is the same for an application that
//! knows its users: its [`Authenticator`] says who sends a request. Both show the runs of a store, so the workers of
//! the runs may be in other processes.
//!
//! ```no_run
//! use agents_runtime::{Runtime, SqliteStore};
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Runtime::client(SqliteStore::open("agents.db").await?);
//! // Prints an address that signs in whoever opens it, as the operator.
//! agents_server::serve(&client, "127.0.0.1:7878").await?;
//! # Ok(())
//! # }
//! ```
//!
//! In an application of your own:
//!
//! ```
//! use agents_runtime::{Principal, Runtime, SqliteStore};
//! use axum::{Router, http::request::Parts};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let client = Runtime::client(SqliteStore::in_memory().await?);
//! /// Reads who is signed in: a proxy in front of this server has set the header, and lets nobody else set it.
//! fn signed_in(request: &Parts) -> Option<Principal> {
//!     let user = request.headers.get("x-user")?.to_str().ok()?;
//!     Some(Principal::new(user, "acme"))
//! }
//!
//! let app: Router = Router::new().nest("/agents", agents_server::router(&client, signed_in));
//! # Ok(())
//! # }
//! ```
//!
//! Every page works without JavaScript. With it, approvals, runs and chats are live: they are loaded anew when the
//! audit trail tells of something, whichever process has stored it. Models are loaded every 5 seconds, dead letters
//! every 10, and costs every 30. What pages show is also [JSON](#json).
//!
//! # JSON
//!
//! | request | answer |
//! |-|-|
//! | `GET /api/approvals` | requests, the oldest first; `?status=`, which is `pending` by default, `?run=`, `?after=ID`, `?limit=` |
//! | `GET /api/approvals/ID` | the request, with its exact arguments |
//! | `POST /api/approvals/ID` | decides: `{"decision": "approve" \| "deny" \| "revise", "note", "arguments"}`, or `{"decision": "answer", "answer"}` for a question |
//! | `GET /api/runs` | runs, the newest first; `?status=`, `?agent=`, `?before=ID`, `?limit=` |
//! | `GET /api/runs/ID` | the run; its answer and its events, too, for whoever may see the exact arguments of all calls |
//! | `POST /api/runs/ID` | steers: `{"action": "pause" \| "release" \| "cancel"}`, or `{"action": "say", "text"}` with an instruction to the agent |
//! | `GET /api/runs/ID/text` | server-sent events: the answer as it is written, if the run is streamed |
//! | `GET /api/runs/ID/executions` | what ran, with its state |
//! | `POST /api/runs/ID/executions/ID` | settles a doubt, or asks for an undo: `{"action": "took_effect" \| "had_no_effect" \| "undo", "note"}` |
//! | `GET /api/runs/ID/calls/ID` | a call with its receipt, and a program that makes it again |
//! | `POST /api/runs/ID/calls/ID` | varies a run that is over: `{"output"}` or `{"error": {"code", "message"}}` of the call, and `"key"`; a run tells the outcome |
//! | `GET /api/runs/ID/pinned` | the call that a pinned handle refers to; `?tool=`, `?name=`, `?strategy=`, `?call_id=`, `?on_missing=` |
//! | `GET /api/letters` | dead letters, those that were published last first; `?handler_name=`, `?min_minutes=`, `?max_minutes=`, `?before=NEXT`, `?limit=` |
//! | `GET /api/letters/ID` | a dead letter with its failures, and its contents for whoever may see them; a `/` in the id is `%2F` |
//! | `POST /api/letters/ID` | replays it: `{"reason"}` |
//! | `GET /api/failures` | clusters of failures, the most severe first; `?severity=`, `?status=` |
//! | `GET /api/failures/ID` | a cluster with its failures |
//! | `POST /api/failures/ID` | triages it: `{"status": "dismissed" \| "escalate" \| "wait", "notes"}` |
//! | `GET /api/tools` | the tools of the agents; `?q=`, `?category=`, `?effects=`, `?status=`, `?agent=` |
//! | `POST /api/tools/AGENT/TOOL/VERSION` | calls a tool, by a run of its own: `{"arguments", "tenant", "key"}` |
//! | `GET /api/agents` | the agents of the workers, with their organisation charts |
//! | `GET /api/agents/AGENT` | one agent, and the escalations of its last runs |
//! | `GET /api/conversations/ID` | what was said, and its newest runs; `?before=ID` |
//! | `POST /api/conversations/ID` | sends a message to an [agent that may be spoken to](ControlRoom::agent): `{"agent", "input", "key"}` |
//! | `GET /api/conversations/ID/events` | server-sent events: what becomes of the messages, behind `Last-Event-ID` or `?after=ID` |
//! | `POST /api/ui/AGENT/chat` | sends the last message of a chat of Vercel's AI SDK, and streams the answer |
//! | `GET /api/ui/AGENT/chat/ID` | what was said, as messages of that library |
//! | `GET /api/ui/AGENT/chat/ID/stream` | the answer under way, from its beginning; 204 if there is none |
//! | `POST /api/ui/AGENT/ag-ui` | sends the last message of a run of AG-UI, and streams the answer |
//! | `GET /api/models` | purposes with their active profiles, circuits and budgets |
//! | `GET /api/models/PURPOSE` | versions and changes of its profiles |
//! | `POST /api/models/PURPOSE` | activates a version again: `{"action": "roll_back", "version", "replaces"}` |
//! | `GET /api/costs` | sums of the log of usage; `?by=day\|agent\|purpose\|model\|tenant\|run`, `?since=DAY`, `?purpose=`, `?tenant=`, `?limit=` |
//! | `GET /api/costs.csv` | the same with all rows, as CSV |
//! | `GET /api/audit` | events of the audit trail; `?run=`, `?kind=`, `?by=`, `?tool=`, `?after=NUMBER`, `?limit=` |
//! | `GET /api/audit.jsonl` | all such events, each as a line of JSON |
//! | `GET /api/live` | server-sent events: the audit trail from now on, or behind `Last-Event-ID` or `?after=NUMBER` |
//! | `GET /api/openapi.json` | the description of all of this |
//!
//! A conversation is one of the principal's tenant; the operator names the tenant with `?tenant=`. It can be read and
//! written in by whoever began it, and by whoever may see the contents of runs. Its events are:
//!
//! | event | data |
//! |-|-|
//! | `message` | the run of a message whose turn it is |
//! | `piece` | `{"run_id", "text"}`: a piece of the answer, as it is written |
//! | `reset` | `{"run_id"}`: the text begins anew |
//! | `asked`, `decided` | the request for approval, with its arguments in short |
//! | `held` | `{"run_id", "held"}`: the run cannot go on |
//! | `end` | `{"run_id", "end", "answer", "partial", "error"}` |
//!
//! The events end after ten minutes. A reader comes back with `Last-Event-ID`, as an `EventSource` does. Then it is
//! checked again whether the reader may read them.
//!
//! An error is `{"error": {"kind", "message"}}`:
//!
//! | status | reason |
//! |-|-|
//! | 400, 415 | the body is no JSON, or does not say that it is |
//! | 401 | nobody is signed in |
//! | 403 | the principal may not do this |
//! | 404 | there is no such thing for this principal, or no control plane in this control room |
//! | 409 | the request was decided before, the letter was replayed before, the run is over, or is not over yet, or another profile was activated meanwhile |
//! | 410 | the keys of the run are gone |
//! | 413 | the body is too long |
//! | 422 | a field does not fit |
//! | 500 | the server has failed |
//! | 503 | the store cannot be reached, or it cannot be found out who sends the request |
//!
//! # Security
//!
//! - A form holds a token that only servers with the keyring of the store can make, for this principal. A request that
//!   changes something and comes from another site is refused by its `Origin` and `Sec-Fetch-Site`, too.
//! - Pages allow no scripts but their own, and cannot be framed. Text of models and tools is escaped; control characters
//!   and marks that reverse the direction of text are shown by their numbers.
//! - [`serve`] listens on this machine alone, and refuses requests that name another host.
//! - The runtime's [`Roles`](agents_runtime::Roles) say what a principal may see and do. What a principal has done is
//!   in the audit trail.

mod api;
mod auth;
mod control_room;
mod failure;
mod guard;
mod inert;
mod live;
mod pages;
mod posted;
mod query;
mod room;
mod router;
mod serve;
mod shown;
mod steering;
mod ui;
mod wording;

pub use auth::Authenticator;
pub use control_room::ControlRoom;
pub use router::router;
pub use serve::{ServeError, Server, serve};

#[cfg(doctest)]
mod pages_of_the_book {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../../book/src/control-room.md")]
    struct TheControlRoom;
    #[doc = include_str!("../../../book/src/chat-frontends.md")]
    struct ChatFrontEnds;
}
