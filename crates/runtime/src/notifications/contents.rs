//! Contents of letters, encrypted.

use crate::{
    Keyring, RuntimeError,
    data::{opened, sealed},
    run_key::RunKey,
};
use agents_core::{Json, run::Timestamp, tool::Scope};
use agents_store::{Letter, LetterFailure};
use serde::{Deserialize, Serialize};

/// Maximum number of failures that are kept for a letter: the first ones and the last ones.
const MOST: usize = 20;
const CONTENTS: &str = "notification";
const FAILURES: &str = "failures of a letter";

/// Contents of a notification, which are stored encrypted.
#[derive(Serialize, Deserialize)]
pub(crate) struct NotificationContents {
    pub(crate) payload: Json,
    pub(crate) scope: Scope,
}

impl NotificationContents {
    /// Encrypts the contents of the notification with this id. Returns them with the wrapped key that encrypts them.
    pub(crate) fn seal(
        &self,
        keyring: &dyn Keyring,
        id: &str,
    ) -> Result<(Vec<u8>, Vec<u8>), RuntimeError> {
        let tenant = self.scope.tenant_id();
        let (key, data_key) = RunKey::create(keyring, tenant, &name(id))?;
        Ok((sealed(&key, CONTENTS, self)?, data_key))
    }

    pub(crate) fn of(letter: &Letter, key: &RunKey) -> Result<Self, RuntimeError> {
        opened(key, CONTENTS, &letter.contents)
    }
}

/// Failures of a letter, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failures(pub(crate) Vec<Failure>);

/// Failure of one try to hand a letter to its subscriber.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// Number of the try among all tries of the letter.
    pub(crate) attempt: u64,
    pub(crate) at: Timestamp,
    pub(crate) kind: LetterFailure,
    pub(crate) error: String,
}

impl Failures {
    /// Reads the failures of a letter. If they cannot be decrypted any more, there are none.
    pub(crate) fn of(letter: &Letter, key: &RunKey) -> Self {
        match letter.failures.is_empty() {
            true => Failures::default(),
            false => opened(key, FAILURES, &letter.failures).unwrap_or_default(),
        }
    }

    /// Adds a failure. If there are too many, one in the middle is dropped.
    pub(crate) fn add(&mut self, failure: Failure) {
        if self.0.len() >= MOST {
            self.0.remove(MOST / 2);
        }
        self.0.push(failure);
    }

    pub(crate) fn seal(&self, key: &RunKey) -> Result<Vec<u8>, RuntimeError> {
        sealed(key, FAILURES, self)
    }
}

/// Returns the key that decrypts the contents of a letter.
pub(crate) fn key_of_letter(
    letter: &Letter,
    keyring: &dyn Keyring,
) -> Result<RunKey, RuntimeError> {
    let name = name(&letter.notification);
    RunKey::open(keyring, &letter.tenant, &name, &letter.data_key)
}

/// Returns the name under which the contents of a notification are encrypted, which binds the text to it.
fn name(notification: &str) -> String {
    format!("notification {notification}")
}
