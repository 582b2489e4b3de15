//! Runs as a whole: nested runs, conversations, clocks, cancellation.

mod cancellation;
mod clocks;
mod conversations;
mod identity;
mod longer_conversations;
mod nesting;
mod prompts;
mod put_down;
mod shortened;
mod steering;
