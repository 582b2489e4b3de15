//! Runs that survive their process: the facts of a run, stored as they happen.
//!
//! [`Run::journal`](agents_core::agent::Run::journal) takes a journal. With an empty journal the run starts, with that of an
//! unfinished run it continues, and with that of a finished run it returns the stored outcome.
//!
//! ```
//! use agents::{prelude::*, journal::FileJournal};
//!
//! # use agents::testing::{Script, ScriptedModel};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = std::env::temp_dir().join(format!("agents-doc-journal-{}", std::process::id()));
//! # let key = b"at least 16 bytes that nobody else knows";
//! let adder = AgentBuilder::<String, u32>::new("adder").prompt("Add.").build();
//!
//! # let (model, _) = ScriptedModel::new([Script::text("4")]);
//! let journal = FileJournal::open(&path, key)?;
//! assert_eq!(adder.run("2 + 2").model(model).journal(journal).await?, 4);
//!
//! // Another process, later: nothing is asked.
//! let journal = FileJournal::open(&path, key)?;
//! assert_eq!(adder.run("2 + 2").journal(journal).await?, 4);
//! # std::fs::remove_file(path)?;
//! # Ok(())
//! # }
//! ```

mod chain;
mod file;
#[cfg(feature = "recordings")]
mod replays;
mod wording;

#[cfg(feature = "recordings")]
pub use agents_core::journal::{
    Asked, Began, CallStep, Difference, Ended, Followed, Follower, Recorded, RecordedCall,
    RecordedModel, WhatIf,
};
pub use agents_core::journal::{Entry, Journal, JournalError, MemoryJournal};
pub use chain::Key;
pub use file::FileJournal;
#[cfg(feature = "recordings")]
pub use file::recorded;
#[cfg(feature = "recordings")]
pub use replays::{assert_replays, written};
