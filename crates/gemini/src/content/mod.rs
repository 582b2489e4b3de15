//! The format of `generateContent`, in two pure halves: requests are encoded, and replies are decoded.

mod arguments;
mod encode;
mod order;
mod reply;
mod wire;

pub(crate) use encode::body;
pub use reply::ContentReply;

/// Name under which a reply keeps the thoughts that go back to the server with the next request.
const PROVIDER: &str = "gemini";
