use super::{Memory, MemoryError, Owner};
use async_trait::async_trait;
use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Default number of lines that are kept for each agent and scope: about as many as a small model can read beside its
/// work.
const LINES: usize = 200;

/// A [`Memory`] in this process, which forgets everything when the process ends; clones share their
/// content.
///
/// ```
/// # use agents_core as agents;
/// use agents::memory::{MemoryBank, Owner};
///
/// let bank = MemoryBank::new().max_lines(2);
/// let clerk = Owner::agent("clerk");
/// bank.remember(&clerk, "ACME pays late\nBolt & Co like letters\nCyan is closed in August");
/// assert_eq!(bank.lines(&clerk), ["Bolt & Co like letters", "Cyan is closed in August"]);
/// assert!(bank.lines(&Owner::agent("accountant")).is_empty());
/// ```
#[derive(Clone)]
pub struct MemoryBank {
    max_lines: usize,
    kept: Arc<Mutex<HashMap<Owner, VecDeque<String>>>>,
}

impl MemoryBank {
    /// Creates an empty bank that keeps the last 200 lines of each agent and scope.
    pub fn new() -> Self {
        MemoryBank {
            max_lines: LINES,
            kept: Arc::default(),
        }
    }

    /// Sets how many lines are kept for each agent and scope; 200 by default. The oldest are dropped first.
    #[must_use]
    pub fn max_lines(mut self, lines: usize) -> Self {
        self.max_lines = lines;
        self
    }

    /// Returns the lines in the memory of this owner, oldest first.
    pub fn lines(&self, owner: &Owner) -> Vec<String> {
        let kept = self.kept();
        kept.get(owner)
            .map(|lines| lines.iter().cloned().collect())
            .unwrap_or_default()
    }

    /// Adds the lines of `text` to the memory of this owner, without the checks of what a model writes.
    pub fn remember(&self, owner: &Owner, text: &str) {
        self.add(owner, text.lines().map(str::to_owned));
    }

    fn add(&self, owner: &Owner, lines: impl IntoIterator<Item = String>) {
        let mut kept = self.kept();
        let all = kept.entry(owner.clone()).or_default();
        all.extend(lines);
        let too_many = all.len().saturating_sub(self.max_lines);
        all.drain(..too_many);
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<Owner, VecDeque<String>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryBank {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Memory for MemoryBank {
    async fn read(&self, owner: &Owner) -> Result<Vec<String>, MemoryError> {
        Ok(self.lines(owner))
    }

    async fn write(&self, owner: &Owner, lines: Vec<String>) -> Result<(), MemoryError> {
        self.add(owner, lines);
        Ok(())
    }
}

impl fmt::Debug for MemoryBank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBank")
            .field("max_lines", &self.max_lines)
            .field("owners", &self.kept().len())
            .finish()
    }
}
