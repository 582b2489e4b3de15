//! The format of `generateContent`, in two pure halves: requests are encoded, and replies are decoded.

mod arguments;
mod encode;
mod order;
mod reply;
mod wire;

pub(crate) use encode::body;
pub use reply::ContentReply;

/// Name under which thoughts are kept that go back to the server.
const PROVIDER: &str = "gemini";
