//! Doubt about the effect of an execution that was cut off, or gave an output that nobody can use.

use super::{Cause, Origin};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Doubt about the effect of a tool that writes; its variants say whether the tool may simply run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Doubt {
    /// The tool may run again, since a repeated execution does no harm.
    Repeatable,
    /// The tool may not run again, since a repeated execution could apply the effect twice.
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
    /// Returns the failure of a tool that writes, with a doubt if the execution was cut off.
    ///
    /// A tool that returns an error knows what it did. A tool that was cut off by a deadline, a panic or an
    /// interruption, or gave an output that nobody can use, may have taken effect or not.
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

    /// Returns `true` if the execution was cut off: it timed out, panicked, or was interrupted.
    pub(crate) fn is_cut_off(&self) -> bool {
        matches!(
            self.origin(),
            Origin::TimedOut(_) | Origin::Panicked | Origin::Interrupted
        )
    }
}
