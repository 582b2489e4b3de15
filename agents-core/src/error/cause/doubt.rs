//! What is not known of an execution that did not come to its own end.

use super::{Cause, Origin};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The tool writes, and whether it has done so is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Doubt {
    /// Running it again does no harm.
    Repeatable,
    /// Running it again could do twice what it may have done.
    Once,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(", and whether it took effect is not known")?;
        match self {
            Doubt::Repeatable => Ok(()),
            Doubt::Once => f.write_str(": find that out before calling it again"),
        }
    }
}

impl Cause {
    /// The same failure of a tool that writes: who returns an error knows what was done, and whoever was cut off by a
    /// deadline or a panic has left that open.
    pub(crate) fn of_a_write(self, is_repeatable: bool) -> Self {
        if !self.is_cut_off() {
            return self;
        }
        let doubt = match is_repeatable {
            true => Doubt::Repeatable,
            false => Doubt::Once,
        };
        self.but(|inner| inner.doubt = Some(doubt))
    }

    /// The execution did not come to its own end.
    pub(crate) fn is_cut_off(&self) -> bool {
        matches!(
            self.origin(),
            Origin::TimedOut(_) | Origin::Panicked | Origin::Interrupted
        )
    }
}
