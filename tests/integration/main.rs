//! Tests of runs from outside. Models are scripted, so that these tests cover everything around the model.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod answers;
mod arguments;
mod bakery;
mod behaviours;
mod budgets;
mod calls;
mod compositions;
mod escalations;
mod evals;
mod evidence;
mod failures;
mod hand_offs;
mod http;
mod journals;
mod knowledge;
mod knowledge_folders;
mod laws;
mod memory;
mod models;
mod observation;
mod peers;
mod policies;
mod receipts;
mod recovery;
mod runs;
mod secrets;
mod services;
mod skills;
mod streams;
mod teams;
mod tools;
mod world;
