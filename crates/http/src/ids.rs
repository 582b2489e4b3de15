//! Ids of calls, as a conversation is written for a server.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// Ids under which the calls of one conversation are written for a server, each for one call.
///
/// A server may give an id again in a later turn, and a conversation may go on with another server. A server that finds
/// an id twice in a conversation refuses it for good. So a call keeps its id if no earlier call has it, and gets one of
/// ours if one has. The same conversation always gets the same ids. A client keeps the value beside the messages that it
/// has encoded.
///
/// ```
/// use agents_http::CallIds;
///
/// let mut ids = CallIds::default();
/// assert_eq!(ids.of_call("list_dir:0", "list_dir_0"), "list_dir_0");
/// assert_eq!(ids.of_result("list_dir:0", "list_dir_0"), "list_dir_0");
/// // The next turn begins anew.
/// assert_eq!(ids.of_call("list_dir:0", "list_dir_0"), "list_dir_0_2");
/// assert_eq!(ids.of_result("list_dir:0", "list_dir_0"), "list_dir_0_2");
/// ```
#[derive(Clone, Debug, Default)]
pub struct CallIds {
    /// Ids that were written, by their hashes, each with the number of calls that had asked for it.
    written: HashMap<u64, u32>,
    /// Ids of ours, by the id of the call; the latest call of an id counts.
    ours: HashMap<String, String>,
}

impl CallIds {
    /// Returns the id of the next call of the conversation. `id` is the call's own id, and `valid` is that id in
    /// characters that the server takes.
    pub fn of_call(&mut self, id: &str, valid: &str) -> String {
        let calls = self.written.entry(hash(valid)).or_default();
        *calls += 1;
        let mut number = *calls;
        if number == 1 {
            return valid.to_owned();
        }
        let ours = loop {
            let ours = format!("{valid}_{number}");
            if !self.written.contains_key(&hash(&ours)) {
                break ours;
            }
            number += 1;
        };
        self.written.insert(hash(&ours), 1);
        self.written.insert(hash(valid), number);
        self.ours.insert(id.to_owned(), ours.clone());
        ours
    }

    /// Returns the id of the call whose result is written: the latest call that has `id` as its own.
    pub fn of_result<'a>(&'a self, id: &str, valid: &'a str) -> &'a str {
        self.ours.get(id).map_or(valid, String::as_str)
    }
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::CallIds;

    #[test]
    fn no_two_calls_have_one_id() {
        let mut ids = CallIds::default();
        let asked = ["a", "a_2", "a", "b", "a", "a_2", "a"];
        let written: Vec<_> = asked.iter().map(|id| ids.of_call(id, id)).collect();
        assert_eq!(written, ["a", "a_2", "a_3", "b", "a_4", "a_2_2", "a_5"]);
        // Ids of which the characters were replaced may meet, too.
        let mut ids = CallIds::default();
        assert_eq!(ids.of_call("x:0", "x_0"), "x_0");
        assert_eq!(ids.of_call("x.0", "x_0"), "x_0_2");
        assert_eq!(
            (ids.of_result("x:0", "x_0"), ids.of_result("x.0", "x_0")),
            ("x_0", "x_0_2")
        );
    }

    #[test]
    fn a_result_goes_to_the_latest_call_of_its_id() {
        let mut ids = CallIds::default();
        for turn in 1..4 {
            let call = ids.of_call("a", "a");
            assert_eq!(ids.of_result("a", "a"), call, "turn {turn}");
        }
    }
}
