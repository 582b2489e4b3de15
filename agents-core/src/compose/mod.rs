//! Composition: agents made of agents.
//!
//! | you write | input, output | what happens |
//! |-|-|-|
//! | [`a.then(b)`](crate::Agent::then) | that of `a`, that of `b` | in sequence |
//! | `(a, b, c)`, `vec![a, b]`, `[a, b]` | that of each, all outputs | in parallel; the first failure ends it |
//! | [`settled((a, b))`](settled) | that of each, all outputs as `Result`s | in parallel; a failure ends nothing |
//! | [`first_of((a, b))`](first_of) | that of each, that of each | in parallel; the first answer ends it |
//! | [`a.until(..).at_most(n)`](crate::Agent::until) | that of `a`, the value in `Done` | repeated |
//! | [`forum((a, b)).captain(c)`](forum) | the topic, that of `c` | in turn, each sees what was said before; `c` decides |
//! | [`routed(a, targets, ..)`](routed()), `branch!` | that of `a`, that of the targets | `a`, then the matching target |
//! | [`a.map(..)`](crate::Agent::map) | that of `a`, that of the function | a plain function on the output |
//!
//! ```
//! # use agents_core as agents;
//! use agents::compose::first_of;
//! use agents::agent::{AgentBuilder, ModelAgent, Skill};
//! use agents::{Agent, Error};
//!
//! // Agents that need no model, to have something to put together.
//! fn adds(name: &'static str, n: u32) -> ModelAgent<'static, u32, u32> {
//!     let body = move |x: u32| async move { Ok(x + n) };
//!     AgentBuilder::new(name).skill(Skill::native("add", "Adds.", body)).build()
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! let both = (adds("ten", 10), first_of((adds("one", 1), adds("two", 2))));
//! let all = adds("zero", 0).then(both).map(|(ten, first)| ten * first);
//! assert_eq!(all.name(), "zero > (ten, first_of(one, two))");
//! assert_eq!(all.run(5_u32).await?, 15 * 6);
//! # Ok(())
//! # }
//! ```
//!
//! # Common properties
//!
//! - **Parts are moved.** An agent that holds state can be used in one place; a second use is a move error.
//! - **A composition is one run.** The parts share the run's tokens, time, depth, cancellation and model. Their
//!   receipts belong to the run, including those of parts that were dropped. A used-up budget, a throw by a tool and a
//!   cancellation end the whole run; no part can catch them. No `settled` and no race goes on after some errors that
//!   an agent *returns*: a throw, a critical escalation, a denial, a cancellation, a failure of the journal, an agent
//!   that is put together wrongly, and a replay that differs from its recording. In a race, the agent of such a replay
//!   only loses: a recording does not hold what losers were no longer told.
//! - **Names are constants of the program.** A composite is named after its parts. The names of tuples,
//!   `Vec`s and arrays are kept for the rest of the process, once each, so do not name parts after data.
//! - **Nothing is spawned.** Parallel parts run in one task and start in the order in which they are
//!   written. A part that is no longer needed is dropped, together with everything that it was doing.
//! - **A composition can be stored and resumed.** Finished parts answer from the store, by their names and inputs. In
//!   a part that had not finished, the functions passed to [`until`](crate::Agent::until), [`map`](crate::Agent::map)
//!   and [`routed`](routed()) are called again, so they should depend on their arguments alone.

mod failed;
mod first;
mod forum;
mod map;
mod parallel;
mod routed;
mod settled;
mod then;
mod until;
mod wording;

pub use failed::Failed;
pub use first::{FirstOf, Race, RaceWith, first_of};
pub use forum::{
    Captain, Contribution, Decides, Forum, OpenForum, Participant, Participants, Transcript, forum,
};
pub use map::Map;
pub use parallel::{Parallel, ParallelWith};
pub use routed::{Arm, Routed, Targets, routed};
#[doc(hidden)]
pub use routed::{branch, go_on};
pub use settled::{Settled, settled};
pub use then::{Takes, Then};
pub use until::{IntoStep, IterationLimit, Step, Until};

use crate::{Agent, Error, ErrorKind, Severity};
use std::{
    collections::HashSet,
    sync::{Mutex, OnceLock, PoisonError},
};

/// Returns `true` if an error concerns the whole run, so that no race and no `settled` may continue after it.
fn ends_everything(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Build
        | ErrorKind::Denied
        | ErrorKind::Thrown
        | ErrorKind::Cancelled
        | ErrorKind::Journal
        | ErrorKind::Replay => true,
        ErrorKind::Escalated => error.severity() == Some(Severity::Critical),
        ErrorKind::Model
        | ErrorKind::Budget
        | ErrorKind::InvalidOutput
        | ErrorKind::InvalidInput
        | ErrorKind::Failed
        | ErrorKind::Panicked => false,
    }
}

/// Returns the words for an agent in the description of a composition: its own description, or its name if it has none.
fn said_of(agent: &impl Agent) -> String {
    match agent.description().trim().trim_end_matches('.') {
        "" => format!("`{}`", agent.name()),
        said => said.to_owned(),
    }
}

/// Keeps a composition's name for the rest of the process. [`Agent::name`] returns a reference, and a tuple, a `Vec` or
/// an array has no field to keep its name in.
///
/// Names are stable, because stored runs find their agents by them. Their number is thus that of the compositions
/// in the program, however often these run.
fn keep(name: String) -> &'static str {
    static NAMES: OnceLock<Mutex<HashSet<&'static str>>> = OnceLock::new();
    let mut names = NAMES
        .get_or_init(Mutex::default)
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    match names.get(name.as_str()) {
        Some(kept) => kept,
        None => {
            let kept: &'static str = name.leak();
            names.insert(kept);
            kept
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{wording::listed, *};

    #[test]
    fn names_are_kept_once() {
        let first = keep("(a, b)".to_owned());
        assert!(std::ptr::eq(first, keep("(a, b)".to_owned())));
        assert_ne!(first, keep("(a, c)".to_owned()));
    }

    #[test]
    fn many_of_one_name_are_counted() {
        assert_eq!(listed(&[]), "");
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "a"]), "a, a");
        assert_eq!(listed(&["a", "a", "a"]), "a; 3");
        assert_eq!(listed(&["a", "a", "b"]), "a, a, b");
    }

    #[test]
    fn what_nobody_may_overlook() {
        let ends = |kind| ends_everything(&Error::new(kind, "x"));
        assert!(ends(ErrorKind::Thrown) && ends(ErrorKind::Build) && ends(ErrorKind::Replay));
        assert!(!ends(ErrorKind::Failed) && !ends(ErrorKind::Model) && !ends(ErrorKind::Budget));
        assert!(ends_everything(&Error::escalated("x", Severity::Critical)));
        assert!(!ends_everything(&Error::escalated("x", Severity::High)));
    }
}
