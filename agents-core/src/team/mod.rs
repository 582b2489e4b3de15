//! Teams: agents with delegates, and the tools that each of them may use.
//!
//! A [`Member`] is an agent with the settings of its place. [`Member::build`] makes a [`Team`], which is
//! itself an agent. The macro `structure!` writes the same as one expression.
//!
//! - **A delegate is a tool of its parent's model.** The tool has the agent's name, description and input. Code
//!   gets the delegate with [`delegate()`].
//! - **Grants restrict.** An agent has only those of its own tools that are granted; other tools do not exist for
//!   it, neither in what its model is told nor when they are called. An agent without grants has all of its own
//!   tools. An agent's grants also limit the agents below it. Memory and knowledge belong to the agent and need no
//!   grant. A skill that lists tools has only those, and only the delegates that it lists.
//! - **Confirmed tools** can be used as well, but a person has to approve every call, whatever the tool declares;
//!   see [`Run::approver`](crate::agent::Run::approver).
//! - **The settings of a place apply to its agent**, and not to agents that this agent runs in its own code.
//! - **The settings apply wherever the team is used**, also as a part of a composite that is a delegate.
//! - **All defects are found before a run**, and reported together: [`Team::check`].
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
mod lookup;
mod member;
mod placed;
mod structure;
mod wording;

pub use chart::Chart;
pub use delegate::Entrusted;
#[doc(hidden)]
pub use delegate::Form;
pub use lookup::{delegate, delegate_named};
pub use member::{IntoMember, Member};
pub use placed::Placed;
pub use structure::Team;
