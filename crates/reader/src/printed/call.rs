//! Calls that were read, before they are reported.

use crate::{Change, ChangeKind, Changes};

/// Call of a declared tool that was found in a text; its arguments are JSON unless the model damaged them.
pub(super) struct Call {
    pub(super) name: String,
    pub(super) arguments: String,
    /// `true` if `arguments` is the text of the whole call. This is so if the call holds more than the tool's
    /// arguments, which must not be lost.
    pub(super) in_full: bool,
    /// Changes that were made to the call to read it.
    pub(super) changes: Changes,
}

impl Call {
    pub(super) fn new(name: &str, arguments: String) -> Self {
        Self {
            name: name.to_owned(),
            arguments,
            in_full: false,
            changes: Changes::default(),
        }
    }

    /// Creates a call whose `arguments` are its whole text, since it holds more than the tool's arguments and nothing
    /// may be lost.
    pub(super) fn in_full(name: &str, text: &str) -> Self {
        Self {
            in_full: true,
            ..Self::new(name, text.to_owned())
        }
    }

    /// Adds the changes that were made to the call.
    pub(super) fn changed(mut self, changes: Changes) -> Self {
        self.changes.extend(changes);
        self
    }
}

/// Creates the change for a part of a call that could have been read in another way.
pub(super) fn doubt(kind: ChangeKind, path: &str, note: &'static str) -> Change {
    Change::new(kind, path, note).uncertain()
}

/// Calls that were found at one place of the text, in their order.
#[derive(Default)]
pub(super) struct Calls {
    pub(super) list: Vec<Call>,
    /// `true` if something was passed over among the calls that may be a call as well.
    pub(super) lost: bool,
}

impl Calls {
    /// Adds the calls of a piece of text; a piece without a call was passed over.
    pub(super) fn add(&mut self, found: Calls) {
        self.lost |= found.lost || found.list.is_empty();
        self.list.extend(found.list);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl From<Option<Call>> for Calls {
    fn from(call: Option<Call>) -> Self {
        Self {
            list: call.into_iter().collect(),
            lost: false,
        }
    }
}

impl From<Call> for Calls {
    fn from(call: Call) -> Self {
        Some(call).into()
    }
}
