//! What a run does, from outside. The model is scripted: these are tests of what is around it.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod answers;
mod approvals;
mod arms_by_hand;
mod asking_again;
mod at_fault;
mod bad_input;
mod behaviours;
mod blobs;
mod budgets;
mod bundles;
mod caching;
mod calls;
mod cancelling;
mod causes;
mod chatting;
mod composing;
mod context;
mod contracts;
mod costs;
mod drawn;
mod escalating;
mod events;
mod executor_laws;
mod from_elsewhere;
mod hanging;
mod http;
mod injection;
mod knowledge;
mod laws;
mod listed;
mod main_prints;
mod memory;
mod nesting;
mod panicking;
mod peers;
mod pins;
mod policies;
mod receipts;
mod recording;
mod recovery;
mod registry;
mod repair_agents;
mod repairs_under_way;
mod resuming;
mod secrets;
mod skills;
mod spans;
mod storing;
mod teams;
mod together;
mod traces;
mod visible;
mod world;
