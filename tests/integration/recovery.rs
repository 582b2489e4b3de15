//! Recovery of failed calls.

pub(crate) mod arms;
mod arms_without_macros;
mod interrupted_repairs;
mod repair_agents;
mod repair_agents_giving_up;
