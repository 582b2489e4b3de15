//! Stage 5, before the receipt: an output that is too large for it is kept elsewhere.

use super::Place;
use crate::{
    Json,
    blob::Blob,
    run::{Attachment, AttachmentKind},
};
use futures_util::FutureExt;
use std::{panic::AssertUnwindSafe, time::Duration};
use tokio::time::timeout;

/// A store that takes longer keeps nothing.
const PATIENCE: Duration = Duration::from_secs(30);

impl Place<'_> {
    /// Keeps the output of a settled call, if it will be cut and there is a store for it.
    pub(super) async fn put_away(&self) {
        let settings = &self.cx.root.settings;
        let Some(store) = &settings.executor.blobs else {
            return;
        };
        let output = self.with_call(|call| call.result().cloned());
        let Some(Ok(output)) = output else { return };
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
        let kept = AssertUnwindSafe(store.put(&blob)).catch_unwind();
        let url = match timeout(PATIENCE, kept).await {
            Ok(Ok(Ok(url))) => url,
            Ok(Ok(Err(error))) => {
                return tracing::warn!(tool, %error, "the whole output is not kept");
            }
            Ok(Err(_)) => return tracing::warn!(tool, "the blob store panicked"),
            Err(_) => return tracing::warn!(tool, "the blob store does not answer"),
        };
        let attachment = Attachment {
            kind: AttachmentKind::Blob,
            url,
            content_type: Some(blob.content_type().to_owned()),
            bytes: Some(text.len() as u64),
        };
        self.with_call(|call| call.attachments.push(attachment));
    }
}

/// What the text is that stands for an output.
fn content_type(output: &Json) -> &'static str {
    match output.as_str().starts_with('"') {
        true => "text/plain; charset=utf-8",
        false => "application/json",
    }
}
