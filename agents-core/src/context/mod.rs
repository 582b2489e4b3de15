//! Place of running code in a run: a handle to that place, the state behind one lock, and the task that stores facts.
//!
//! ```text
//! RunContext ─► Node (a place) ─► Machine ── fold ──► State
//!     └───────► Root (settings)      └───── Writer ─► Journal
//! ```

mod activity;
mod audience;
mod bound;
mod conversation;
mod cx;
mod ending;
mod evidence;
mod executor;
mod machine;
mod nested;
mod node;
mod past;
mod repair;
mod root;
mod settings;
mod steps;
mod stop;
mod stopwatch;
mod stored_run;
mod terms;
mod within;
mod wording;
mod writer;

pub use cx::RunContext;

pub(crate) use activity::{Activity, until_waiting};
pub(crate) use audience::{Audience, Subscriber};
pub(crate) use bound::PassedLimit;
pub(crate) use conversation::{Earlier, Exchange, Handover, Talk, Unfinished};
pub(crate) use ending::Ending;
pub(crate) use executor::Executor;
pub(crate) use node::Node;
pub(crate) use past::Past;
pub(crate) use repair::RepairScope;
pub(crate) use root::{Origin, Root};
pub(crate) use settings::Settings;
pub(crate) use stopwatch::Stopwatch;
pub(crate) use stored_run::GivenJournal;
pub(crate) use within::{Within, is_aside};
pub(crate) use writer::{Going, Writer};
