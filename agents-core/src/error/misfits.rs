use crate::reader::ReadError;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;

/// List of the faults of a value, in the order of the schema. Only the first faults are kept, and the others counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Misfits {
    pub(crate) listed: Vec<ReadError>,
    /// Number of faults beyond those that are listed.
    pub(crate) more: usize,
}

impl Misfits {
    pub(crate) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Adds the faults to the details of an error's record, if there are any.
    pub(crate) fn add_to(&self, details: &mut Value) {
        if !self.is_empty() {
            details["misfits"] = json!(self.listed);
        }
    }
}

impl fmt::Display for Misfits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Misfits { listed, more } = self;
        write!(f, "{} things do not fit: ", listed.len() + more)?;
        for (n, misfit) in listed.iter().enumerate() {
            write!(f, "{}{misfit}", if n > 0 { "; " } else { "" })?;
        }
        match more {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}
