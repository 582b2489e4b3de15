//! Id of a call, and the idempotency key by which services recognise it.

use super::{Call, Stage};
use crate::{hex::id, journal::RunKey, json::canonical};
use std::{
    fmt::{self, Write},
    sync::Arc,
};

impl Call {
    /// Returns a digest of the current arguments, made with the key of the run if it has one.
    pub(crate) fn input_digest(&self, key: Option<RunKey>) -> Arc<str> {
        let input = self.input();
        let text = canonical(input.as_str());
        match key {
            Some(key) => key.digest(&text),
            None => id(&hmac_sha256::Hash::hash(text.as_bytes())),
        }
    }

    /// Returns `true` if the call's id can be made from its current arguments: the arguments were accepted, or it is
    /// clear that no arguments will be.
    pub(super) fn is_identified(&self) -> bool {
        !matches!(
            self.stage,
            Stage::New
                | Stage::Read
                | Stage::Arms
                | Stage::Repair(_)
                | Stage::Climb { .. }
                | Stage::EndsRun
        )
    }

    /// Returns the call's id in its receipt; `None` until its arguments are accepted, or it is clear that they never
    /// will be.
    pub(crate) fn id(&self) -> Option<&Arc<str>> {
        self.id.as_ref()
    }

    /// Returns the idempotency key of the call with the current arguments, by which services recognise the call; `None`
    /// until the call has an id.
    pub(crate) fn key(&self) -> Option<&Arc<str>> {
        self.key.as_ref().or(self.id.as_ref())
    }

    /// Returns a digest of the tool, its version, the canonical input, and the place and the number of the call in the
    /// run. The digest is the same on any machine, whatever the order of keys and the white space.
    pub(super) fn digest(&self, place: &impl fmt::Display) -> Arc<str> {
        let mut digest = hmac_sha256::Hash::new();
        digest.update(self.tool());
        digest.update("@");
        digest.update(self.version().unwrap_or_default());
        digest.update([0]);
        digest.update(&*canonical(self.input().as_str()));
        digest.update([0]);
        // Writing into a digest cannot fail.
        let _ = write!(Written(&mut digest), "{place}");
        digest.update(self.seq.to_le_bytes());
        id(&digest.finalize())
    }
}

/// Writer that feeds formatted text into a digest.
struct Written<'a>(&'a mut hmac_sha256::Hash);

impl Write for Written<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}
