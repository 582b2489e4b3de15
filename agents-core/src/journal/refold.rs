//! Fold of a stored journal: each run in it, and its state.

use super::{After, Entry, Fact, JournalError, Projection, Started, State};
use crate::secret::Masker;
use std::sync::Arc;

/// Stored run.
pub(crate) struct Stored {
    pub(crate) run: u32,
    pub(crate) started: Started,
    pub(crate) state: State,
}

/// Position of a fact in a journal.
pub(crate) struct Position<'a> {
    /// Index of the fact's entry.
    pub(crate) index: usize,
    pub(crate) entry: &'a Entry,
    pub(crate) projection: &'a Projection,
}

impl Position<'_> {
    /// Folds the fact into the state.
    pub(crate) fn fold(&self, state: &mut State, fact: Fact) -> After {
        state.fold(self.entry.place, fact, self.entry.at, self.projection)
    }
}

/// Folds the entries of a journal, and returns its last number and each run in it. `fold` is called to fold each fact,
/// and may look at more than the state.
pub(crate) fn refold(
    entries: &[Entry],
    masker: &Arc<Masker>,
    mut fold: impl FnMut(&mut State, Fact, Position<'_>) -> After,
) -> Result<(u64, Vec<Stored>), JournalError> {
    let mut runs: Vec<Stored> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let nth = index as u64 + 1;
        let Entry {
            seq,
            at: _,
            run,
            place,
            fact,
        } = entry;
        if *seq != nth {
            let why = format!(
                "entry {nth} has the number {seq}: entries are missing, or in another order"
            );
            return Err(JournalError::new(why));
        }
        let fact: Fact = fact.to().map_err(|error| {
            let kind = entry.kind();
            JournalError::new(format!("entry {nth} (`{kind}`) cannot be read: {error}"))
        })?;
        let not_known = || {
            let kind = entry.kind();
            let why = format!("entry {nth} (`{kind}`) does not follow from those before it");
            JournalError::new(why)
        };
        match (fact, usize::try_from(*run).ok()) {
            (Fact::Started(started), Some(run)) if run == runs.len() => {
                started
                    .check()
                    .map_err(|why| JournalError::new(format!("entry {nth} (`started`): {why}")))?;
                let mut state = State::of(started.place.clone(), &started.agent);
                let fact = Fact::Started(started.clone());
                let projection = &projection_of(masker, &started);
                let position = Position {
                    index,
                    entry,
                    projection,
                };
                fold(&mut state, fact, position);
                runs.push(Stored {
                    run: entry.run,
                    started: *started,
                    state,
                });
            }
            (fact, Some(run)) if run < runs.len() => {
                let Stored { started, state, .. } = &mut runs[run];
                if state.places.len() <= *place as usize {
                    return Err(not_known());
                }
                let projection = &projection_of(masker, started);
                let position = Position {
                    index,
                    entry,
                    projection,
                };
                let is_put_down = matches!(fact, Fact::PutDown);
                if fold(state, fact, position).ignored {
                    return Err(not_known());
                }
                // The runs within it were put down with it.
                let within = runs.iter_mut().filter(|_| is_put_down);
                within.for_each(|run| run.state.put_down = true);
            }
            _ => return Err(not_known()),
        }
    }
    let last = entries.last().map_or(0, |entry| entry.seq);
    Ok((last, runs))
}

/// Returns the settings on which the receipts of a stored run depend.
fn projection_of(masker: &Arc<Masker>, started: &Started) -> Projection {
    Projection {
        masker: masker.clone(),
        max_output_bytes: started.terms.max_output_bytes,
    }
}
