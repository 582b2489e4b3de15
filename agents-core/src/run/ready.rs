//! The arguments of a call as its tool will take them.

use crate::tool::Prepared;
use std::fmt;

/// Prepared arguments are live values: a copy of the state has none.
#[derive(Default)]
pub(crate) struct Ready(pub(crate) Option<Prepared>);

impl Clone for Ready {
    fn clone(&self) -> Self {
        Ready(None)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "prepared"
        } else {
            "not prepared"
        })
    }
}
