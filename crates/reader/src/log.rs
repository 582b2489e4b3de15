//! Changes of a reading that is under way.

use super::change::{Change, ChangeKind, Changes};

const KINDS: usize = ChangeKind::Duplicate as usize + 1;

/// Maximum number of changes of one kind, and of changes added as uncertain, that are listed one by one; further
/// changes are only counted. The first change of each kind is always listed.
const MAX_LISTED: u32 = 8;

/// Collects the changes of a reading, and can take them back when a way to read a value is given up.
#[derive(Debug, Clone, Default)]
pub(super) struct Log {
    changes: Vec<Change>,
    counts: [u32; KINDS],
    /// Number of listed changes that were added or marked as uncertain. Changes of kinds that are always uncertain need
    /// not be among them.
    uncertain: u32,
    /// `true` if brackets, quotes, commas or colons were supplied: a part of the value may be in the wrong place.
    rebuilt: bool,
    /// `true` if a value was taken out of a list, or of a member whose name says nothing of a wrapper.
    unnamed_wrapper: bool,
}

/// Point in a [`Log`] to which it can return, so that later changes are taken back.
#[derive(Clone)]
pub(super) struct Mark {
    len: usize,
    counts: [u32; KINDS],
    uncertain: u32,
    rebuilt: bool,
}

impl Log {
    /// Adds a change. Its path is only computed if the change is listed.
    pub(super) fn add(
        &mut self,
        kind: ChangeKind,
        path: impl FnOnce() -> String,
        note: impl Into<String>,
    ) {
        self.record(kind, || Change::new(kind, path(), note));
    }

    /// Adds a change by which text was lost, wholly or in part. The change quotes the text, or gives its length if the
    /// text is long.
    pub(super) fn add_with_original(
        &mut self,
        kind: ChangeKind,
        path: impl FnOnce() -> String,
        note: impl FnOnce() -> String,
        was: &str,
    ) {
        self.record(kind, || {
            Change::new(kind, path(), note()).original_or_length(was)
        });
    }

    /// Adds an uncertain change that the caller has built. It is listed if it is the first of its kind, or if fewer than
    /// eight changes that were added or marked as uncertain are listed already.
    pub(super) fn add_change(&mut self, change: Change) {
        let is_listed = self.lists_uncertain(change.kind);
        self.counts[change.kind as usize] += 1;
        if is_listed {
            self.uncertain += 1;
            self.changes.push(change);
        }
    }

    /// Returns true if an uncertain change of this kind that is added next is listed.
    fn lists_uncertain(&self, kind: ChangeKind) -> bool {
        self.uncertain < MAX_LISTED || self.counts[kind as usize] == 0
    }

    /// Adds an uncertain change. It is listed as by [`add_change`](Self::add_change), however many changes of its kind
    /// were listed before.
    pub(super) fn add_uncertain(
        &mut self,
        kind: ChangeKind,
        path: impl FnOnce() -> String,
        note: impl Into<String>,
    ) {
        match self.lists_uncertain(kind) {
            true => self.add_change(Change::new(kind, path(), note).uncertain()),
            false => self.counts[kind as usize] += 1,
        }
    }

    fn record(&mut self, kind: ChangeKind, change: impl FnOnce() -> Change) {
        let count = &mut self.counts[kind as usize];
        *count += 1;
        if *count <= MAX_LISTED {
            self.changes.push(change());
        }
    }

