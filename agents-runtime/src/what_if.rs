//! Variations of runs that are over: how would a run have ended if one of its calls had ended otherwise?

use crate::{
    Action, Client, Principal, RunRef, Runtime, RuntimeError,
    data::{RunData, WhatIfData, key_of},
    keys::RunKey,
    one_call::{self, OneCall},
    registered::Varied,
};
use agents_core::{Code, Json, journal::Recorded};
use agents_store::{NewRun, Run, RunStatus};
use std::{collections::BTreeMap, fmt::Write};
use uuid::Uuid;

/// Name of the label that the run of a variation has; its value is the id of the run that is varied.
pub const WHAT_IF: &str = "what_if";

/// Variation of a run that is about to be tried: see [`Client::what_if`].
#[must_use = "nothing is tried until `.by(..)` is awaited"]
pub struct WhatIf<'a> {
    client: &'a Client,
    run: String,
    call: String,
}

/// Variation with the result that the call has in it.
#[must_use = "nothing is tried until `.by(..)` is awaited"]
pub struct Changed<'a> {
    client: &'a Client,
    data: WhatIfData,
}

impl Client {
    /// Prepares a variation of a run that is over, in which a call has ended otherwise. `call` is the id of the receipt.
    ///
    /// A worker that has the agent goes on from there in memory, with live models and the tools that only read. The run
    /// that is returned has the outcome as its answer, in words. Nothing that writes is executed, and the run that is
    /// varied stays as it is. A control plane counts what the models cost for the run that is varied.
    ///
    /// ```no_run
    /// # async fn vary(client: agents_runtime::Client, run: &str, call: &str) -> Result<(), agents_runtime::RuntimeError> {
    /// use agents::Code;
    /// use agents_runtime::Principal;
    ///
    /// let what_if = client.what_if(run, call).error(Code::Timeout, "the archive is closed");
    /// let told = what_if.by(&Principal::operator()).await?;
    /// println!("run {} tells the outcome", told.id());
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
}

impl<'a> WhatIf<'a> {
    /// Lets the call have this output.
    pub fn output(self, output: Json) -> Changed<'a> {
        self.with(Ok(output))
    }

    /// Lets the call fail with this error, about which the arms of its tool are asked.
    pub fn error(self, code: Code, message: impl Into<String>) -> Changed<'a> {
        self.with(Err((code, message.into())))
    }

    fn with(self, result: Result<Json, (Code, String)>) -> Changed<'a> {
        let WhatIf { client, run, call } = self;
        Changed {
            client,
            data: WhatIfData { run, call, result },
        }
    }
}

impl Changed<'_> {
    /// Tries the variation for this principal. Returns the run that tells the outcome.
    ///
    /// # Errors
    /// When there is no such run for this principal, it is not over or is a part of a conversation, it has no such call,
    /// the [role](crate::Roles) of [`Action::Call`] is missing, or the store fails.
    pub async fn by(self, by: &Principal) -> Result<RunRef<String>, RuntimeError> {
        let Changed { client, data } = self;
        let run = client.visible(&data.run, by).await?;
        client.allowed(Action::Call, Some(&run.tenant), by).await?;
        let keyring = client.keys()?;
        let key = key_of(&run, &*keyring)?;
        let varied = RunData::of(&run, &key)?;
        let why_not = match &run {
            Run { status, .. } if *status != RunStatus::Done => Some(crate::wording::NOT_OVER),
            Run {
                conversation: Some(_),
                ..
            } => Some(crate::wording::OF_A_CONVERSATION),
            _ if varied.is_one_call() => Some(crate::wording::OF_NO_AGENT),
            _ => None,
        };
        if let Some(why) = why_not {
            return Err(crate::wording::not_to_vary(&run.id, why));
        }
        // Whoever asks learns at once that there is no such call.
        let recorded = client.recorded_of(&run).await?;
        journal(&run, recorded.as_ref(), &data)?;

        let id = Uuid::now_v7().to_string();
        let (key, wrapped) = RunKey::create(&*keyring, &run.tenant, &id)?;
        let labels = BTreeMap::from([(WHAT_IF.to_owned(), run.id.clone())]);
        let input = Json::of(&crate::wording::what_if_input(&run.id));
        let data = RunData {
            input: input.map_err(RuntimeError::unreadable)?,
            scope: varied.scope,
            budget: varied.budget,
            by: Some(by.clone()),
            conversation: None,
            streamed: false,
            unchecked: false,
            undo: None,
            call: None,
            what_if: Some(data),
        };
        let new = NewRun {
            id,
            tenant: run.tenant,
            key: None,
            agent: run.agent,
            conversation: None,
            started_by: Some(by.id().to_owned()),
            priority: 0,
            labels,
            data: data.seal(&key)?,
            data_key: wrapped,
        };
        let stored = client.store().await?.create(&new).await?;
        Ok(RunRef::new(client.clone(), stored.id))
    }
}

/// Returns the journal of the variation of a run.
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
    /// Goes on with the variation of a run, and returns the agent that tells its outcome.
    pub(crate) async fn varies(
        &self,
        run: &Run,
        what_if: &WhatIfData,
    ) -> Result<OneCall, RuntimeError> {
        let varied = self.client.known(&what_if.run).await?;
        let key = key_of(&varied, &*self.client.keys()?)?;
        let data = RunData::of(&varied, &key)?;
        let recorded = self.client.recorded_of(&varied).await?;
        let journal = journal(&varied, recorded.as_ref(), what_if)?;
        let agent = self.shared.agent(&run.agent);
        let agent = agent.ok_or_else(|| {
            crate::wording::not_to_vary(&varied.id, &crate::wording::no_agent(&run.agent))
        })?;
        let told = match agent.vary(data, journal, &self.settings).await {
            Ok(varied) => told(&varied),
            Err(error) => format!("There would be no answer: {error}."),
        };
        Ok(OneCall::saying(one_call::WHAT_IF, told))
    }
}

/// Tells the outcome of a variation in words.
fn told(varied: &Varied) -> String {
    let mut told = match &varied.result {
        Ok(answer) => {
            let answer = answer.to::<String>().unwrap_or_else(|_| answer.to_string());
            let partial = if varied.partial { " (incomplete)" } else { "" };
            format!("The answer would be{partial}: {answer}")
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
