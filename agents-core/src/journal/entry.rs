//! Stores for the facts of a run.

use super::wording;
use crate::{Json, run::Timestamp};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// Store for the facts of one run: [`Run::journal`](crate::agent::Run::journal) takes it.
///
/// A run with a journal survives the end of its process. With an empty journal, the run starts. With a journal that
/// breaks off, the run goes on from there. With the journal of a finished run, the stored outcome is returned: no model
/// is asked and no tool runs.
///
/// The intent to run a tool that writes is stored before the tool runs. If it cannot be stored, the tool does not run,
/// and the run ends.
///
/// A journal holds one run, with the runs nested in it. Its entries are numbered from 1, without a gap, and each new
/// batch begins with the number after the last entry. A journal refuses any other batch: [`Entry::follows`] checks the
/// numbers. So two runs that share a journal by mistake do not mix, and the second of them ends before it has an
/// effect.
///
/// [`MemoryJournal`] keeps the facts in memory. `agents::journal::FileJournal` writes them to a file. A journal of your
/// own stores serialised entries, and refuses those that do not follow:
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// use agents::{async_trait, journal::{Entry, Journal, JournalError}};
/// use std::sync::{Arc, Mutex};
///
/// /// Lines of JSON, as a table or a queue would have them.
/// #[derive(Clone, Default)]
/// struct Rows(Arc<Mutex<Vec<String>>>);
///
/// #[async_trait]
/// impl Journal for Rows {
///     async fn read(&self) -> Result<Vec<Entry>, JournalError> {
///         let rows = self.0.lock().unwrap();
///         let entries = rows.iter().map(|row| serde_json::from_str(row));
///         entries.collect::<Result<_, _>>().map_err(|error| JournalError::new(error.to_string()))
///     }
///
///     async fn append(&self, entries: &[Entry]) -> Result<(), JournalError> {
///         let mut rows = self.0.lock().unwrap();
///         Entry::follows(rows.len() as u64, entries)?; // entries are numbered from 1
///         let new = entries.iter().map(serde_json::to_string);
///         let new: Vec<_> = new.collect::<Result<_, _>>().map_err(|error| JournalError::new(error.to_string()))?;
///         rows.extend(new);
///         Ok(())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, handle) = ScriptedModel::new([Script::text("42")]);
/// # let agent = AgentBuilder::<String, u32>::new("oracle").model(model).build();
/// let rows = Rows::default();
/// for _ in 0..2 {
///     // The second run finds a finished journal: no model is asked.
///     assert_eq!(agent.run("?").journal(rows.clone()).await?, 42);
/// }
/// # assert_eq!(handle.count(), 1);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a journal",
    label = "expected a journal",
    note = "to store the run in a file: `agents::journal::FileJournal::open(\"run.jsonl\", key)?`; in memory: `MemoryJournal::new()`"
)]
#[async_trait]
pub trait Journal: Send + Sync + 'static {
    /// Reads all entries that are stored, in order.
    ///
    /// # Errors
    /// When the entries cannot be read, or are not as they were written.
    async fn read(&self) -> Result<Vec<Entry>, JournalError>;

    /// Stores these entries after the others: all of them, or none. When this call has succeeded, the entries are
    /// durable, and [`read`](Journal::read) returns them from then on.
    ///
    /// # Errors
    /// When the entries could not be stored, or do not [follow](Entry::follows) the last entry.
    async fn append(&self, entries: &[Entry]) -> Result<(), JournalError>;
}

#[async_trait]
impl<J: Journal + ?Sized> Journal for Arc<J> {
    async fn read(&self) -> Result<Vec<Entry>, JournalError> {
        (**self).read().await
    }

    async fn append(&self, entries: &[Entry]) -> Result<(), JournalError> {
        (**self).append(entries).await
    }
}

/// Fact of a journal, with its number, its time and its place.
///
/// The contents of a fact are internal to the run. An entry is serialised as a list of five: its number, its time in
/// milliseconds since 1970, the number of its run (0 for the outermost run), the number of its place in that run, and
/// the fact.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// use agents::journal::MemoryJournal;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, _) = ScriptedModel::new([Script::text("42")]);
/// # let agent = AgentBuilder::<String, u32>::new("oracle").model(model).build();
/// let journal = MemoryJournal::new();
/// agent.run("?").journal(journal.clone()).await?;
/// let kinds: Vec<_> = journal.entries().iter().map(|entry| entry.kind().to_owned()).collect();
/// assert_eq!(kinds, ["started", "said", "offered", "asked", "replied", "answer", "over", "finished", "worked"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Entry {
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) run: u32,
    pub(crate) place: u32,
    pub(crate) fact: Json,
}

