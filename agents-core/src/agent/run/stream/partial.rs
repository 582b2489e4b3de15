//! Answers that are still being written.

use super::{RunStream, TextDelta, TextStream};
use crate::{
    Error,
    definition::Answer,
    evidence,
    reader::{Growing, growing},
    run::Outcome,
};
use futures_core::Stream;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use std::{
    fmt,
    future::poll_fn,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll, ready},
};

impl<'a, O: Serialize + DeserializeOwned + JsonSchema + 'static> RunStream<'a, O> {
    /// Turns the stream of events into a stream of [`Partial`]s: the answer as far as the model has written it.
    ///
    /// Each [`Partial`] has all that is known so far, and replaces the one before. If the run has an answer, the last
    /// [`Partial`] is that answer. The text comes from [`text`](RunStream::text), and is read by the schema of the
    /// answer. It is read again whenever it has grown by 1/64, so that a long answer does not cost quadratic time.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
    /// # #[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize)]
    /// # struct Recipe { title: String, steps: Vec<String> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::text(r#"{"title": "Tea", "steps": ["boil", "pour"]}"#)]);
    /// # let cook = AgentBuilder::<String, Recipe>::new("cook").model(model).build();
    /// let mut partials = cook.run("Tea?").stream().partials();
    /// while let Some(recipe) = partials.next().await {
    ///     let steps: Vec<String> = recipe.field("steps").unwrap_or_default();
    ///     println!("{} steps so far", steps.len());
    /// }
    /// assert_eq!(partials.outcome().await?.result?.steps, ["boil", "pour"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn partials(self) -> PartialStream<'a, O> {
        PartialStream {
            text: self.text(),
            so_far: String::new(),
            read_at: 0,
            last: None,
            answer: Answer::new(),
        }
    }
}

/// Answer of the type `O`, as far as the model has written it.
///
/// A string that is still being written has the characters so far. A number that may get more digits is left out, and
/// so is a field that does not fit its type yet.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(schemars::JsonSchema, Serialize, Deserialize)]
/// # struct Recipe { title: String, steps: Vec<String> }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, _) = ScriptedModel::new([Script::text(r#"{"title": "Tea", "steps": ["boil", "pour"]}"#)]);
/// # let cook = AgentBuilder::<String, Recipe>::new("cook").model(model).build();
/// let mut partials = cook.run("Tea?").stream().partials();
/// let mut last = None;
/// while let Some(recipe) = partials.next().await {
///     if let Some(title) = recipe.field::<String>("title") {
///         println!("{title}{}", if recipe.open() == Some("title") { ".." } else { "" });
///     }
///     last = Some(recipe);
/// }
/// let last = last.expect("an answer was written");
/// assert!(last.is_complete());
/// assert_eq!(last.value().unwrap().steps, ["boil", "pour"]);
/// # Ok(())
/// # }
/// ```
pub struct Partial<O> {
    json: String,
    open: Option<String>,
    is_complete: bool,
    of: PhantomData<fn() -> O>,
}

impl<O: DeserializeOwned> Partial<O> {
    /// Returns the answer so far as an `O`; `None` while it is not one, for instance because a required field is
    /// missing.
    pub fn value(&self) -> Option<O> {
        self.read(|| serde_json::from_str(&self.json).ok())
    }

    /// Returns a field so far, by its name; `None` if the field is not there yet, or is not a `T` yet.
    pub fn field<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let value: serde_json::Value = serde_json::from_str(&self.json).ok()?;
        let field = value.get(name)?;
        self.read(|| T::deserialize(field).ok())
    }

    /// Reads the answer so far. Before the answer is complete, no claim of a call is accepted, since only the run
    /// checks claims.
    fn read<T>(&self, read: impl FnOnce() -> Option<T>) -> Option<T> {
        match self.is_complete {
            true => read(),
            false => evidence::nobody(read),
        }
    }
}

impl<O> Partial<O> {
    /// Returns the answer so far as JSON, for a page or for a type of your own whose fields are optional.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Returns the path of the string that is still being written, such as `title` or `steps[2]`, and an empty path if
    /// the answer itself is that string; `None` if no string is being written.
    pub fn open(&self) -> Option<&str> {
        self.open.as_deref()
    }

