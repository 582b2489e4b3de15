//! Notifications that one context publishes for others, and the letters that bring them to subscribers.

use crate::run::words;
use agents_core::run::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Subscription: a subscriber, by name, and the notifications that it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// Name of the subscriber, which no other subscriber has.
    pub subscriber: String,
    /// Name of the kind of notifications that the subscriber takes, such as `shop.order_shipped`.
    pub notification: String,
}

/// Notification that is about to be published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewNotification {
    /// Id of the notification, which no other notification has.
    pub id: String,
    /// Tenant that the notification is about; empty if there are no tenants.
    pub tenant: String,
    /// Name of the kind of notification, such as `shop.order_shipped`.
    pub name: String,
    /// Key by which the caller knows the notification; `None` if the notification has no key. A tenant has at most one
    /// notification with the same name and the same key.
    pub key: Option<String>,
    /// Principal who has published the notification; `None` if nobody was named.
    pub published_by: Option<String>,
    /// Contents of the notification, encrypted.
    pub contents: Vec<u8>,
    /// Key that decrypts the contents, wrapped with a key that the store does not know.
    pub data_key: Vec<u8>,
}

/// Letter: a notification on its way to one subscriber. A letter that is not tried any more is dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Id of the letter, which no other letter has.
    pub id: String,
    /// Number of the letter among all of the store. Later letters have greater numbers.
    pub number: u64,
    /// Id of the notification, which is the same for all of its subscribers.
    pub notification: String,
    /// Name of the kind of notification, such as `shop.order_shipped`.
    pub name: String,
    /// Name of the subscriber to whom the letter goes.
    pub subscriber: String,
    /// Tenant that the notification is about.
    pub tenant: String,
    /// Principal who has published the notification; `None` if nobody was named.
    pub published_by: Option<String>,
    /// Time at which the notification was published.
    pub published_at: Timestamp,
    /// Number of tries since the notification was published, or since the letter was last replayed; the one under way
    /// included.
    pub attempts: u32,
    /// Number of all tries so far. It is the fencing token of the last of them.
    pub fence: u64,
    /// Time of the next try; `None` for a dead letter.
    pub next_at: Option<Timestamp>,
    /// Time at which the letter died; `None` if it is still tried.
    pub died_at: Option<Timestamp>,
    /// Kind of the last failure; `None` if no try has failed so far.
    pub failure: Option<LetterFailure>,
    /// Failures of tries so far, encrypted; empty if no try has failed.
    pub failures: Vec<u8>,
    /// Contents of the notification, encrypted.
    pub contents: Vec<u8>,
    /// Key that decrypts the contents and the failures, wrapped with a key that the store does not know.
    pub data_key: Vec<u8>,
    /// Number of times that the letter was replayed so far. A letter can be replayed only while it is dead.
    pub replays: u32,
}

/// Kind of the failure of a try to bring a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LetterFailure {
    /// The subscriber has returned an error for the letter.
    Failed,
    /// The subscriber has panicked while it handled the letter.
    Panicked,
    /// The subscriber has not handled the letter in time.
    TimedOut,
    /// The worker of an earlier try has not reported the end of the try: its process was killed, or stood still.
    Interrupted,
    /// The contents cannot be read, or do not fit the type that the subscriber takes.
    Unreadable,
}

words!(LetterFailure {
    Failed = "failed",
    Panicked = "panicked",
    TimedOut = "timed_out",
    Interrupted = "interrupted",
    Unreadable = "unreadable",
});

/// Request of a worker for letters that are due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetterClaim {
    /// Names of the subscribers that the worker has.
    pub subscribers: Vec<String>,
    /// Time after which another worker may take the same letters, unless this worker has reported the end of its tries.
    pub time: Duration,
    /// Maximum number of letters that the worker gets with this request; 0 for 100.
    pub limit: u32,
}

/// End of a try to bring a letter to its subscriber.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LetterEnd {
    /// The subscriber has taken the notification. The letter is gone then.
    Taken,
    /// The try has failed, and the next one comes after this time.
    Again {
        /// Time until the next try to handle the letter, from the moment at which the failure is stored.
        after: Duration,
        /// Kind of the failure of this try to handle the letter.
        failure: LetterFailure,
        /// Failures of the letter so far, this one included, encrypted.
        failures: Vec<u8>,
    },
    /// The try has failed, and there is no further one: the letter is dead.
    Dead {
        /// Kind of the failure of the last try to handle the letter.
        failure: LetterFailure,
        /// Failures of the letter so far, this one included, encrypted.
        failures: Vec<u8>,
    },
}

/// Choice of letters, for [`Store::letters`](crate::Store::letters). The default chooses all letters of all tenants. A
/// letter is chosen if it fits each field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LetterFilter {
    /// Chooses letters of this tenant, if set.
    pub tenant: Option<String>,
    /// Chooses letters to this subscriber, if set.
    pub subscriber: Option<String>,
    /// Chooses dead letters for `Some(true)`, letters that are still tried for `Some(false)`, and both for `None`.
    pub dead: Option<bool>,
    /// Chooses letters that died at this time or later, if set.
    pub died_since: Option<Timestamp>,
    /// Chooses letters that died before this time, if set.
    pub died_until: Option<Timestamp>,
    /// Chooses letters with smaller numbers than this one, if set: the next page of a list.
    pub before: Option<u64>,
    /// Maximum number of letters that are returned; 0 for 100.
    pub limit: u32,
}

/// Replay of a dead letter, or of a run that is held, as somebody asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The letter or the run that is replayed.
    pub of: ReplayOf,
    /// Tenant of the letter or the run; `None` if it may be that of any tenant.
    pub tenant: Option<String>,
    /// Principal who replays the letter or the run.
    pub by: String,
    /// Reason of the replay for the audit trail, encrypted; `None` if there is none.
    pub detail: Option<Vec<u8>>,
}

/// Letter or run that is replayed, by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayOf {
    /// The dead letter with this id.
    Letter(String),
    /// The held run with this id.
    Run(String),
}

/// Returns the id of the letter that brings a notification to a subscriber.
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "the stores name letters")
)]
pub(crate) fn letter_id(notification: &str, subscriber: &str) -> String {
    format!("{notification}/{subscriber}")
}

/// Returns the id of the notification and the name of the subscriber, from the id of a letter; `None` for a text that
/// is no such id.
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "the stores find letters")
)]
pub(crate) fn parts_of(letter: &str) -> Option<(&str, &str)> {
    letter.split_once('/')
}