/// Entry in its serialized form: its number, its time, its run, its place and its fact.
type Written = (u64, u64, u32, u32, Json);

impl From<Written> for Entry {
    fn from((seq, at, run, place, fact): Written) -> Self {
        Entry {
            seq,
            at: Timestamp::from_millis(at),
            run,
            place,
            fact,
        }
    }
}

impl From<Entry> for Written {
    fn from(entry: Entry) -> Self {
        let Entry {
            seq,
            at,
            run,
            place,
            fact,
        } = entry;
        (seq, at.as_millis(), run, place, fact)
    }
}

impl Entry {
    /// Returns the number of the entry in its journal, from 1.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Checks that a batch follows the entry with the number `last`, which is 0 for an empty journal. The numbers of
    /// the batch have to begin with `last + 1` and leave none out. A [`Journal`] stores no other batch.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
    /// use agents::journal::{Entry, MemoryJournal};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::text("42")]);
    /// # let agent = AgentBuilder::<String, u32>::new("oracle").model(model).build();
    /// let journal = MemoryJournal::new();
    /// agent.run("?").journal(journal.clone()).await?;
    /// let entries = journal.entries();
    /// assert!(Entry::follows(2, &entries[2..]).is_ok());
    /// assert!(Entry::follows(2, &entries[3..]).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When an entry of the batch does not have the next number.
    pub fn follows(last: u64, batch: &[Entry]) -> Result<(), JournalError> {
        let mut before = last;
        for Entry { seq, .. } in batch {
            if before.checked_add(1) != Some(*seq) {
                return Err(JournalError(wording::entry_out_of_order(*seq, before)));
            }
            before = *seq;
        }
        Ok(())
    }

    /// Returns the time at which the fact was recorded.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// Returns the name of the fact, such as `replied`. A fact about a call has a name of its own, such as `begun`; it
    /// is not named `call`.
    pub fn kind(&self) -> &str {
        let name = |text: &'_ str| -> Option<(usize, usize)> {
            let from = text.find('"')? + 1;
            Some((from, from + text[from..].find('"')?))
        };
        let text = self.fact.as_str();
        let Some((from, to)) = name(text) else {
            return "";
        };
        let kind = &text[from..to];
        if kind != "call" {
            return kind;
        }
        let Some(inner) = text.find("\"fact\":").map(|at| at + "\"fact\":".len()) else {
            return kind;
        };
        match name(&text[inner..]) {
            Some((from, to)) => &text[inner + from..inner + to],
            None => kind,
        }
    }

    /// Returns `true` if the fact belongs to the outermost run, and not to a nested run.
    pub fn is_of_the_outermost_run(&self) -> bool {
        self.run == 0
    }

    /// Returns the fact as JSON text.
    pub fn fact(&self) -> &str {
        self.fact.as_str()
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.seq, self.at, self.kind())
    }
}

/// Reason why a journal cannot be read, or why entries could not be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalError(String);

impl JournalError {
    /// Creates an error of a journal with this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        JournalError(reason.into())
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for JournalError {}

/// Journal in memory, for tests and for runs that are inspected afterwards. Clones share their entries.
#[derive(Clone, Debug, Default)]
pub struct MemoryJournal(Arc<Mutex<Vec<Entry>>>);

impl MemoryJournal {
    /// Creates an empty journal, for a run that begins.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a journal that holds these entries.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
    /// use agents::journal::MemoryJournal;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, handle) = ScriptedModel::new([Script::text("42"), Script::text("43")]);
    /// # let agent = AgentBuilder::<String, u32>::new("oracle").model(model).build();
    /// let journal = MemoryJournal::new();
    /// agent.run("?").journal(journal.clone()).await?;
    ///
    /// // As if the process had ended before the model replied: it is asked again.
    /// let cut = MemoryJournal::of(journal.entries()[..3].to_vec());
    /// assert_eq!(agent.run("?").journal(cut).await?, 43);
    /// # Ok(())
    /// # }
    /// ```
    pub fn of(entries: Vec<Entry>) -> Self {
        MemoryJournal(Arc::new(Mutex::new(entries)))
    }

    /// Returns the entries that the journal holds so far, in order.
    pub fn entries(&self) -> Vec<Entry> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn read(&self) -> Result<Vec<Entry>, JournalError> {
        Ok(self.entries())
    }

    async fn append(&self, entries: &[Entry]) -> Result<(), JournalError> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Entry::follows(all.last().map_or(0, Entry::seq), entries)?;
        all.extend_from_slice(entries);
        Ok(())
    }
}
