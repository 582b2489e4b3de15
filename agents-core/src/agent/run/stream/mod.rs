//! A run as a stream: of its events, of the answer's text, of partial answers.

mod partial;
mod text;

pub use partial::{Partial, PartialStream};
pub use text::{TextDelta, TextFollower, TextStream};

use super::{Agent, Run};
use crate::{
    Error,
    run::{Event, Outcome},
};
use futures_core::Stream;
use futures_util::future::BoxFuture;
use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    mem,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

impl<'a, A: Agent> Run<'a, A> {
    /// Makes the run a stream of its events. [`RunStream::text`] and [`RunStream::partials`] make it a stream of the
    /// answer's text, or of the answer as far as it is written.
    ///
    /// The run begins when the stream is first polled, and goes on only while the stream is polled. So a slow reader
    /// slows the run down, and no event is lost. Only the events of one poll of the run, and those of tasks that the
    /// run has spawned, wait to be read. The deadlines of the run go on meanwhile. Dropping the stream ends the run at
    /// once, like dropping the run.
    ///
    /// The stream borrows the agent. For a stream that outlives the current function, as the response of a web server
    /// does, call [`owned`](Run::owned) first. Subscribers of [`on_event`](Run::on_event) are called as well.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
    /// use agents::run::EventKind;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::text("Good morning")]);
    /// # let greeter = AgentBuilder::<String, String>::new("greeter").model(model).build();
    /// let mut stream = greeter.run("Greet me").stream();
    /// let mut page = String::new();
    /// while let Some(event) = stream.next().await {
    ///     if let EventKind::Text(piece) = event.kind {
    ///         page.push_str(&piece);
    ///     }
    /// }
    /// let outcome = stream.outcome().await?;
    /// assert_eq!(page, outcome.result?);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use = "a run does nothing until its stream is read"]
    pub fn stream(self) -> RunStream<'a, A::Out> {
        let queue = Arc::new(Queue::default());
        let reader = Arc::downgrade(&queue);
        // Without a reader, as after `outcome`, nothing is kept.
        let told = move |event: &Event| reader.upgrade().iter().for_each(|queue| queue.push(event));
        let run = self.on_event(told);
        RunStream {
            queue,
            state: State::Running(Box::pin(run.outcome())),
        }
    }
}

/// Events of a run in order, and then its outcome; made by [`Run::stream`].
///
/// The type is a [`Stream`], is `Send`, and needs no pinning. It is `'static` if the run [owns](Run::owned) its agent.
/// [`next`](RunStream::next) reads it without a further crate.
#[must_use = "a run does nothing until its stream is read"]
pub struct RunStream<'a, O> {
    queue: Arc<Queue>,
    state: State<'a, O>,
}

enum State<'a, O> {
    Running(BoxFuture<'a, Result<Outcome<O>, Error>>),
    Ended(Box<Result<Outcome<O>, Error>>),
}

/// Events of a run that its stream has not read yet. They come from the run itself, and from work that it has spawned
/// in other tasks.
#[derive(Default)]
struct Queue(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    events: VecDeque<Event>,
    /// Waker of the reader, while the reader waits for an event. Work in other tasks may report an event while the run
    /// itself is idle.
    reader: Option<Waker>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, event: &Event) {
        let mut waiting = self.lock();
        waiting.events.push_back(event.clone());
        let reader = waiting.reader.take();
        drop(waiting);
        reader.into_iter().for_each(Waker::wake);
    }

    fn next(&self) -> Option<Event> {
        self.lock().events.pop_front()
    }

    /// Returns the next event; if there is none, has the reader woken when one comes.
    fn next_or_wake(&self, reader: &Waker) -> Option<Event> {
        let mut waiting = self.lock();
        let event = waiting.events.pop_front();
        if event.is_none() {
            waiting.reader = Some(reader.clone());
        }
        event
    }
}

impl<'a, O> RunStream<'a, O> {
    /// Returns the next event; `None` if the run has ended and all events were read.
    ///
    /// Nothing is lost if the returned future is dropped, as in a `select!`.
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Returns the outcome of the run, as [`Run::outcome`] does. If the run has not ended, it goes on to its end, and
    /// the remaining events are left out.
    ///
    /// # Errors
    /// When the run could not start as it is configured; later errors are in [`Outcome::result`].
    pub async fn outcome(self) -> Result<Outcome<O>, Error> {
        drop(self.queue);
        match self.state {
            State::Running(run) => run.await,
            State::Ended(outcome) => *outcome,
        }
    }

    /// Makes this a stream of the answer's text.
    ///
    /// The text is that of the model whose answer becomes the answer of the run. Models that answer within a call or a
    /// repair, such as those of delegates and of repair agents, are left out. If several agents write the answer one
    /// after the other, as with `then`, the text of the next one takes the place of the one before. Of
    /// agents that write at the same time, the stream follows the one whose model was asked last.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
    /// use agents::agent::TextDelta;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::text("Good morning")]);
    /// # let greeter = AgentBuilder::<String, String>::new("greeter").model(model).build();
    /// let mut text = greeter.run("Greet me").stream().text();
    /// let mut page = String::new();
    /// while let Some(delta) = text.next().await {
    ///     match delta {
    ///         TextDelta::Piece(piece) => page.push_str(&piece),
    ///         // The model called a tool after these words, or its answer did not fit.
    ///         TextDelta::Reset => page.clear(),
    ///     }
    /// }
    /// assert_eq!(page, text.outcome().await?.result?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn text(self) -> TextStream<'a, O> {
        TextStream::new(self)
    }

    /// Returns the outcome of the run; `None` if it has not ended, or could not start.
    fn ended(&self) -> Option<&Outcome<O>> {
        match &self.state {
            State::Ended(outcome) => (**outcome).as_ref().ok(),
            State::Running(_) => None,
        }
    }
}

// No value is pinned in its place: the future of the run is on the heap.
impl<O> Unpin for RunStream<'_, O> {}

impl<O> Stream for RunStream<'_, O> {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let this = &mut *self;
        if let Some(event) = this.queue.next() {
            return Poll::Ready(Some(event));
        }
        let State::Running(run) = &mut this.state else {
            return Poll::Ready(None);
        };
        // While the run is polled here, its own events need to wake nobody.
        this.queue.lock().reader = None;
        match run.as_mut().poll(cx) {
            Poll::Ready(outcome) => {
                drop(mem::replace(
                    &mut this.state,
                    State::Ended(Box::new(outcome)),
                ));
                Poll::Ready(this.queue.next())
            }
            Poll::Pending => match this.queue.next_or_wake(cx.waker()) {
                Some(event) => Poll::Ready(Some(event)),
                None => Poll::Pending,
            },
        }
    }
}

impl<O> fmt::Debug for RunStream<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunStream")
            .field("has_ended", &matches!(self.state, State::Ended(_)))
            .finish_non_exhaustive()
    }
}
