//! Dead letters: what a visitor looks for among them, page by page.

use crate::{
    failure::Failure,
    room::{Room, Visitor},
    steering, wording,
};
use agents_runtime::{DeadLetter, LetterQuery};
use serde::{Deserialize, Serialize};
use std::{cmp::Reverse, time::Duration};

/// Number of dead letters that a search looks at, the newest first.
pub(crate) const MOST: usize = 1000;

/// Search of a visitor for dead letters. An empty field finds all.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Search {
    /// Name of the subscriber, or of the run's agent.
    #[serde(default)]
    pub(crate) handler_name: String,
    /// Letters that died at least this number of minutes ago.
    #[serde(default)]
    pub(crate) min_minutes: String,
    /// Letters that died at most this number of minutes ago.
    #[serde(default)]
    pub(crate) max_minutes: String,
    /// Place in the list behind which the page begins.
    #[serde(default)]
    pub(crate) before: String,
}

/// Page of dead letters. Those that were published last come first.
#[derive(Debug, Serialize)]
pub(crate) struct DeadLetters {
    pub(crate) letters: Vec<DeadLetter>,
    /// Place in the list behind which the next page begins; `None` for the last page.
    pub(crate) next: Option<String>,
    /// Is `true` on the last page, if there may be earlier letters than those that the search has looked at.
    pub(crate) more: bool,
}

impl Search {
    /// Returns `true` if the search has no conditions, so that it finds all letters.
    pub(crate) fn is_empty(&self) -> bool {
        let fields = [&self.handler_name, &self.min_minutes, &self.max_minutes];
        fields.iter().all(|field| field.trim().is_empty())
    }

    fn query(&self) -> Result<LetterQuery, Failure> {
        let handler_name = Some(self.handler_name.trim()).filter(|name| !name.is_empty());
        Ok(LetterQuery {
            tenant: None,
            handler_name: handler_name.map(str::to_owned),
            older_than: minutes("min_minutes", &self.min_minutes)?,
            younger_than: minutes("max_minutes", &self.max_minutes)?,
            limit: u32::try_from(MOST).unwrap_or(u32::MAX),
        })
    }
}

fn minutes(field: &str, given: &str) -> Result<Option<Duration>, Failure> {
    let given = given.trim();
    if given.is_empty() {
        return Ok(None);
    }
    let read: Result<u64, _> = given.parse();
    read.map(|minutes| Some(Duration::from_secs(minutes.saturating_mul(60))))
        .map_err(|_| Failure::invalid(wording::no_minutes(field, given)).at(field))
}

/// Place of a letter in the list, by its time and id. It stays the same when other letters go and come.
type Place = (Reverse<u64>, String);

fn place(letter: &DeadLetter) -> Place {
    let published_at = letter.published_at.as_millis();
    (Reverse(published_at), letter.event_id.clone())
}

/// Reads a place from the text that `next` has: the time in milliseconds, a full stop, and the id of the letter.
fn read_place(text: &str) -> Result<Option<Place>, Failure> {
    if text.is_empty() {
        return Ok(None);
    }
    let parts = text.split_once('.').and_then(|(millis, id)| {
        let millis = millis.parse().ok()?;
        Some((Reverse(millis), id.to_owned()))
    });
    let unreadable = || Failure::invalid(wording::no_place(text));
    parts.map(Some).ok_or_else(unreadable)
}

/// Returns a page of the dead letters that the search is for.
pub(crate) async fn letters(
    room: &Room,
    visitor: &Visitor,
    search: &Search,
    limit: u32,
) -> Result<DeadLetters, Failure> {
    let before = read_place(&search.before)?;
    let listed = room.client.letters();
    let mut letters = listed.list(&search.query()?, &visitor.principal).await?;
    let is_cut = letters.len() >= MOST;
    letters.sort_by_key(place);
    if let Some(before) = before {
        letters.retain(|letter| place(letter) > before);
    }
    let size = steering::size(limit);
    let is_last = letters.len() <= size;
    letters.truncate(size);
    let next = letters.last().filter(|_| !is_last);
    Ok(DeadLetters {
        next: next.map(|last| format!("{}.{}", last.published_at.as_millis(), last.event_id)),
        more: is_cut && is_last,
        letters,
    })
}
