//! The commands, a file each.

pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod check_deploy;
pub(crate) mod decide;
pub(crate) mod deliveries;
pub(crate) mod doubts;
pub(crate) mod events;
pub(crate) mod metrics;
pub(crate) mod mode;
pub(crate) mod runs;
pub(crate) mod show;
pub(crate) mod steer;
pub(crate) mod test_from;
pub(crate) mod undo;

use crate::failure::Failure;
use agents_core::{run::Timestamp, tool::Risk};
use std::{io::Read, path::Path};

/// Returns a time as text, without the fractions of seconds.
fn seconds(at: Timestamp) -> String {
    let text = at.to_string();
    match text.split_once('.') {
        Some((whole, _)) => format!("{whole}Z"),
        None => text,
    }
}

fn word_of(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
    }
}

/// Reads a file, or the standard input for `-`.
fn read(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = match path.to_str() {
        Some("-") => std::io::stdin().read_to_string(&mut text).map(drop),
        _ => std::fs::read_to_string(path).map(|all| text = all),
    };
    read.map_err(|error| crate::wording::file_unreadable(path, &error))?;
    Ok(text)
}
