use std::{error::Error, fmt};

/// Error of a call to Restate: its address is no address, it cannot be reached, it refuses the call, or the store of
/// the runs fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestateError(String);

impl RestateError {
    pub(crate) fn new(message: String) -> Self {
        RestateError(message)
    }
}

impl fmt::Display for RestateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for RestateError {}
