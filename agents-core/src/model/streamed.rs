use super::{Delta, Model, ModelError, Reply, Request};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Record of whether a part of a reply was streamed to the caller. If so, the request is not repeated, because the
/// caller would see two beginnings.
#[derive(Default)]
pub(super) struct Streamed(AtomicBool);

impl Streamed {
    /// Asks the model, and records whether a part of its reply was streamed.
    pub(super) async fn ask(
        &self,
        model: &impl Model,
        request: Request<'_>,
    ) -> Result<Reply, ModelError> {
        let Some(sink) = request.sink() else {
            return model.chat(request).await;
        };
        let noted = |delta: Delta<'_>| {
            self.0.store(true, Relaxed);
            sink(delta);
        };
        model.chat(request.with_sink(&noted)).await
    }

    pub(super) fn anything(&self) -> bool {
        self.0.load(Relaxed)
    }
}
