//! Findings of people about calls in doubt.

use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Finding of a person about a call in doubt: whether its tool took effect.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::Finding;
///
/// let finding = Finding::took_effect().by("grace").note("The bank shows the transfer.");
/// assert!(finding.had_effect);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finding {
    /// Is `true` if the tool took effect.
    pub had_effect: bool,
    /// Name of the person who found out about the call; `None` if no name was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Reason of the finding or particulars, in words for the model; `None` if none were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Finding {
    fn new(had_effect: bool) -> Self {
        Finding {
            had_effect,
            by: None,
            note: None,
        }
    }

    /// Creates the finding that the tool took effect.
    pub fn took_effect() -> Self {
        Self::new(true)
    }

    /// Creates the finding that the tool had no effect.
    pub fn had_no_effect() -> Self {
        Self::new(false)
    }

    /// Sets the name of the person who found out about the call.
    #[must_use]
    pub fn by(mut self, name: impl Into<String>) -> Self {
        self.by = Some(name.into());
        self
    }

    /// Sets the reason of the finding or particulars, in words for the model.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// Findings of people, which reach a run while it goes on: see [`Run::findings`](crate::agent::Run::findings). Clones
/// share them.
#[derive(Clone, Debug, Default)]
pub struct Findings(Arc<Mutex<BTreeMap<String, Finding>>>);

impl Findings {
    /// Creates a list without findings.
    pub fn new() -> Self {
        Findings::default()
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Finding>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a finding about the call whose receipt has this id, in place of an earlier one about the same call.
    pub fn add(&self, call_id: impl Into<String>, finding: Finding) {
        self.all().insert(call_id.into(), finding);
    }

    /// Returns the finding about the call whose receipt has this id; `None` if nobody has found out about the call.
    pub(crate) fn of(&self, call: &str) -> Option<Finding> {
        self.all().get(call).cloned()
    }

    pub(crate) fn has(&self, call: &str) -> bool {
        self.all().contains_key(call)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all().is_empty()
    }
}
