//! Escalations: the agents that they reach, and their settlements.

mod delegates;
mod hops;
pub(crate) mod own_tools;
mod parallel;
mod refused_resolutions;
mod settlements;
mod shared_limits;
mod spawned_work;
pub(crate) mod team;
mod throws;
mod trees;
mod unusual_cases;
mod verb_table;
