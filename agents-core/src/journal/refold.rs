//! A stored journal, folded again: each run in it, and its state.

use super::{Entry, Fact, JournalError, PlaceId, Projection, Started, State};
use crate::secret::Masker;
use std::sync::Arc;

/// A run that was stored.
pub(crate) struct Stored {
    pub(crate) run: u32,
    pub(crate) started: Started,
    pub(crate) state: State,
}

/// Folds the entries of a journal: its last number, and each run in it. `before` looks at each fact before it is folded,
/// and gets the index of its entry.
pub(crate) fn refold(
    entries: &[Entry],
    masker: &Arc<Masker>,
    mut before: impl FnMut(&State, PlaceId, &Fact, usize),
) -> Result<(u64, Vec<Stored>), JournalError> {
    let mut runs: Vec<Stored> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let nth = index as u64 + 1;
        let Entry {
            seq,
            at,
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
                before(&state, 0, &fact, index);
                state.fold(0, fact, *at, &projection_of(masker, &started));
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
                before(state, *place, &fact, index);
                let projection = projection_of(masker, started);
                if state.fold(*place, fact, *at, &projection).ignored {
                    return Err(not_known());
                }
            }
            _ => return Err(not_known()),
        }
    }
    let last = entries.last().map_or(0, |entry| entry.seq);
    Ok((last, runs))
}

/// Returns what the receipts of a stored run depend on.
fn projection_of(masker: &Arc<Masker>, started: &Started) -> Projection {
    Projection {
        masker: masker.clone(),
        max_output_bytes: started.terms.max_output_bytes,
    }
}
