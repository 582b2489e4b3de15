//! Calls: their results, their order and their ends.

mod abandoned;
mod context;
mod done_before;
mod ended_by_the_run;
mod in_doubt_functions;
mod parallel;
mod repeated;
mod results;
mod undos;
mod unknown_effects;
mod unknown_tools;
