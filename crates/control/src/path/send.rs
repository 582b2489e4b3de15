//! Sending of one request.

use super::{Call, Sent, hold::Holding};
use crate::Candidate;
use agents_core::model::{Delta, Model, ModelError, Patience, Reply, Request};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tokio::time::Instant;
use tracing::Instrument;

/// Record of whether a part of the present reply was streamed to the caller. If the reply then breaks off, the next
/// model of the profile is asked and not the same one again, unless it is the last.
#[derive(Default)]
pub(super) struct Streamed(AtomicBool);

impl Streamed {
    pub(super) fn anything(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// Asks a model, and records whether it streams a part of its reply.
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
    /// Sends the request to one model, once, and settles what was held for it.
    pub(super) async fn send(
        &mut self,
        client: &dyn Model,
        to: &Candidate,
        patience: Patience,
        mut holding: Holding,
    ) -> Result<Box<Reply>, ModelError> {
        let begun = Instant::now();
        let request = self.request.with_patience(patience);
        holding.span = self.span(to, &holding.id);
        let asked = self.streamed.ask(client, request);
        let result = asked.instrument(holding.span.clone()).await;
        let took = begun.elapsed();
        let cost = self.settle(holding, to, &result, took).await;
        self.sends.push(Sent {
            to: to.clone(),
            took,
            error: result.as_ref().err().cloned(),
            cost: cost.map(crate::Cost::of_nanos),
        });
        let mut reply = result?;
        reply.model.get_or_insert_with(|| client.id().to_owned());
        Ok(Box::new(reply))
    }
}
