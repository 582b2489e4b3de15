//! A model that writes its replies piece by piece.

use agents::{
    async_trait,
    model::{Delta, Model, ModelError, Reply, Request, ToolCall},
};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

/// Model that gives these replies in order. Before each piece of a text, the model waits once.
#[derive(Clone)]
pub(crate) struct Typing(Arc<Shared>);

struct Shared {
    replies: Mutex<VecDeque<Writing>>,
    written: AtomicUsize,
    dropped: AtomicUsize,
}

/// One reply: the pieces of its text, and then a call.
pub(crate) struct Writing {
    pieces: Vec<String>,
    call: Option<ToolCall>,
}

impl<const N: usize> From<&[&str; N]> for Writing {
    fn from(pieces: &[&str; N]) -> Writing {
        Writing {
            pieces: pieces.iter().map(ToString::to_string).collect(),
            call: None,
        }
    }
}

impl Writing {
    pub(crate) fn then_call(mut self, name: &str, arguments: &str) -> Writing {
        self.call = Some(ToolCall {
            id: String::new(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        });
        self
    }
}

/// Counts the requests that were not carried to their end.
struct Unfinished<'a>(&'a AtomicUsize);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

impl Typing {
    pub(crate) fn new<const N: usize>(replies: [impl Into<Writing>; N]) -> Typing {
        Typing(Arc::new(Shared {
            replies: Mutex::new(replies.into_iter().map(Into::into).collect()),
            written: AtomicUsize::new(0),
            dropped: AtomicUsize::new(0),
        }))
    }

    /// Returns the number of pieces that were written so far.
    pub(crate) fn written(&self) -> usize {
        self.0.written.load(SeqCst)
    }

    /// Returns the number of requests that were dropped before their end.
    pub(crate) fn dropped(&self) -> usize {
        self.0.dropped.load(SeqCst)
    }
}

#[async_trait]
impl Model for Typing {
    fn id(&self) -> &str {
        "typing"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let Writing { pieces, call } = self.0.replies.lock().unwrap().pop_front().unwrap();
        let unfinished = Unfinished(&self.0.dropped);
        for piece in &pieces {
            tokio::task::yield_now().await;
            self.0.written.fetch_add(1, SeqCst);
            if let Some(sink) = request.sink() {
                sink(Delta::Text(piece));
            }
        }
        std::mem::forget(unfinished);
        Ok(Reply {
            content: pieces.concat(),
            calls: call.into_iter().collect(),
            ..Reply::default()
        })
    }
}
