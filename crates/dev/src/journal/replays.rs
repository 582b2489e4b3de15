//! A recording as a test: written as text, and replayed with the code of today.

use super::{Entry, Key, recorded};
use agents_core::{Agent, agent::Run};

/// Replays a recorded run with the code of today, and panics if the run goes otherwise now. The message names the first
/// recorded fact from which it departs. `text` is that of a journal's file, as [`written`] and `agents test from RUN`
/// write it, or as a [`FileJournal`](super::FileJournal) without a key has it. `start` makes the run of the recorded
/// input.
///
/// See [`Run::replay`] for what runs, and what is given again. The function blocks, so it is for tests that are not async;
/// the others await [`Run::replay`].
///
/// ```
/// use agents::{journal::{self, MemoryJournal}, prelude::*, testing::{Script, ScriptedModel}};
///
/// /// You name capitals.
/// #[agent]
/// async fn geographer(country: String) -> String;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # let (model, _) = ScriptedModel::new([Script::text("Oslo")]);
/// # let kept = MemoryJournal::new();
/// # runtime.block_on(async { Geographer.run("Norway").model(model).journal(kept.clone()).await })?;
/// # let text = journal::written(&kept.entries())?;
/// // In a test, with `include_str!("norway.journal")`:
/// journal::assert_replays(&text, |country| Geographer.run(country));
/// # Ok(())
/// # }
/// ```
///
/// # Panics
/// When the replay differs, when the text is no journal without a key, when the recorded input does not fit the agent,
/// or when the function is called from async code.
#[track_caller]
pub fn assert_replays<'a, A: Agent + 'a>(text: &str, start: impl FnOnce(A::In) -> Run<'a, A>) {
    if let Err(why) = replayed(text, start) {
        panic!("{why}");
    }
}

fn replayed<'a, A: Agent + 'a>(
    text: &str,
    start: impl FnOnce(A::In) -> Run<'a, A>,
) -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let recorded = recorded(text, Key::none()).map_err(|error| said(&error))?;
    let input = recorded.input();
    let input = input.map_err(|error| super::wording::input_misfits(recorded.agent(), &error))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| said(&error))?;
    let replay = start(input).replay(&recorded);
    runtime.block_on(replay).map_err(|difference| {
        super::wording::no_longer_replays(recorded.agent(), recorded.run_id(), &difference)
    })
}

/// Writes entries as the text of a journal's file, one fact a line: [`recorded`] reads it again, with
/// [`Key::none`]. Such a text can be kept beside a test, and compared line by line.
///
/// ```
/// use agents::{journal::{self, Key, MemoryJournal}, prelude::*};
/// # use agents::testing::{Script, ScriptedModel};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, _) = ScriptedModel::new([Script::text("Oslo")]);
/// # let geographer = AgentBuilder::<String, String>::new("geographer").model(model).build();
/// let journal = MemoryJournal::new();
/// geographer.run("Norway").journal(journal.clone()).await?;
/// let text = journal::written(&journal.entries())?;
///
/// let run = journal::recorded(&text, Key::none())?;
/// assert_eq!(run.input::<String>()?, "Norway");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When an entry cannot be written as JSON.
pub fn written(entries: &[Entry]) -> serde_json::Result<String> {
    super::file::written(entries)
}
