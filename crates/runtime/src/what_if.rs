//! Variations of runs that are over: how would a run have ended if one of its calls had ended otherwise?

use crate::{
    Action, Client, Principal, RunRef, Runtime, RuntimeError,
    data::{RunData, WhatIfData, key_of},
    registered::Varied,
};
use agents_core::{Code, Json, journal::Recorded};
use agents_store::{NewRun, Run, RunStatus};
use std::{collections::BTreeMap, fmt::Write};

/// Name of the label that the run of a variation has; its value is the id of the run that is varied.
pub const WHAT_IF: &str = "what_if";

/// Variation of a run that is about to be tried: see [`Client::what_if`].
#[must_use = "nothing is tried until `.by(..)` is awaited"]
pub struct WhatIf<'a> {
    client: &'a Client,
    run: String,
    call: String,
}

/// Variation of a run with the result that the call has in it; [`by`](Changed::by) tries it.
#[must_use = "nothing is tried until `.by(..)` is awaited"]
pub struct Changed<'a> {
    client: &'a Client,
    data: WhatIfData,
    key: Option<String>,
}

impl Client {
    /// Prepares a variation of a run that is over, in which a call has ended otherwise. `call` is the id of the receipt.
    ///
    /// A worker that has the agent goes on from there in memory, with live models and the tools that only read. The run
    /// that is returned has the outcome as its answer, in words. No tool that writes is called, and the run that is
    /// varied stays as it is; code that is no tool, such as the body of an agent, runs as it does in any run. A control
    /// plane adds the cost of the models to the run that is varied.
    ///
    /// ```
    /// use agents::{Code, prelude::*};
    /// use agents_runtime::{Principal, Progress, Runtime, SqliteStore, WHAT_IF};
    /// use agents_store::RunFilter;
    /// # use agents::testing::{Script, ScriptedModel};
    /// use std::time::Duration;
    /// use tokio_util::sync::CancellationToken;
    ///
    /// /// Looks into the archive.
    /// #[agents::tool(reads)]
    /// async fn look_up(
    ///     /// What to look for.
    ///     name: String,
    /// ) -> Result<String, std::io::Error> {
    ///     Ok(format!("{name}: a customer since 1998"))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, _) = ScriptedModel::new([
    /// #     Script::call("look_up", r#"{"name": "ACME"}"#), Script::text("Since 1998."), Script::text("The archive is closed."),
    /// # ]);
    /// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
    /// # let clerk = runtime.agent(AgentBuilder::<String, String>::new("clerk").tool(LookUp).build());
    /// let worker = tokio::spawn(runtime.clone().work(CancellationToken::new()));
    /// let run = clerk.run("Who is ACME?").start().await?;
    /// let Progress::Done(outcome) = run.wait(Duration::from_secs(60)).await? else { panic!("it is not over") };
    /// let call = &outcome.outputs.receipts().next().unwrap().call_id;
    ///
    /// let what_if = runtime.as_client().what_if(run.id(), &**call).error(Code::NetworkError, "the archive is closed");
    /// let told = what_if.by(&Principal::operator()).await?;
    /// let Progress::Done(told) = told.wait(Duration::from_secs(60)).await? else { panic!("it is not over") };
    /// assert!(told.result?.contains("The archive is closed."));
    ///
    /// // The variations of a run are found by their label.
    /// let labels = [(WHAT_IF.to_owned(), run.id().to_owned())].into();
    /// let variations = runtime.as_client().runs(&RunFilter { labels, ..RunFilter::default() }).await?;
    /// assert_eq!(variations.len(), 1);
    /// # worker.abort();
    /// # Ok(())
    /// # }
    /// ```
    pub fn what_if(&self, run: impl Into<String>, call: impl Into<String>) -> WhatIf<'_> {
        WhatIf {
            client: self,
            run: run.into(),
            call: call.into(),
        }
    }

    /// Returns `true` if variations of a run can be tried: see [`Client::what_if`]. It is not checked whether the run
    /// has a call that can be varied.
    ///
    /// # Errors
    /// When there is no such run for this principal, its keys are gone, or the store fails.
    pub async fn may_be_varied(&self, run: &str, by: &Principal) -> Result<bool, RuntimeError> {
        let run = self.visible(run, by).await?;
        Ok(why_not(&run, &self.data_of(&run)?).is_none())
    }
}

impl<'a> WhatIf<'a> {
    /// Sets the output that the call has in the variation.
    pub fn output(self, output: Json) -> Changed<'a> {
        self.with(Ok(output))
    }

    /// Sets the error with which the call fails in the variation; the arms of its tool are asked about it.
    pub fn error(self, code: Code, message: impl Into<String>) -> Changed<'a> {
        self.with(Err((code, message.into())))
    }

    fn with(self, result: Result<Json, (Code, String)>) -> Changed<'a> {
        let WhatIf { client, run, call } = self;
        Changed {
            client,
            data: WhatIfData { run, call, result },
            key: None,
        }
    }
}

