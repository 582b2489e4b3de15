//! Fold of a stored journal: each run in it, and its state.

use super::{After, Entry, Fact, JournalError, Projection, Started, State, wording};
use crate::secret::Masker;
use std::sync::Arc;

/// Run that was read from a journal: its number, how it started, and the state that its facts give.
pub(crate) struct Stored {
    pub(crate) run: u32,
    pub(crate) started: Started,
    pub(crate) state: State,
}

/// Position of a fact in its journal, for the code that applies the fact.
pub(crate) struct Position<'a> {
    pub(crate) entry: &'a Entry,
    /// Start of the run, for a follower.
    #[cfg_attr(not(feature = "recordings"), expect(dead_code))]
    pub(crate) started: &'a Started,
    pub(crate) projection: &'a Projection,
}

impl Position<'_> {
    /// Applies the fact to the state, and returns its consequences.
    pub(crate) fn fold(&self, state: &mut State, fact: Fact) -> After {
        state.fold(self.entry.place, fact, self.entry.at, self.projection)
    }
}

/// All runs of a journal, as the entries read so far make them.
pub(crate) struct Refold {
    masker: Arc<Masker>,
    pub(crate) runs: Vec<Stored>,
    /// Number of the last entry that was applied; 0 before the first.
    pub(crate) seq: u64,
}

impl Refold {
    pub(crate) fn new(masker: Arc<Masker>) -> Self {
        Refold {
            masker,
            runs: Vec::new(),
            seq: 0,
        }
    }

    /// Applies the next entry to the run that it belongs to. `fold` is called to apply the fact, and may look at more
    /// than the state. The error says why the entry cannot be the next one.
    pub(crate) fn on(
        &mut self,
        entry: &Entry,
        fold: impl FnOnce(&mut State, Fact, Position<'_>) -> After,
    ) -> Result<(), JournalError> {
        let nth = self.seq.saturating_add(1);
        let Entry {
            seq,
            at: _,
            run,
            place,
            fact,
        } = entry;
        if *seq != nth {
            return Err(JournalError::new(wording::entry_has_another_number(
                nth, *seq,
            )));
        }
        let fact: Fact = fact.to().map_err(|error| {
            JournalError::new(wording::entry_unreadable(nth, entry.kind(), &error))
        })?;
        let not_known = || JournalError::new(wording::entry_without_cause(nth, entry.kind()));
        let run = usize::try_from(*run).map_err(|_| not_known())?;
        if let Fact::Started(started) = &fact
            && run == self.runs.len()
        {
            started
                .check()
                .map_err(|why| JournalError::new(format!("entry {nth} (`started`): {why}")))?;
            self.runs.push(Stored {
                run: entry.run,
                started: (**started).clone(),
                state: State::of(started.place.clone(), &started.agent),
            });
        } else if matches!(fact, Fact::Started(_)) {
            return Err(not_known());
        }
        let Stored { started, state, .. } = self.runs.get_mut(run).ok_or_else(not_known)?;
        if state.places.len() <= *place as usize {
            return Err(not_known());
        }
        let projection = &Projection {
            masker: self.masker.clone(),
            max_output_bytes: started.terms.max_output_bytes,
        };
        let position = Position {
            entry,
            started,
            projection,
        };
        let is_start = matches!(fact, Fact::Started(_));
        let is_put_down = matches!(fact, Fact::PutDown);
        if fold(state, fact, position).ignored && !is_start {
            return Err(not_known());
        }
        // The runs within it were put down with it.
        let within = self.runs.iter_mut().filter(|_| is_put_down);
        within.for_each(|run| run.state.put_down = true);
        self.seq = *seq;
        Ok(())
    }
}

/// Applies all entries of a journal, and returns its last number and each run in it. `fold` is called to apply each
/// fact, and may look at more than the state.
pub(crate) fn refold(
    entries: &[Entry],
    masker: &Arc<Masker>,
    mut fold: impl FnMut(&mut State, Fact, Position<'_>) -> After,
) -> Result<(u64, Vec<Stored>), JournalError> {
    let mut folded = Refold::new(masker.clone());
    for entry in entries {
        folded.on(entry, &mut fold)?;
    }
    Ok((folded.seq, folded.runs))
}
