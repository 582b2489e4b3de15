//! An agent as judge.

use super::{Score, Spent, models::Models, wording};
use agents_core::{Agent, agent::Run, rt::schemars};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Answer that a judge is to judge: the input of the judging agent.
///
/// A judge that a model drives is shown it as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Input of the judged case.
    pub input: Value,
    /// Expectation of the judged case.
    pub expected: Value,
    /// Answer to be judged.
    pub output: Value,
}

/// Verdict of a judge: the answer of that agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(crate = "agents_core::rt::schemars")]
pub struct Verdict {
    /// The reason, in one sentence.
    // Before the verdict: a model that writes its reason first judges better.
    pub reason: String,
    /// Is `true` if the answer is good enough.
    pub passes: bool,
}

/// Has the judging agent judge one answer, and returns its verdict as a score.
pub(super) async fn judge<J: Agent<In = Judged, Out = Verdict>>(
    run: Run<'_, J>,
    models: &Models,
    recording: &str,
) -> (Score, Spent) {
    match models.outcome(run, recording).await {
        Ok(outcome) => {
            let spent = Spent::of(&outcome);
            let score = match outcome.result {
                Ok(verdict) => Score::from(verdict.passes).note(verdict.reason),
                Err(error) => Score::fail(wording::no_verdict(error)),
            };
            (score, spent)
        }
        Err(error) => (Score::fail(wording::no_verdict(error)), Spent::nothing()),
    }
}
