//! The control room over HTTP: who may do what, what pages hold, and what a hostile page or argument does not get.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod approving;
#[path = "../../../../tests/examples/built.rs"]
mod built;
mod chat_frontends;
mod conversations;
mod deciding;
mod forms;
mod house;
mod killed_chats;
mod letters;
mod live;
mod models;
mod oidc;
mod openapi;
mod program;
mod refusing;
#[path = "../room/mod.rs"]
mod room;
mod runs;
mod showing;
mod speaking;
mod teams;
mod tools;
mod usable;
