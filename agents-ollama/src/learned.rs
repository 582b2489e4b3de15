//! What servers have said about their models, for all clients of the process: a client that is made
//! anew for each run need not be refused for each.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// More models than this are not remembered; the first go first.
const MOST: usize = 256;

/// A server, as people see it, and a model of it.
type Known = VecDeque<(String, String)>;

static WITHOUT_TOOLS: Mutex<Known> = Mutex::new(Known::new());

/// Whether the server has said that the model has no tools.
pub(crate) fn has_no_tools(server: &str, model: &str) -> bool {
    holds(&without_tools(), server, model)
}

/// The server has said that the model has no tools.
pub(crate) fn without(server: &str, model: &str) {
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
        known.truncate(MOST - 1);
        known.push_front((server.to_owned(), model.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_known_of_that_model_on_that_server() {
        let mut known = Known::new();
        note(&mut known, "http://a", "m");
        assert!(holds(&known, "http://a", "m"));
        assert!(!holds(&known, "http://a", "n") && !holds(&known, "http://b", "m"));
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let mut known = Known::new();
        for nth in 0..=MOST {
            note(&mut known, "http://a", &nth.to_string());
            note(&mut known, "http://a", &nth.to_string());
        }
        assert_eq!(known.len(), MOST);
        assert!(!holds(&known, "http://a", "0") && holds(&known, "http://a", "1"));
    }
}
