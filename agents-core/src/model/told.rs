use super::{Delta, Model, ModelError, Reply, Request};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether something of an answer was told to whoever watches it being written: then the same request
/// is not made again, for they would see two beginnings.
#[derive(Default)]
pub(super) struct Told(AtomicBool);

impl Told {
    /// Asks the model, and notes whether it tells anything.
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
