//! Text of the answer, as it is written.

use super::RunStream;
use crate::{
    Error,
    context::is_aside,
    run::{Event, EventKind, Outcome},
};
use futures_core::Stream;
use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
};

/// Change of the text of an answer while a model writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextDelta {
    /// The text goes on: these characters follow the text so far.
    Piece(String),
    /// The text so far is not the answer: the model called a tool after the text, the text did not fit,
    /// or a model is asked again.
    ///
    /// There is no such change before the first piece.
    Reset,
}

/// Follows the text of a run's answer while a model writes it. [`on`](TextFollower::on) takes the events of the run one
/// by one, and returns how each changes the text. They come from a [`RunStream`], a subscriber or a durable run.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, run::Event, testing::{Script, ScriptedModel}};
/// # use std::sync::{Arc, Mutex};
/// use agents::agent::{TextDelta, TextFollower};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, _) = ScriptedModel::new([Script::text("Good morning")]);
/// # let greeter = AgentBuilder::<String, String>::new("greeter").model(model).build();
/// let (page, text) = (Arc::new(Mutex::new(String::new())), Mutex::new(TextFollower::new()));
/// let shown = page.clone();
/// let show = move |event: &Event| match text.lock().unwrap().on(event) {
///     Some(TextDelta::Piece(piece)) => shown.lock().unwrap().push_str(&piece),
///     Some(TextDelta::Reset) => shown.lock().unwrap().clear(),
///     None => {}
/// };
/// greeter.run("Greet me").on_event(show).await?;
/// assert_eq!(*page.lock().unwrap(), "Good morning");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct TextFollower {
    /// Place of the agent whose text is followed; `None` before the first request to a model.
    writer: Option<String>,
    /// Is `true` if a piece of text was returned since the last [`Reset`](TextDelta::Reset).
    has_text: bool,
}

impl TextFollower {
    /// Creates a follower for a run from its beginning.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the change of the text that the next event means; `None` if the event does not change the text.
    pub fn on(&mut self, event: &Event) -> Option<TextDelta> {
        let is_writer = self.is_of_writer(event);
        match &event.kind {
            EventKind::ModelRequested {
                choosing: false, ..
            } if !is_aside(&event.place) => {
                self.writer = Some(event.place.clone());
                self.reset()
            }
            EventKind::Text(piece) if is_writer => {
                self.has_text = true;
                Some(TextDelta::Piece(piece.clone()))
            }
            EventKind::ModelReplied { calls: 1.., .. } | EventKind::AnswerFailed { .. }
                if is_writer =>
            {
                self.reset()
            }
            _ => None,
        }
    }

    /// Returns `true` if the event is one of the agent whose text is followed at present, such as its requests, its
    /// replies, and its reasoning, which is no part of the text. Returns `false` for the events of its calls, and
    /// before the first request.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
    /// use agents::{agent::TextFollower, run::EventKind};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::text("Hello.")]);
    /// # let agent = AgentBuilder::<String, String>::new("greeter").model(model).build();
    /// let mut text = TextFollower::new();
    /// let mut events = agent.run("Greet me").stream();
    /// while let Some(event) = events.next().await {
    ///     text.on(&event);
    ///     if let EventKind::Thinking(piece) = &event.kind && text.is_of_writer(&event) {
    ///         print!("{piece}");
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_of_writer(&self, event: &Event) -> bool {
        self.writer.as_ref() == Some(&event.place)
    }

    fn reset(&mut self) -> Option<TextDelta> {
        let had_text = std::mem::take(&mut self.has_text);
        had_text.then_some(TextDelta::Reset)
    }
}

/// Text of a run's answer, as it is written; made by [`RunStream::text`].
///
/// The type is a [`Stream`] of [`TextDelta`]s, as [`RunStream`] is one of events. At the end, the pieces since the last
/// [`Reset`](TextDelta::Reset) are what the model wrote. The answer itself is in the [`outcome`](TextStream::outcome):
/// it may have been repaired, or be the result of code.
#[derive(Debug)]
#[must_use = "a run does nothing until its stream is read"]
pub struct TextStream<'a, O> {
    events: RunStream<'a, O>,
    text: TextFollower,
}

impl<'a, O> TextStream<'a, O> {
    pub(super) fn new(events: RunStream<'a, O>) -> Self {
        TextStream {
            events,
            text: TextFollower::new(),
        }
    }

    /// Returns the next change of the text; `None` if the run has ended.
    ///
    /// Nothing is lost if the returned future is dropped, as in a `select!`.
    pub async fn next(&mut self) -> Option<TextDelta> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Returns the outcome of the run, as [`RunStream::outcome`] does.
    ///
    /// # Errors
    /// When the run could not start as it is configured; later errors are in [`Outcome::result`].
    pub async fn outcome(self) -> Result<Outcome<O>, Error> {
        self.events.outcome().await
    }

    /// Returns the outcome of the run; `None` if it has not ended, or could not start.
    pub(super) fn ended(&self) -> Option<&Outcome<O>> {
        self.events.ended()
    }
}

impl<O> Stream for TextStream<'_, O> {
    type Item = TextDelta;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<TextDelta>> {
        while let Some(event) = ready!(Pin::new(&mut self.events).poll_next(cx)) {
            if let Some(delta) = self.text.on(&event) {
                return Poll::Ready(Some(delta));
            }
        }
        Poll::Ready(None)
    }
}
