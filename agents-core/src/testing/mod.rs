//! Scripted model for tests, and a handle that inspects the requests that the model received.
//!
//! With the feature `testing`, every run checks at its end that its facts lead to the state that the run is in.
//! Programs that measure runs turn the check off: [`check_runs`].
//!
//! ```
//! # use agents_core as agents;
//! use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), agents::Error> {
//! // The second value is the same model, kept to ask what it has received.
//! let (model, asked) = ScriptedModel::new([Script::text("Forty-two."), Script::text("42")]);
//! let adder = AgentBuilder::<String, u32>::new("adder").prompt("Add.").model(model).build();
//!
//! assert_eq!(adder.run("17 + 25").await?, 42);
//! // The first answer is no number, so the model was asked again.
//! assert_eq!(asked.count(), 2);
//! assert_eq!(asked.requests()[0].last(), "17 + 25");
//! # Ok(())
//! # }
//! ```

mod scripted;

pub use crate::checks::check_runs;
pub use scripted::{ReceivedRequest, Script, ScriptedModel};
