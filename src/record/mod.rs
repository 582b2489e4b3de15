//! Recording and replay of runs, and what-if variations of recorded ones.
//!
//! A [`Recording`] writes what a run cannot repeat into a file, one JSON object a line: what the
//! models were asked and what they replied, what tools gave, what arms and approvers said, the receipts, the
//! readings of the clock, the run's id. There are three ways to have the run again:
//!
//! | | models | tools, arms, approvers |
//! |-|-|-|
//! | [`Replay::open`]: to try other code on what models said | from the file | run |
//! | [`Bundle::replay`]: to look at what happened | from the file | from the file |
//! | [`Bundle::what_if`]: to see where it would have gone | from the file, or live from where it parts | the same |
//!
//! A request that the file does not hold ends the replay with
//! [`ErrorKind::Replay`](crate::ErrorKind::Replay) and says where the two part.
//!
//! ```
//! use agents::{prelude::*, record::{Recording, Replay}};
//!
//! # use agents::testing::{Script, ScriptedModel};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (model, _) = ScriptedModel::new([Script::text("4")]);
//! # let path = std::env::temp_dir().join(format!("agents-doc-{}.jsonl", std::process::id()));
//! let adder = AgentBuilder::<String, u32>::new("adder").prompt("Add.").build();
//!
//! let first = adder.run("2 + 2").model(model).tape(Recording::create(&path)?).await?;
//! let again = adder.run("2 + 2").tape(Replay::open(&path)?).await?;
//! assert_eq!(first, again);
//!
//! let other = adder.run("2 + 3").tape(Replay::open(&path)?).await.unwrap_err();
//! assert!(other.to_string().contains("recorded `2 + 2`, now `2 + 3`"));
//! # std::fs::remove_file(path)?;
//! # Ok(())
//! # }
//! ```

mod bundle;
mod divergence;
mod ending;
mod recording;
mod replay;
mod tape;
mod what_if;

pub use bundle::Bundle;
pub use divergence::Divergence;
pub use recording::Recording;
pub use replay::Replay;
pub use what_if::{Call, WhatIf};
