//! System prompt of an agent.

use super::wording;
use crate::{
    Error,
    context::RunContext,
    panics::{self, guarded_while},
};
use futures_util::future::BoxFuture;
use std::{borrow::Cow, fmt::Display, future::Future, marker::PhantomData, sync::Arc};

/// System prompt of an agent: a text, or an async function that returns it.
///
/// A text is any value that converts into `Cow<str>`. A function takes nothing and returns a future of a text, or of a
/// `Result` with a text: `|| self.instructions()`.
// Public because a signature names it. Programs neither name nor implement it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no prompt",
    label = "neither a text nor an async function of one",
    note = "write `prompt = \"You are ..\"`, or `prompt = || self.instructions()` with `async fn instructions(&self) -> String`, which may also return a `Result`"
)]
pub trait IntoPrompt<'a, Kind> {
    /// Converts the value, such as a text or a function, into the agent's prompt.
    fn into_prompt(self) -> Prompt<'a>;
}

/// Marks the implementation for prompts that are texts; with such markers, the implementations do not overlap.
#[doc(hidden)]
#[derive(Debug)]
pub struct Text;

/// Marks the implementation for prompts that are functions.
#[doc(hidden)]
#[derive(Debug)]
pub struct Function<T>(T);

/// Result of an async function that writes a prompt: a text, or a `Result` with one.
// Public because a signature names it. Programs neither name nor implement it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no text for a prompt",
    label = "this function returns no text",
    note = "return `String`, or a `Result` with one"
)]
pub trait PromptText {
    /// Converts the function's result into the text of the prompt, or the error in its place.
    fn into_text(self) -> Result<String, Error>;
}

impl PromptText for String {
    fn into_text(self) -> Result<String, Error> {
        Ok(self)
    }
}

impl PromptText for &'static str {
    fn into_text(self) -> Result<String, Error> {
        Ok(self.to_owned())
    }
}

impl<T: PromptText, E: Display + 'static> PromptText for Result<T, E> {
    fn into_text(self) -> Result<String, Error> {
        self.map_err(|error| Error::of_displayed(&error))?
            .into_text()
    }
}

impl<'a, T: Into<Cow<'a, str>>> IntoPrompt<'a, Text> for T {
    fn into_prompt(self) -> Prompt<'a> {
        Prompt {
            written: None,
            text: self.into(),
        }
    }
}

impl<'a, F, R> IntoPrompt<'a, Function<R>> for F
where
    F: Fn() -> R + Send + Sync + 'a,
    R: Future<Output: PromptText> + Send + 'a,
{
    fn into_prompt(self) -> Prompt<'a> {
        Prompt {
            written: Some(Arc::new(Writer(self, PhantomData))),
            text: Cow::Borrowed(""),
        }
    }
}

/// Function that writes a system prompt, in place of a fixed text.
trait Write: Send + Sync {
    fn write(&self) -> BoxFuture<'_, Result<String, Error>>;
}

struct Writer<F, R>(F, PhantomData<fn() -> R>);

impl<F, R> Write for Writer<F, R>
where
    F: Fn() -> R + Send + Sync,
    R: Future<Output: PromptText> + Send,
{
    fn write(&self) -> BoxFuture<'_, Result<String, Error>> {
        let text = self.0();
        Box::pin(async { text.await.into_text() })
    }
}

/// System prompt: the text that a function returns, if there is one, followed by a fixed text.
#[doc(hidden)]
#[derive(Clone)]
pub struct Prompt<'a> {
    written: Option<Arc<dyn Write + 'a>>,
    text: Cow<'a, str>,
}

impl Default for Prompt<'_> {
    fn default() -> Self {
        Cow::Borrowed("").into_prompt()
    }
}

impl std::fmt::Debug for Prompt<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prompt").finish_non_exhaustive()
    }
}

impl<'a> Prompt<'a> {
    /// Returns the fixed text of the prompt, which is known before a run.
    pub(crate) fn known(&self) -> &str {
        &self.text
    }

    /// Returns this prompt, followed by another text, such as that of a skill.
    pub(crate) fn with(&self, text: &str) -> Prompt<'a> {
        Prompt {
            written: self.written.clone(),
            text: Cow::Owned(joined([&self.text, text])),
        }
    }

    /// Returns the whole text of the prompt, for a run. If a function writes the prompt, the function is called.
    pub(crate) async fn read(&self, agent: &str, cx: &RunContext) -> Result<String, Error> {
        let Some(write) = &self.written else {
            return Ok(self.text.to_string());
        };
        let what = || wording::prompt_of(agent);
        // The call that makes the future may panic, as well as the future itself.
        let work = cx.clone().enter(async { write.write().await });
        let text = guarded_while(work).await.map_err(panics::error(what()))?;
        let text = text.map_err(|error| error.context(what()))?;
        Ok(joined([&text, &self.text]))
    }
}

/// Joins the parts of a prompt that are not empty, with an empty line between them.
fn joined(texts: [&str; 2]) -> String {
    let texts: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}
