//! The format of OpenAI's Responses, in two pure halves: requests are encoded, and replies are decoded.

mod encode;
mod pieces;
mod reply;
mod wire;

pub(crate) use encode::body;
pub use reply::ResponsesReply;

/// Name under which a reply keeps the reasoning that goes back to the server with the next request.
const PROVIDER: &str = "openai-responses";

/// Mark for the place of the text in the order of a reply's items.
const MESSAGE: &str = "message";

/// Mark for the place of a call in the order of a reply's items.
const CALL: &str = "call";
