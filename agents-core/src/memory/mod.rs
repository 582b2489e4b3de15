//! Memory of agents between runs: lines of text in a [`Memory`].
//!
//! An agent with a memory has three more tools: `memory_read`, `memory_write` and `memory_search`. Each agent has
//! a separate memory in each [`Scope`], and nothing that a model says gives it access to another memory.
//!
//! A memory is for what the agent has learnt, in a few lines of its own. If a text of the model, or one of its lines,
//! mostly repeats an output that the agent has read from another tool, word for word, the whole text is refused. So is
//! a text with a word of 32 bytes or more from such an output, such as a key. The model is then told to remember in its
//! own words what the output was about. Any other text of fewer than six words is not compared. The run's secrets are
//! masked in what the model writes. Your own code may [`remember`](MemoryBank::remember) anything.
//!
//! ```
//! # use agents_core as agents;
//! use agents::{AgentBuilder, memory::MemoryBank};
//!
//! let bank = MemoryBank::new();
//! let clerk = AgentBuilder::<String, String>::new("clerk")
//!     .prompt("You are a clerk. Remember what customers prefer.")
//!     .memory(bank.clone())
//!     .build();
//! ```

mod bank;
mod tools;
mod verbatim;

pub use bank::MemoryBank;
pub(crate) use tools::tools;

use crate::tool::Scope;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::{error::Error as StdError, sync::Arc};

/// Error of a [`Memory`], for instance of the database that it stores lines in.
pub type MemoryError = Box<dyn StdError + Send + Sync>;

/// Owner of a memory: an agent by its name, together with the scope that its run works for.
///
/// ```
/// # use agents_core as agents;
/// use agents::memory::{Memory, MemoryBank, MemoryError, Owner};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), MemoryError> {
///
/// let bank = MemoryBank::new();
/// bank.write(&Owner::agent("clerk").scope("acme"), vec!["They pay late.".into()]).await?;
/// assert_eq!(bank.read(&Owner::agent("clerk").scope("acme")).await?.len(), 1);
/// assert!(bank.read(&Owner::agent("clerk").scope("globex")).await?.is_empty(), "never another's");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Owner {
    /// Name of the agent that owns the memory.
    pub agent: String,
    /// Scope that the agent works for: an organisation, and perhaps a workspace and a user of it.
    pub scope: Scope,
}

impl Owner {
    /// Creates the owner of the memory that an agent has in runs without a scope.
    pub fn agent(agent: impl Into<String>) -> Self {
        Owner {
            agent: agent.into(),
            scope: Scope::default(),
        }
    }

    /// Sets the scope (organisation, workspace and user) of this owner of a memory. An agent has a memory of its own
    /// for each scope that its runs work for.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<Scope>) -> Self {
        self.scope = scope.into();
        self
    }
}

/// Storage for what agents remember, one line of text at a time.
///
/// One value serves any number of agents at once; an implementation must never show one owner's
/// lines to another.
///
/// ```
/// # use agents_core as agents;
/// use agents::{AgentBuilder, async_trait, memory::{Memory, MemoryError, Owner}};
/// use std::{collections::HashMap, sync::Mutex};
///
/// /// Where a program would have a table with a column for the owner.
/// #[derive(Default)]
/// struct Table(Mutex<HashMap<Owner, Vec<String>>>);
///
/// #[async_trait]
/// impl Memory for Table {
///     async fn read(&self, owner: &Owner) -> Result<Vec<String>, MemoryError> {
///         Ok(self.0.lock().unwrap().get(owner).cloned().unwrap_or_default())
///     }
///     async fn write(&self, owner: &Owner, lines: Vec<String>) -> Result<(), MemoryError> {
///         self.0.lock().unwrap().entry(owner.clone()).or_default().extend(lines);
///         Ok(())
///     }
/// }
/// let clerk = AgentBuilder::<String, String>::new("clerk").memory(Table::default()).build();
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a memory",
    label = "expected a memory here",
    note = "a memory is a `MemoryBank` or any type that implements `Memory`"
)]
pub trait Memory: Send + Sync + 'static {
    /// Returns all lines of this owner's memory, oldest first; an empty list if the owner has no memory yet.
    ///
    /// # Errors
    /// When the memory cannot be reached.
    async fn read(&self, owner: &Owner) -> Result<Vec<String>, MemoryError>;

    /// Appends lines to this owner's memory. A memory of limited size drops its oldest lines to make room.
    ///
    /// # Errors
    /// When the memory cannot be reached, or refuses the lines.
    async fn write(&self, owner: &Owner, lines: Vec<String>) -> Result<(), MemoryError>;

    /// Returns the lines of this owner's memory that contain every word of `query`, also within a longer word, ignoring
    /// case, oldest first. A blank `query` finds all lines. By default, the lines that [`read`](Memory::read) returns
    /// are searched.
    ///
    /// # Errors
    /// When the memory cannot be reached.
    async fn search(&self, owner: &Owner, query: &str) -> Result<Vec<String>, MemoryError> {
        Ok(matching(self.read(owner).await?, query))
    }
}

/// Returns the lines that contain every word of `query`, also within a longer word, ignoring case; all lines if `query`
/// is blank.
fn matching(lines: Vec<String>, query: &str) -> Vec<String> {
    let query = query.to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    let fits = |line: &String| {
        let line = line.to_lowercase();
        words.iter().all(|word| line.contains(word))
    };
    lines.into_iter().filter(fits).collect()
}

#[async_trait]
impl<M: Memory + ?Sized> Memory for Arc<M> {
    async fn read(&self, owner: &Owner) -> Result<Vec<String>, MemoryError> {
        (**self).read(owner).await
    }

    async fn write(&self, owner: &Owner, lines: Vec<String>) -> Result<(), MemoryError> {
        (**self).write(owner, lines).await
    }

    async fn search(&self, owner: &Owner, query: &str) -> Result<Vec<String>, MemoryError> {
        (**self).search(owner, query).await
    }
}
