//! How servers end a stream: whether a reply without a reason to stop may be whole.
//!
//! Most servers say why the model stopped. If one of them ends a stream without a reason, the reply was cut off: a
//! gateway has lost the model, and has put the last event there itself. A few servers never give a reason. They cannot
//! be told apart by one reply, so they are learned: the first such reply of a server is an interruption, and may be
//! asked for again. From the second one on, such replies are whole, unless they show by themselves that they are not.
//! A server that has ever given a reason is never believed without one.

use agents_core::model::{Reply, prompted};
use serde::de::IgnoredAny;
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

/// Maximum number of models that are remembered; after that, the process forgets all of them and learns anew.
const MOST: usize = 4_096;

/// What is known of the streams of a model on a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    /// The server gives reasons.
    Reasons,
    /// The server has given none so far.
    NoReasons,
}

/// Habits of the servers and models that this process has asked, by a hash of their names.
#[derive(Debug, Default)]
struct Habits(Option<HashMap<u64, Habit>>);

static HABITS: RwLock<Habits> = RwLock::new(Habits(None));

/// Notes that a model on a server has given a reason to stop.
pub(super) fn gave_reason(server: &str, model: &str) {
    let key = key(server, model);
    if read().of(key) != Some(Habit::Reasons) {
        write().gave_reason(key);
    }
}

/// Notes that a stream of a model on a server has ended without a reason to stop. Returns `true` if its reply is whole
/// all the same.
pub(super) fn gave_none(server: &str, model: &str, reply: &Reply) -> bool {
    write().gave_none(key(server, model)) && !is_cut_off(reply)
}

fn read() -> RwLockReadGuard<'static, Habits> {
    HABITS.read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, Habits> {
    HABITS.write().unwrap_or_else(PoisonError::into_inner)
}

fn key(server: &str, model: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (server, model).hash(&mut hasher);
    hasher.finish()
}

impl Habits {
    fn of(&self, key: u64) -> Option<Habit> {
        self.0.as_ref()?.get(&key).copied()
    }

    fn known(&mut self) -> &mut HashMap<u64, Habit> {
        let known = self.0.get_or_insert_default();
        if known.len() >= MOST {
            known.clear();
        }
        known
    }

    fn gave_reason(&mut self, key: u64) {
        self.known().insert(key, Habit::Reasons);
    }

    /// Returns `true` if the server has given no reason before.
    fn gave_none(&mut self, key: u64) -> bool {
        match self.of(key) {
            Some(habit) => habit == Habit::NoReasons,
            None => {
                self.known().insert(key, Habit::NoReasons);
                false
            }
        }
    }
}

/// Returns `true` if a reply shows by itself that it is not whole: the arguments of a call, or a text in JSON, break
/// off.
fn is_cut_off(reply: &Reply) -> bool {
    let is_whole = |arguments: &str| arguments.trim().is_empty() || prompted::is_object(arguments);
    let text = reply.content.trim();
    let breaks_off = text.starts_with(['{', '['])
        && serde_json::from_str::<IgnoredAny>(text).is_err_and(|error| error.is_eof());
    breaks_off || !reply.calls.iter().all(|call| is_whole(&call.arguments))
}

#[cfg(test)]
mod tests {
    use super::{Habits, MOST, is_cut_off};
    use agents_core::model::{Reply, ToolCall};

    #[test]
    fn a_server_that_never_gives_a_reason_is_learned() {
        let mut habits = Habits::default();
        assert!(!habits.gave_none(1), "the first time it may be cut off");
        assert!(habits.gave_none(1) && habits.gave_none(1));
        assert!(!habits.gave_none(2), "another server");
        habits.gave_reason(1);
        habits.gave_reason(3);
        assert!(!habits.gave_none(1) && !habits.gave_none(3) && !habits.gave_none(3));
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut habits = Habits::default();
        (0..=MOST as u64).for_each(|key| habits.gave_reason(key));
        assert!(habits.0.is_some_and(|known| known.len() <= MOST));
    }

    #[test]
    fn replies_that_show_their_cut() {
        let call = |arguments: &str| Reply {
            calls: vec![ToolCall {
                id: "a".into(),
                name: "pay".into(),
                arguments: arguments.into(),
            }],
            ..Reply::default()
        };
        let text = |content: &str| Reply {
            content: content.into(),
            ..Reply::default()
        };
        for reply in [
            call(r#"{"to":"Ad"#),
            call("{"),
            text(r#"{"answer": 4"#),
            text("[1,"),
        ] {
            assert!(is_cut_off(&reply), "{reply:?}");
        }
        for reply in [
            call("{}"),
            call(""),
            text("The answer is 4."),
            text("[1]"),
            text("{x}"),
        ] {
            assert!(!is_cut_off(&reply), "{reply:?}");
        }
    }
}
