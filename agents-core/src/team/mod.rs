//! Teams: agents with delegates, and who of them may use what.
//!
//! A [`Member`] is an agent and what its place says; [`Member::build`] makes a [`Team`], which is an
//! agent again. With macros, `structure!` is the same as one expression.
//!
//! - **A delegate is a tool of its parent's model**: it goes by the agent's name and description,
//!   and takes what the agent takes. Code asks for it with [`delegate()`].
//! - **Grants narrow.** An agent has those of its own tools that are granted; a tool that is not
//!   granted does not exist for it, neither in what its model is told nor when it is called. An agent
//!   of which nothing is said has all of its own. What is granted to an agent bounds those below it,
//!   which may be granted some of it and nothing else. An agent's memory and what it knows are its own
//!   and need no grant. A skill that lists tools has those, and of the delegates those, that it lists.
//! - **Confirmed tools** can be used as well, but a person has to approve every call, whatever the
//!   tool says itself; see [`Run::approver`](crate::agent::Run::approver).
//! - **A place goes for the agent that has it** and for nobody whom that agent runs in its own code.
//! - **A team is held to that wherever it stands**, also as one of the agents of which a delegate is made.
//! - **All defects are found before anything runs**, and reported at once: [`Team::check`].
//!
//! ```text
//! project: at most 500000 tokens
//! ├─ spec_master: create_spec, search_spec, draw_uml
//! │  └─ uml_drawer: draw_uml
//! └─ code_master: write_file, compile, read_file, run_tests, confirm deploy
//!    ├─ coder: write_file, compile
//!    └─ tester: read_file, run_tests
//! ```

mod chart;
mod delegate;
mod find;
mod member;
mod placed;
mod structure;

pub use chart::Chart;
pub use delegate::Entrusted;
#[doc(hidden)]
pub use delegate::Form;
pub use find::{delegate, delegate_named};
pub use member::{IntoMember, Member};
pub use placed::Placed;
pub use structure::Team;
