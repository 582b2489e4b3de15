//! Recording and replay of runs, and what-if variations of recorded ones.
//!
//! A [`Recording`] writes everything that a run cannot repeat to a file, one JSON object per line: the
//! models' requests and replies, tool results, the decisions of arms and approvers, the receipts, the
//! readings of the clock, the run's id. There are three ways to replay it:
//!
//! | | models | tools, arms, approvers |
//! |-|-|-|
//! | [`Replay::open`]: test your code on recorded replies | from the file | run |
//! | [`Bundle::replay`]: see what happened | from the file | from the file |
//! | [`Bundle::what_if`]: see what would have happened | from the file, or live after the first difference | the same |
//!
//! A request that is not in the file ends the replay with
//! [`ErrorKind::Replay`](crate::ErrorKind::Replay), which describes the first difference.
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
