//! Models whose servers refused tools, remembered for all clients of the process. A client that is made anew for each
//! run thus does not repeat the refused request.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Maximum number of models that are remembered as without tools; the oldest are forgotten first.
const MAX_ENTRIES: usize = 256;

/// Models without tools, as pairs of a server's address and a model's name, the newest first.
type Known = VecDeque<(String, String)>;

static WITHOUT_TOOLS: Mutex<Known> = Mutex::new(Known::new());

/// Returns `true` if the server has refused tools for this model since the program was started.
pub(crate) fn has_no_tools(server: &str, model: &str) -> bool {
    holds(&without_tools(), server, model)
}

/// Remembers that the server has refused tools for this model.
pub(crate) fn record_no_tools(server: &str, model: &str) {
    note(&mut without_tools(), server, model);
}

fn without_tools() -> MutexGuard<'static, Known> {
    WITHOUT_TOOLS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn holds(known: &Known, server: &str, model: &str) -> bool {
    known.iter().any(|(of, name)| of == server && name == model)
}

fn note(known: &mut Known, server: &str, model: &str) {
    if !holds(known, server, model) {
        known.truncate(MAX_ENTRIES - 1);
        known.push_front((server.to_owned(), model.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_told_apart_by_server_and_name() {
        let mut known = Known::new();
        note(&mut known, "http://a", "m");
        assert!(holds(&known, "http://a", "m"));
        assert!(!holds(&known, "http://a", "n") && !holds(&known, "http://b", "m"));
    }

    #[test]
    fn the_oldest_model_is_forgotten() {
        let mut known = Known::new();
        for nth in 0..=MAX_ENTRIES {
            note(&mut known, "http://a", &nth.to_string());
            note(&mut known, "http://a", &nth.to_string());
        }
        assert_eq!(known.len(), MAX_ENTRIES);
        assert!(!holds(&known, "http://a", "0") && holds(&known, "http://a", "1"));
    }
}
