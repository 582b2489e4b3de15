//! Conversations that one agent hands to another.

mod chats;
mod runs;
mod stored;
mod teams;
