//! The id of a call: a digest of the tool, its version, the canonical input and the call's place
//! in the run. It is the same on any machine, whatever the order of keys and the white space.

use crate::{
    hex::hex,
    json::canonical,
    run::{CallState, Node},
};
use std::{
    fmt::{self, Write},
    sync::Arc,
};

/// The id of a call; settled once, kept for every attempt.
pub(super) fn of(call: &mut CallState, node: &Node) -> Arc<str> {
    if let Some(id) = &call.id {
        return id.clone();
    }
    let mut digest = hmac_sha256::Hash::new();
    digest.update(call.tool());
    digest.update("@");
    digest.update(call.version.as_deref().unwrap_or_default());
    digest.update([0]);
    digest.update(&*canonical(call.input().as_str()));
    digest.update([0]);
    // Writing into a digest cannot fail.
    let _ = write!(Written(&mut digest), "{}", node.path());
    digest.update(call.seq.to_le_bytes());
    let id: Arc<str> = hex(&digest.finalize()[..16]).into();
    call.id = Some(id.clone());
    id
}

/// Text that goes into a digest as it is written.
struct Written<'a>(&'a mut hmac_sha256::Hash);

impl Write for Written<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}
