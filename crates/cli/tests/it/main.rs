//! The command line on real stores, as its users run it.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod auditing;
mod check_deploy;
mod deciding;
mod desk;
mod events;
mod fields;
mod help;
mod listing;
mod modes;
#[allow(unreachable_pub, reason = "a package has it as its library")]
mod refunds;
mod steering;
mod stores;
mod test_from;
mod tutorials;
