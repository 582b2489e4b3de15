//! Texts of this crate.

use std::fmt::Display;

pub(crate) fn no_address(address: &str, error: &dyn Display) -> String {
    format!(
        "`{address}` is no address of Restate: {error}; write it like `http://restate.internal:8080`"
    )
}

pub(crate) const NOT_HTTP: &str = "it does not begin with `http://`";

pub(crate) fn not_reached(address: &str, error: &dyn Display) -> String {
    format!("Restate cannot be reached at `{address}`: {error}; check that it runs there")
}

/// Error of a call that Restate has refused; `said` is the text of its answer.
pub(crate) fn refused(address: &str, status: &dyn Display, said: &str) -> String {
    let said: String = said.chars().take(300).collect();
    format!(
        "Restate at `{address}` refuses the call ({status}): {said}; check that the workers are registered"
    )
}
