//! Escalations: where they come to, and what becomes of them.

mod bounds;
mod own;
mod team;
mod trees;
