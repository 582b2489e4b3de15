//! The format of the Messages API, in two pure halves: requests are encoded, and replies are decoded.

mod encode;
mod order;
mod reply;
mod wire;

pub(crate) use encode::body;
pub use reply::MessagesReply;
pub(crate) use reply::joined;

/// Name under which a reply keeps the thinking that goes back to the server with the next request.
const PROVIDER: &str = "anthropic";
