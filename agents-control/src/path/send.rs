//! One request on the wire.

use super::{Call, Sent};
use crate::Candidate;
use agents_core::model::{Delta, Model, ModelError, Patience, Reply, Request};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tokio::time::Instant;

/// Record of whether a part of the reply under way was streamed.
#[derive(Default)]
pub(super) struct Streamed(AtomicBool);

impl Streamed {
    pub(super) fn anything(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// Asks a model, and notes whether it streams a part of its reply.
    async fn ask(&self, model: &dyn Model, request: Request<'_>) -> Result<Reply, ModelError> {
        self.0.store(false, Relaxed);
        let Some(sink) = request.sink() else {
            return model.chat(request).await;
        };
        let noted = |delta: Delta<'_>| {
            self.0.store(true, Relaxed);
            sink(delta);
        };
        model.chat(request.with_sink(&noted)).await
    }
}

impl Call<'_> {
    /// Sends the request to one model, once.
    pub(super) async fn send(
        &mut self,
        client: &dyn Model,
        to: &Candidate,
        patience: Patience,
    ) -> Result<Box<Reply>, ModelError> {
        let begun = Instant::now();
        let request = self.request.with_patience(patience);
        let result = match request.check_media(client) {
            Ok(()) => self.streamed.ask(client, request).await,
            Err(error) => Err(error),
        };
        self.sends.push(Sent {
            to: to.clone(),
            took: begun.elapsed(),
            error: result.as_ref().err().cloned(),
        });
        let mut reply = result?;
        reply.model.get_or_insert_with(|| client.id().to_owned());
        Ok(Box::new(reply))
    }
}
