use super::{Delta, Request};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether something of an answer was told to whoever watches it being written: then the same request
/// is not made again, for they would see two beginnings.
#[derive(Default)]
pub(super) struct Told(AtomicBool);

impl Told {
    /// Hands on what is told, and notes that it was.
    pub(super) fn sink<'a>(
        &'a self,
        request: &Request<'a>,
    ) -> impl Fn(Delta<'_>) + Send + Sync + 'a {
        let sink = request.sink();
        move |delta| {
            self.0.store(true, Relaxed);
            if let Some(sink) = sink {
                sink(delta);
            }
        }
    }

    pub(super) fn anything(&self) -> bool {
        self.0.load(Relaxed)
    }
}