impl Changed<'_> {
    /// Sets a key by which the caller knows the variation. The same variation with the same key again is tried once: the run
    /// that is there is returned.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Tries the variation for this principal. Returns the run that tries it, and whose answer is the outcome.
    ///
    /// # Errors
    /// When there is no such run for this principal, or it has no such call; when the run is not over, is a part of a
    /// conversation, or is itself an undo, a direct call or a variation. When the principal lacks the
    /// [role](crate::Roles) of [`Action::Call`], the [key](Changed::key) belongs to another variation, the keys of the
    /// run are gone, or the store fails.
    pub async fn by(self, by: &Principal) -> Result<RunRef<String>, RuntimeError> {
        let Changed { client, data, key } = self;
        let run = client.steered(Action::Call, &data.run, by).await?;
        let varied = client.data_of(&run)?;
        if let Some(why) = why_not(&run, &varied) {
            return Err(crate::wording::not_to_vary(&run.id, why));
        }
        // Whoever asks learns at once that there is no such call.
        let recorded = client.recorded_of(&run).await?;
        journal(&run, recorded.as_ref(), &data)?;

        let labels = BTreeMap::from([(WHAT_IF.to_owned(), run.id.clone())]);
        let input = Json::of(&crate::wording::what_if_input(&run.id));
        let input = input.map_err(RuntimeError::unreadable)?;
        let data = RunData {
            budget: varied.budget,
            by: Some(by.clone()),
            what_if: Some(data),
            ..RunData::new(input, varied.scope)
        };
        let new = NewRun {
            key: key.map(|key| format!("{WHAT_IF} {key}")),
            labels,
            ..data.run_of(run.agent, &*client.keys()?)?
        };
        let stored = client.created(&new, &data).await?;
        Ok(RunRef::new(client.clone(), stored.id))
    }
}

/// Returns the reason why variations of a run cannot be tried; `None` if they can.
fn why_not(run: &Run, data: &RunData) -> Option<&'static str> {
    match run {
        Run { status, .. } if *status != RunStatus::Done => Some(crate::wording::NOT_OVER),
        Run {
            conversation: Some(_),
            ..
        } => Some(crate::wording::OF_A_CONVERSATION),
        _ if data.is_one_call() => Some(crate::wording::OF_NO_AGENT),
        _ => None,
    }
}

/// Returns the journal of the variation, which breaks off at the changed call.
fn journal(
    run: &Run,
    recorded: Option<&Recorded>,
    what_if: &WhatIfData,
) -> Result<agents_core::journal::MemoryJournal, RuntimeError> {
    let recorded =
        recorded.ok_or_else(|| crate::wording::not_to_vary(&run.id, crate::wording::NO_ENTRIES))?;
    let varied = recorded.what_if();
    let call = &*what_if.call;
    let varied = match &what_if.result {
        Ok(output) => varied.output(call, output),
        Err((code, message)) => varied.error(call, *code, message),
    };
    let journal = varied.journal();
    journal.map_err(|error| crate::wording::not_to_vary(&run.id, &error.to_string()))
}

impl Runtime {
    /// Goes on with the variation of a run in memory, and returns its outcome in words.
    pub(crate) async fn vary(&self, what_if: &WhatIfData) -> Result<String, RuntimeError> {
        let varied = self.client.known(&what_if.run).await?;
        let key = key_of(&varied, &*self.client.keys()?)?;
        let data = RunData::of(&varied, &key)?;
        let recorded = self.client.recorded_of(&varied).await?;
        let journal = journal(&varied, recorded.as_ref(), what_if)?;
        let not_to_vary = |why: &str| crate::wording::not_to_vary(&varied.id, why);
        let agent = self.shared.agent(&varied.agent);
        let agent = agent.ok_or_else(|| not_to_vary(&crate::wording::no_agent(&varied.agent)))?;
        let went = agent.vary(data, journal, &self.settings).await;
        went.map(|varied| told(&varied))
            .map_err(|error| not_to_vary(&error.to_string()))
    }
}

/// Returns the outcome of a variation in words.
fn told(varied: &Varied) -> String {
    let mut told = match &varied.result {
        Ok(()) => {
            let partial = if varied.partial { " (incomplete)" } else { "" };
            format!("The answer would be{partial}: {}", varied.outputs.response)
        }
        Err(error) => format!("There would be no answer: {error}"),
    };
    for receipt in varied.outputs.receipts() {
        let result = match (&receipt.output, &receipt.error) {
            (Some(output), _) => output.to_string(),
            (None, Some(error)) => format!("failed, {}", error.message),
            (None, None) => String::new(),
        };
        let _ = write!(told, "\n{} {}: {result}", receipt.name, receipt.input);
    }
    told
}
