//! Escalations: the agents that they reach, and their settlements.

mod adverse;
mod bounds;
mod handed_up;
mod once;
mod outliving;
pub(crate) mod own;
mod passed_on;
mod races;
mod refused;
mod table;
pub(crate) mod team;
mod thrown;
mod trees;
