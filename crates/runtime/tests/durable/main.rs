//! Durable runs: started, waited for, decided, cancelled, held, undone, and what a stranger in the database cannot do.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod aisvs;
mod approvals;
mod audit;
mod background;
mod contents;
mod conversations;
mod edits;
mod fences;
mod gates;
mod gone;
mod killed_conversations;
mod manipulations;
mod models;
mod modes;
mod nested;
mod office;
mod people_speak;
mod projections;
mod repeats;
mod requests;
mod runs;
mod slow;
mod stores;
mod tampering;
mod texts;
mod undo;
