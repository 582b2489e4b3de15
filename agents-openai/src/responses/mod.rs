//! The format of OpenAI's Responses, in two pure halves: requests are encoded, and replies are decoded.

mod encode;
mod reply;
mod wire;

pub(crate) use encode::body;
pub use reply::ResponsesReply;

/// Name under which reasoning is kept that goes back to the server.
const PROVIDER: &str = "openai-responses";

/// Marks the place of the text among the items of a reply.
const MESSAGE: &str = "message";

/// Marks the place of a call among the items of a reply.
const CALL: &str = "call";
