//! From the bytes of a response to the reply of a model.

mod arguments;
mod ask;
mod decoder;
mod ends;
mod failure;
mod halves;
mod reported;
mod retry_after;

pub use arguments::arguments_text;
pub use ask::{Words, ask, get_json};
pub use decoder::{Decoder, Ending, Format, Framing, Problem, Progress, Sink};
pub use failure::{error_text, excerpt};
pub use retry_after::retry_after;