    /// Adds a change whose path and note are only computed if the change is listed.
    pub(super) fn add_with(
        &mut self,
        kind: ChangeKind,
        path: impl FnOnce() -> String,
        note: impl FnOnce() -> String,
    ) {
        if self.counts[kind as usize] < MAX_LISTED {
            self.add(kind, path, note());
        } else {
            self.counts[kind as usize] += 1;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Records that a value was taken out of a list, or of a member whose name says nothing of a wrapper.
    pub(super) fn unnamed_wrapper(&mut self) {
        self.unnamed_wrapper = true;
    }

    /// Records that brackets, quotes, commas or colons were supplied.
    pub(super) fn rebuilt(&mut self) {
        self.rebuilt = true;
    }

    /// Returns true if brackets, quotes, commas or colons were supplied.
    pub(super) fn is_rebuilt(&self) -> bool {
        self.rebuilt
    }

    /// Marks all listed changes of a kind as uncertain, once the rest of the text has cast doubt on them.
    pub(super) fn doubt(&mut self, kind: ChangeKind) {
        for change in self.changes.iter_mut().filter(|change| change.kind == kind) {
            self.uncertain += u32::from(!change.uncertain);
            change.uncertain = true;
        }
    }

    /// Returns true if members were renamed or left out, or if brackets did not match. The value may then be a part of
    /// something larger.
    pub(super) fn is_of_pieces(&self) -> bool {
        use ChangeKind::{Brackets, DroppedKey, Inferred, Renamed};
        [Brackets, DroppedKey, Inferred, Renamed]
            .into_iter()
            .any(|kind| self.any(kind))
    }

    /// Returns true if there is a change of this kind.
    pub(super) fn any(&self, kind: ChangeKind) -> bool {
        self.counts[kind as usize] > 0
    }

    /// Returns the number of changes that the log lists.
    pub(super) fn listed_len(&self) -> usize {
        self.changes.len()
    }

    /// Sets the path of all changes that were listed from index `first` on.
    pub(super) fn set_path_since(&mut self, first: usize, path: &str) {
        for change in &mut self.changes[first..] {
            path.clone_into(&mut change.path);
        }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            len: self.changes.len(),
            counts: self.counts,
            uncertain: self.uncertain,
            rebuilt: self.rebuilt,
        }
    }

    pub(super) fn undo(&mut self, mark: &Mark) {
        self.changes.truncate(mark.len);
        self.counts = mark.counts;
        self.uncertain = mark.uncertain;
        self.rebuilt = mark.rebuilt;
    }

    /// Takes out and returns the changes that were added since the mark.
    pub(super) fn split_off(&mut self, mark: &Mark) -> Self {
        let mut counts = self.counts;
        for (now, then) in counts.iter_mut().zip(mark.counts) {
            *now -= then;
        }
        self.counts = mark.counts;
        let uncertain = self.uncertain - mark.uncertain;
        self.uncertain = mark.uncertain;
        let rebuilt = std::mem::replace(&mut self.rebuilt, mark.rebuilt);
        Self {
            changes: self.changes.split_off(mark.len),
            counts,
            uncertain,
            rebuilt,
            unnamed_wrapper: self.unnamed_wrapper,
        }
    }

    /// Appends the changes of another log, whose paths are relative to `path`.
    pub(super) fn append(&mut self, other: Log, path: &str) {
        for mut change in other.changes {
            change.path = match (path.is_empty(), change.path.is_empty()) {
                (true, _) => change.path,
                (_, true) => path.to_owned(),
                _ if change.path.starts_with('[') => format!("{path}{}", change.path),
                _ => format!("{path}.{}", change.path),
            };
            self.changes.push(change);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine += theirs;
        }
        self.uncertain += other.uncertain;
        self.rebuilt |= other.rebuilt;
        self.unnamed_wrapper |= other.unnamed_wrapper;
    }

    pub(super) fn finish(mut self) -> Changes {
        // What seems to be an unknown member may be a piece of another.
        if self.rebuilt || self.any(ChangeKind::Call) {
            self.doubt(ChangeKind::DroppedKey);
            if self.unnamed_wrapper {
                self.doubt(ChangeKind::Unwrapped);
            }
        }
        // Where a bracket is missing, a value of another type may belong to an object around.
        if self.rebuilt && self.any(ChangeKind::Closed) {
            self.doubt(ChangeKind::Coerced);
        }
        let mut listed = [0; KINDS];
        for change in &self.changes {
            listed[change.kind as usize] += 1;
        }
        let mut seen = [false; KINDS];
        for n in 0..self.changes.len() {
            let kind = self.changes[n].kind;
            let more = self.counts[kind as usize].saturating_sub(listed[kind as usize]);
            if more > 0 && !std::mem::replace(&mut seen[kind as usize], true) {
                let note = format!("{more} more: {}", self.changes[n].note);
                self.changes.push(Change::new(kind, "", note));
            }
        }
        Changes(self.changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ninth_of_a_kind_is_counted() {
        let mut log = Log::default();
        for n in 0..20 {
            log.add(ChangeKind::Quotes, || format!("[{n}]"), "single quotes");
        }
        let repairs = log.finish();
        assert_eq!(repairs.len(), 9);
        assert_eq!(repairs.0[8].to_string(), "12 more: single quotes");
    }

    #[test]
    fn the_first_of_a_kind_is_listed_however_many_others_are_uncertain() {
        let mut log = Log::default();
        for n in 0..20 {
            log.add_uncertain(ChangeKind::Inferred, || format!("[{n}]"), "by its type");
        }
        log.add_uncertain(ChangeKind::Renamed, || "to".to_owned(), "was `too`");
        let repairs = log.finish();
        assert!(repairs.any(ChangeKind::Renamed), "{repairs:?}");
        assert_eq!(repairs.len(), 10);
    }
}