    /// Returns `true` if the answer is whole, so that nothing more will be added.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn new(json: String, open: Option<String>, is_complete: bool) -> Self {
        Partial {
            json,
            open,
            is_complete,
            of: PhantomData,
        }
    }
}

impl<O> Clone for Partial<O> {
    fn clone(&self) -> Self {
        Partial::new(self.json.clone(), self.open.clone(), self.is_complete)
    }
}

impl<O> fmt::Debug for Partial<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partial")
            .field("json", &self.json)
            .field("open", &self.open)
            .field("is_complete", &self.is_complete)
            .finish()
    }
}

/// Stream of the answer of a run, as far as the model has written it. [`RunStream::partials`] makes the stream, and has
/// an example.
#[must_use = "a run does nothing until its stream is read"]
pub struct PartialStream<'a, O> {
    text: TextStream<'a, O>,
    so_far: String,
    /// Length that the text must reach before it is read again.
    read_at: usize,
    /// JSON of the last partial answer that was returned, and whether it was whole.
    last: Option<(String, bool)>,
    answer: Answer<O>,
}

impl<O: Serialize + DeserializeOwned> PartialStream<'_, O> {
    /// Waits until the answer so far has changed, and returns it; `None` if the run has ended and its answer was
    /// returned, or the run has none.
    ///
    /// Nothing is lost if the returned future is dropped, as in a `select!`.
    pub async fn next(&mut self) -> Option<Partial<O>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Returns the outcome of the run, as [`RunStream::outcome`] does.
    ///
    /// # Errors
    /// When the run could not start as it is configured; later errors are in [`Outcome::result`].
    pub async fn outcome(self) -> Result<Outcome<O>, Error> {
        self.text.outcome().await
    }

    /// Applies a change to the text, and returns the answer so far if it differs from the last one that was returned.
    fn take(&mut self, delta: TextDelta) -> Option<Partial<O>> {
        match delta {
            TextDelta::Reset => {
                self.so_far.clear();
                self.read_at = 0;
                None
            }
            TextDelta::Piece(piece) => {
                self.so_far.push_str(&piece);
                let length = self.so_far.len();
                if length < self.read_at {
                    return None;
                }
                self.read_at = length + length / 64 + 1;
                let partial = self.read()?;
                self.news(partial)
            }
        }
    }

    /// Reads the text so far as a part of the answer; `None` if nothing of it can be read.
    fn read(&self) -> Option<Partial<O>> {
        let Some(schema) = self.answer.compiled() else {
            let json = serde_json::Value::from(&*self.so_far).to_string();
            return Some(Partial::new(json, Some(String::new()), false));
        };
        let Growing { json, open, .. } = growing(&self.so_far, schema)?;
        // Only the run knows whether the answer is whole: its arms may still change it.
        Some(Partial::new(json, open, false))
    }

    /// Returns the whole answer of a run that has ended; `None` if the run has no answer, or if the answer was
    /// returned before.
    fn whole(&mut self) -> Option<Partial<O>> {
        let value = self.text.ended()?.result.as_ref().ok()?;
        let json = serde_json::to_string(value).ok()?;
        self.news(Partial::new(json, None, true))
    }

    /// Returns a partial answer only if it differs from the last one that was returned.
    fn news(&mut self, partial: Partial<O>) -> Option<Partial<O>> {
        let this = (partial.json.clone(), partial.is_complete);
        if self.last.as_ref() == Some(&this) {
            return None;
        }
        self.last = Some(this);
        Some(partial)
    }
}

// No value is pinned in its place.
impl<O> Unpin for PartialStream<'_, O> {}

impl<O: Serialize + DeserializeOwned> Stream for PartialStream<'_, O> {
    type Item = Partial<O>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Partial<O>>> {
        while let Some(delta) = ready!(Pin::new(&mut self.text).poll_next(cx)) {
            if let Some(partial) = self.take(delta) {
                return Poll::Ready(Some(partial));
            }
        }
        Poll::Ready(self.whole())
    }
}

impl<O> fmt::Debug for PartialStream<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartialStream")
            .field("so_far", &self.so_far)
            .finish_non_exhaustive()
    }
}
