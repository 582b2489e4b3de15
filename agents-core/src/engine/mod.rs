//! Actions that move a run, a file for each.
//!
//! ```text
//! drive ─► model ─► together ─► call: admit ─► read ─► approve ─► execute ─► keep ─► receipt
//!   ▲         │                        repair ◄── a failure, the one way back
//!   └─────────┴─► answer
//! ```
//!
//! [`drive`](drive()) is the loop of one agent, [`calls`] carries out the calls of one reply. What comes next is decided by
//! [`Frame`](crate::run::Frame), [`Call`](crate::run::Call) and [`FinalAnswer`](crate::run::FinalAnswer), which are data.

mod admit;
pub(crate) mod answer;
mod approve;
mod call;
mod drive;
mod execute;
mod keep;
pub(crate) mod model;
pub(crate) mod read;
pub(crate) mod receipt;
pub(crate) mod repair;
mod together;

pub(crate) use call::calls;
pub(crate) use drive::drive;
