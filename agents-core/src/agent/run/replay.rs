//! Replay of a recorded run with the code of today.

use super::{Agent, Run};
use crate::{
    Error,
    budget::Budget,
    journal::{Difference, Recorded},
    secret::shown,
};
use std::sync::Arc;

impl<A: Agent> Run<'_, A> {
    /// Replays a recorded run with the code of today, and says what the run would do differently.
    ///
    /// No model and no person is asked, and no tool runs that reads or writes: their replies, decisions and results
    /// are the recorded ones. Your own code runs: prompts, schemas, rules, arms about arguments, conversions, agents
    /// that are code, and tools without effects (`none`). Waits before a retry are skipped. What arms decided about a
    /// failed execution is taken from the recording, since the error has lost its type. A recording that breaks off is
    /// replayed as far as it goes.
    ///
    /// Work that the recorded run dropped, such as that of an agent that lost a race, does not end in the replay
    /// either. The replay waits until the run drops that work: as long as the recorded run took, and ten seconds more,
    /// but no longer than ten minutes. A run that has not dropped the work by then differs.
    ///
    /// The run has the scope and the bounds of the recorded one, except for time and money. Give it the policies again. Its
    /// input has to be [that of the recording](Recorded::input).
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
    /// use agents::{agent::ModelAgent, journal::{MemoryJournal, Recorded}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let payer = |prompt: &'static str| -> ModelAgent<'static, String, String> {
    /// #     let schema = serde_json::json!({"type": "object"});
    ///     let pay = FnTool::new("pay", "Pays.", Effects::Writes, schema, |_, _| async { Ok::<_, std::io::Error>("paid") });
    ///     AgentBuilder::new("payer").prompt(prompt).tool(pay).build()
    /// };
    /// # let (model, _) = ScriptedModel::new([Script::call("pay", r#"{"cents": 90}"#), Script::text("It is paid.")]);
    /// let journal = MemoryJournal::new();
    /// payer("Pay the bills.").run("The water bill").model(model).journal(journal.clone()).await?;
    ///
    /// let recorded = Recorded::of(journal.entries())?;
    /// let bill: String = recorded.input()?;
    /// payer("Pay the bills.").run(&*bill).replay(&recorded).await?; // nothing is paid
    ///
    /// let difference = payer("Pay all bills.").run(&*bill).replay(&recorded).await.unwrap_err();
    /// assert_eq!(
    ///     difference.to_string(),
    ///     "request 1 differs from the recording in message 1: recorded `Pay the bills.`, now `Pay all bills.` (fact 2)"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the replay differs from the recording: the first [`Difference`]. When the run does not start, or the
    /// recording is that of another agent.
    #[cfg_attr(docsrs, doc(cfg(feature = "recordings")))]
    pub async fn replay(mut self, recorded: &Recorded) -> Result<(), Difference> {
        recorded.is_of(self.agent.name())?;
        let model = recorded.model();
        let replay = Arc::new(recorded.replayed(model.clone()));
        let terms = &recorded.started().terms;
        let profile = self.agent.profile();
        let fits = terms
            .fits(self.agent.name(), profile.answer.as_ref())
            .and_then(|()| terms.take_over(&mut self.settings))
            .and_then(|()| terms.has_policies(&self.settings));
        fits.map_err(|error| recorded.does_not_start(&error))?;
        let settings = &mut self.settings;
        settings.max_output_bytes = terms.max_output_bytes;
        settings.budget = settings.budget.take().map(Budget::in_a_replay);
        settings.override_model = Some(Arc::new(model));
        settings.replay = Some(replay.clone());
        // The recording has the turns of limiters, and what was in caches.
        settings.executor.limiter = None;
        settings.journal = None;
        let outcome = self.root().outcome().await;
        let outcome = outcome.map_err(|error| recorded.does_not_start(&error))?;
        let answer = outcome.answer.as_ref();
        let answer = answer.map(|answer| shown(answer.as_str()).into_owned());
        let result: Result<_, &Error> = outcome.result.as_ref().map(|_| answer.as_deref());
        replay.compare(recorded, result)
    }
}
