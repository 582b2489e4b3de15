//! The format of Chat Completions, in two pure halves: requests are encoded, and replies are decoded.

mod calls;
mod encode;
mod reasoning;
mod reply;
mod wire;

pub(crate) use encode::body;
pub use reply::ChatReply;

/// Name under which a reply keeps the reasoning that goes back to the server with the next request.
const PROVIDER: &str = "openai-chat";
