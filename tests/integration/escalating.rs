//! Escalations: where they come to, and what becomes of them.

mod adverse;
mod bounds;
mod handed_up;
mod outliving;
pub(crate) mod own;
mod races;
mod refused;
mod table;
pub(crate) mod team;
mod thrown;
mod trees;
