//! Escalations: where they come to, and what becomes of them.

mod bounds;
mod handed_up;
mod own;
mod races;
mod team;
mod trees;
