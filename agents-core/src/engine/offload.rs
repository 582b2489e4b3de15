//! Storage of outputs that are too large for a receipt.

use super::call_site::CallSite;
use crate::{
    Json,
    blob::Blob,
    journal::CallFact,
    panics::patiently,
    run::{Attachment, AttachmentKind},
};
use std::time::Duration;

/// Time after which a request to the blob store is given up, and the output is not kept.
const PATIENCE: Duration = Duration::from_secs(30);

impl CallSite<'_> {
    /// Gives the output of a call that has succeeded to the blob store, if the receipt will cut the output and the run
    /// has a blob store. A replay records what the recorded run stored.
    pub(super) async fn put_away(&self) {
        let settings = &self.cx.root.settings;
        if let Some(replay) = &settings.replay {
            if let Some(kept) = replay.kept(&self.path()) {
                self.add(CallFact::Kept(kept)).await;
            }
            return;
        }
        let Some(store) = &settings.executor.blobs else {
            return;
        };
        let output = self.with_call(|call| call.result().cloned());
        let Some(Ok(output)) = output else { return };
        let output = settings.masker.seen(&output);
        let text = output.to_text();
        if text.len() <= settings.max_output_bytes {
            return;
        }
        let blob = Blob::new(
            settings.scope.tenant_id(),
            content_type(&output),
            text.as_bytes(),
        );
        let tool = self.name();
        let url = match patiently(PATIENCE, store.put(&blob)).await {
            Ok(Ok(url)) => url,
            Ok(Err(error)) => {
                return tracing::warn!(tool, %error, "the whole output is not kept");
            }
            Err(amiss) => return tracing::warn!(tool, "the blob store {amiss}"),
        };
        let attachment = Attachment {
            kind: AttachmentKind::Blob,
            url,
            content_type: Some(blob.content_type().to_owned()),
            bytes: Some(text.len() as u64),
            sha256: None,
        };
        self.add(CallFact::Kept(attachment)).await;
    }
}

/// Returns the media type under which an output is stored.
fn content_type(output: &Json) -> &'static str {
    match output.as_str().starts_with('"') {
        true => "text/plain; charset=utf-8",
        false => "application/json",
    }
}
