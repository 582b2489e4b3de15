//! Typed edges of an agent: its input, and the message that a model gets for it.

use serde::{Serialize, de::DeserializeOwned};
use std::{any::Any, path::PathBuf};

/// Bound on everything that enters or leaves an agent: data that can be stored and read back.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Agent, agent::Data};
///
/// // Code about any agent says what goes in and out with this one bound.
/// async fn each<I: Data, A: Agent<In = I>>(agent: &A, inputs: Vec<I>) -> Vec<Result<A::Out, agents::Error>> {
///     let mut answers = Vec::new();
///     for input in inputs {
///         answers.push(agent.run(input).await);
///     }
///     answers
/// }
/// # let _ = each::<String, agents::agent::ModelAgent<'_, String, u32>>;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot go into an agent or come out of one",
    label = "not data that can be stored",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it, and own what it holds: a run that is put down has to be picked up again"
)]
pub trait Data: Serialize + DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> Data for T {}

/// Conversion into an agent's input `T`: from `T` itself, and from `&str` for a `String` or a
/// `PathBuf`.
#[diagnostic::on_unimplemented(
    message = "an agent that takes `{T}` cannot be given `{Self}`",
    label = "this is `{Self}`, and the agent takes `{T}`",
    note = "give it a `{T}`; of itself only `&str` becomes a `String` or a `PathBuf`"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait IntoInput<T> {
    /// Converts into the input.
    fn into_input(self) -> T;
}

impl<T> IntoInput<T> for T {
    fn into_input(self) -> T {
        self
    }
}

#[diagnostic::do_not_recommend]
impl IntoInput<String> for &str {
    fn into_input(self) -> String {
        self.to_owned()
    }
}

#[diagnostic::do_not_recommend]
impl IntoInput<PathBuf> for &str {
    fn into_input(self) -> PathBuf {
        self.into()
    }
}

/// Returns the input as the model's first user message: a string bare, any other value as JSON.
pub(crate) fn prompt_of<I: Data>(input: &I) -> String {
    match (input as &dyn Any).downcast_ref::<String>() {
        Some(text) => text.clone(),
        None => serde_json::to_string(input).unwrap_or_default(),
    }
}
