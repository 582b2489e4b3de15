//! Actions that move a run, a file for each.
//!
//! ```text
//! drive ─► model ─► parallel ─► call: admit ─► read ─► approve ─► execute ─► offload ─► receipt
//!   ▲         │     background ──►         repair ◄── a failure, the one way back
//!   └─────────┴─► answer
//! ```
//!
//! [`drive`](drive()) is the loop of one agent, and [`calls`] carries out the calls of one reply. Calls in the
//! background go on beside the loop. The next action is decided by [`Frame`](crate::journal::Frame),
//! [`Call`](crate::journal::Call) and [`FinalAnswer`](crate::journal::FinalAnswer), which are data.

mod admit;
pub(crate) mod answer;
mod approve;
mod attach;
mod background;
mod call;
mod call_site;
pub(crate) mod climb;
mod drive;
mod execute;
mod giving_up;
mod known;
mod list;
pub(crate) mod model;
mod offload;
mod parallel;
pub(crate) mod read;
pub(crate) mod receipt;
pub(crate) mod repair;
mod repeats;
mod replay;
mod rules;
mod shorten;
mod twice;
mod wording;

pub(crate) use drive::{Driven, drive, is_part, paused};
pub(crate) use model::turn_of;
pub(crate) use parallel::calls;
