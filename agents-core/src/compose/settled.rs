//! Several agents at once: each of them runs to its end.

use super::Parallel;
use crate::{Agent, Error, agent::Profile, context::RunContext};
use async_trait::async_trait;

/// Composite in which every agent runs to its end, whether the others fail or not, made by [`settled`].
#[derive(Clone, Debug)]
pub struct Settled<P> {
    parts: P,
    name: String,
}

/// Runs several agents concurrently and waits for all of them: each gives `Ok(answer)` or `Err(Failed)`, in the order
/// in which they are written. Only an error that concerns the whole run ends them at once, such as a cancellation or a
/// critical escalation.
///
/// A failure is stored with the run. When the run is resumed, an agent that has failed does not run again.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{AgentBuilder, Skill};
/// use agents::compose::settled;
/// use agents::{Agent, Error, ErrorKind};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
///
/// let number = AgentBuilder::<String, u32>::new("number")
///     .skill(Skill::native("parse", "Reads.", |text: String| async move {
///         text.parse().map_err(|_| Error::new(ErrorKind::Failed, "no number"))
///     }))
///     .build();
/// let length = AgentBuilder::<String, usize>::new("length")
///     .skill(Skill::native("count", "Counts.", |text: String| async move { Ok(text.len()) }))
///     .build();
/// let (number, length) = settled((number, length)).run("ten").await?;
/// assert_eq!(number.unwrap_err().to_string(), "agent `number` failed: no number");
/// assert_eq!(length, Ok(3));
/// # Ok(())
/// # }
/// ```
pub fn settled<P: Parallel>(parts: P) -> Settled<P> {
    let name = format!("settled{}", parts.names());
    Settled { parts, name }
}

#[async_trait]
impl<P: Parallel> Agent for Settled<P> {
    type In = P::In;
    type Out = P::Settled;

    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        self.parts.described()
    }

    fn profile(&self) -> Profile {
        self.parts.profiles()
    }

    async fn work(&self, cx: &RunContext, input: P::In) -> Result<P::Settled, Error> {
        self.parts.settle(cx, input).await
    }
}
