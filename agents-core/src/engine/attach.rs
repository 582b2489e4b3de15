//! Images and files around a request: kept by the blob store when they enter a run, and loaded when a model needs them.

use super::{call_site::CallSite, wording};
use crate::{
    blob::Blob,
    context::RunContext,
    journal::CallFact,
    media::{Attached, Collected, Content, Media},
    model::{History, Message, ModelError, ModelErrorKind},
    panics::patiently,
    tool::ToolContext,
};
use std::time::Duration;

/// Time after which a request to the blob store for an image or a file is given up.
const PATIENCE: Duration = Duration::from_secs(30);

impl CallSite<'_> {
    /// Records the images, files and tables that a tool returned, before the end of its execution is recorded.
    pub(super) async fn attach(&self, context: &ToolContext) {
        let collected = context.execution.take_collected();
        if collected.is_empty() {
            return;
        }
        let mut attached = Vec::with_capacity(collected.len());
        for one in collected {
            attached.push(keep(self.cx, one).await);
        }
        self.add(CallFact::Attached(attached)).await;
    }
}

/// Returns the task with its images and files kept by the blob store. If there is no blob store, or the store fails,
/// the run itself keeps them.
pub(super) async fn kept(cx: &RunContext, mut task: Content) -> Content {
    for media in &mut task.media {
        let collected = Collected {
            media: media.clone(),
            is_table: false,
        };
        if let Some(kept) = keep(cx, collected).await.media {
            *media = kept;
        }
    }
    task
}

/// Gives the bytes of an image or a file to the blob store. If there is no blob store, or the store fails, the run
/// itself keeps the bytes.
async fn keep(cx: &RunContext, collected: Collected) -> Attached {
    let settings = &cx.root.settings;
    let Some(bytes) = collected.media.to_bytes() else {
        return Attached::new(collected, None, None);
    };
    let Some(store) = &settings.executor.blobs else {
        return Attached::new(collected, Some(&bytes), None);
    };
    let tenant = settings.scope.tenant_id();
    let blob = Blob::new(tenant, collected.media.media_type(), &bytes);
    let url = match patiently(PATIENCE, store.put(&blob)).await {
        Ok(Ok(url)) => Some(url),
        Ok(Err(error)) => {
            tracing::warn!(%error, "an attachment is not in the blob store: the run keeps its bytes");
            None
        }
        Err(amiss) => {
            tracing::warn!("the blob store {amiss}: the run keeps the bytes of an attachment");
            None
        }
    };
    Attached::new(collected, Some(&bytes), url)
}

/// Loads the images and files of a conversation that the blob store keeps, as after a restart.
pub(super) async fn load(cx: &RunContext, history: &History) -> Result<(), ModelError> {
    let media = history.messages().iter().flat_map(Message::media);
    for media in media {
        if let Some(url) = media.to_load() {
            load_one(cx, media, url).await.map_err(|why| {
                let why = wording::media_not_loaded(&media.described(), url, &why);
                ModelError::new(ModelErrorKind::Setup, why)
            })?;
        } else if media.is_reference() {
            let why = wording::media_without_content(&media.described());
            return Err(ModelError::new(ModelErrorKind::Setup, why));
        }
    }
    Ok(())
}

async fn load_one(cx: &RunContext, media: &Media, url: &str) -> Result<(), String> {
    let Some(store) = &cx.root.settings.executor.blobs else {
        return Err(wording::NO_BLOB_STORE.to_owned());
    };
    match patiently(PATIENCE, store.get(url)).await {
        Ok(Ok(Some(bytes))) if media.load(&bytes) => Ok(()),
        Ok(Ok(Some(_))) => Err(wording::ANOTHER_BLOB.to_owned()),
        Ok(Ok(None)) => Err(wording::NO_SUCH_BLOB.to_owned()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(amiss) => Err(format!("the blob store {amiss}")),
    }
}
