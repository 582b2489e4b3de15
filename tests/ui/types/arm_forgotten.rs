use agents::{prelude::*, tool};
use std::fmt;

#[derive(Debug)]
enum Lost {
    Here,
    There,
    Nowhere,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Finds.
#[tool(none)]
async fn find() -> Result<String, Lost> {
    Err(Lost::Here)
}

on_error!(Find, match error {
    execution_error(Returned(e)) => match e {
        Lost::Here => feedback("look again"),
        Lost::There => escalate("too far", severity = High),
    },
    invalid_args(raw, _) => match raw.len() {
        0 => feedback("say what"),
        1.. if raw.starts_with('{') => return escalate("no JSON", severity = Low),
    },
});

fn main() {}
