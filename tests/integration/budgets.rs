//! Budgets and costs.

mod bounds;
mod costs;
