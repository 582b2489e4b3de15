//! Contents of a store, as a runtime writes them.

use crate::{
    Keyring, Principal, RuntimeError,
    packed::{pack, unpack},
    run_key::RunKey,
};
use agents_core::{Budget, Code, Json, journal::Entry, tool::Scope};
use agents_store::{Committed, NewRun, Run};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Input and settings of a run, which are stored encrypted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunData {
    pub(crate) input: Json,
    pub(crate) scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<Budget>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<Principal>,
    /// Is `true` if the audit trail has the run from its start; `false` for a run of an earlier version.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) audited: bool,
    /// Id of the conversation to which the run belongs; `None` if it belongs to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) conversation: Option<String>,
    /// Is `true` if the run was started by a process that does not know the type of the agent's input.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unchecked: bool,
    /// Is `true` if the text of models is stored as it is written, for readers in other processes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) streamed: bool,
    /// Execution that the run undoes; `None` if it is no undo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) undo: Option<UndoData>,
    /// Call that the run makes for a person; `None` if it is no direct call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<CallData>,
    /// Variation of another run that this run tries, to answer with the outcome; `None` if it tries none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) what_if: Option<WhatIfData>,
}

/// Variation of a run, in which a call has another result. It is stored with the run that tries the variation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WhatIfData {
    /// Id of the run that is varied.
    pub(crate) run: String,
    /// Id of the receipt of the call that has another result in the variation.
    pub(crate) call: String,
    /// Result of the call in the variation.
    pub(crate) result: Result<Json, (Code, String)>,
}

/// Call that a person makes without a model. It is stored with the run that makes the call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallData {
    pub(crate) tool: String,
    pub(crate) version: String,
    pub(crate) args: Json,
}

/// Execution that an undo is about: its tool, its arguments and its output. It is stored with the run of the undo.
/// References stand for secrets in the arguments and in the output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct UndoData {
    pub(crate) execution: String,
    /// Id of the run whose execution is undone.
    pub(crate) run: String,
    pub(crate) tool: String,
    pub(crate) version: String,
    pub(crate) args: Json,
    pub(crate) output: Json,
}

impl RunData {
    /// Creates the data of a run with this input and scope, and with no other setting.
    pub(crate) fn new(input: Json, scope: Scope) -> Self {
        RunData {
            input,
            scope,
            budget: None,
            by: None,
            audited: true,
            conversation: None,
            unchecked: false,
            streamed: false,
            undo: None,
            call: None,
            what_if: None,
        }
    }

    /// Creates a run of this agent with this data, which is encrypted with a key of the run's own.
    pub(crate) fn run_of(
        &self,
        agent: String,
        keyring: &dyn Keyring,
    ) -> Result<NewRun, RuntimeError> {
        if let Some(by) = &self.by {
            by.has_name_of_its_own()?;
        }
        let id = Uuid::now_v7().to_string();
        let tenant = self.scope.tenant_id().to_owned();
        let (key, data_key) = RunKey::create(keyring, &tenant, &id)?;
        Ok(NewRun {
            id,
            tenant,
            agent,
            conversation: self.conversation.clone(),
            started_by: self.by.as_ref().map(|by| by.id().to_owned()),
            data: self.seal(&key)?,
            data_key,
            ..NewRun::default()
        })
    }

    /// Returns `true` if a run with this data has the same task as another one, so that one key may stand for both.
    pub(crate) fn has_task_of(&self, other: &RunData) -> bool {
        let task = |data: &RunData| {
            let RunData {
                input,
                scope,
                conversation,
                undo,
                call,
                what_if,
                ..
            } = data.clone();
            (input, scope, conversation, undo, call, what_if)
        };
        task(self) == task(other)
    }

    /// Returns `true` if the run has a [`OneCall`](crate::one_call::OneCall), with a fixed model, in place of its
    /// agent. Such a run is an undo, a direct call, or tries a variation of another run.
    pub(crate) fn is_one_call(&self) -> bool {
        self.undo.is_some() || self.call.is_some() || self.what_if.is_some()
    }

    pub(crate) fn seal(&self, key: &RunKey) -> Result<Vec<u8>, RuntimeError> {
        sealed(key, "input", self)
    }

    pub(crate) fn of(run: &Run, key: &RunKey) -> Result<RunData, RuntimeError> {
        opened(key, "input", &run.data)
    }
}

/// Unwraps the data key of a run, with which its contents are encrypted.
pub(crate) fn key_of(run: &Run, keyring: &dyn Keyring) -> Result<RunKey, RuntimeError> {
    RunKey::open(keyring, &run.tenant, &run.id, &run.data_key)
}

/// Encrypts a value with the key of the run to which it belongs.
pub(crate) fn sealed<T: Serialize>(
    key: &RunKey,
    what: &str,
    value: &T,
) -> Result<Vec<u8>, RuntimeError> {
    let text = serde_json::to_vec(value).map_err(RuntimeError::unreadable)?;
    key.seal(what, &text)
}

/// Decrypts a value with the key of the run to which it belongs.
pub(crate) fn opened<T: for<'de> Deserialize<'de>>(
    key: &RunKey,
    what: &str,
    contents: &[u8],
) -> Result<T, RuntimeError> {
    read_json(what, &key.unseal(what, contents)?)
}

fn read_json<T: for<'de> Deserialize<'de>>(what: &str, json: &[u8]) -> Result<T, RuntimeError> {
    serde_json::from_slice(json).map_err(|error| crate::wording::unreadable(what, &error))
}

/// Encrypts journal entries; `after` is the number of the entry before the first of them.
pub(crate) fn sealed_entries(
    key: &RunKey,
    after: u64,
    entries: &[Entry],
) -> Result<Vec<u8>, RuntimeError> {
    key.seal(&entries_after(after), &pack(entries)?)
}

/// Returns the text to which encrypted journal entries are bound: they can be decrypted only with the same text.
/// `after` is the number of the entry before the first of them.
fn entries_after(after: u64) -> String {
    format!("entries behind {after}")
}

/// Decrypts the journal entries of a run's commits, which have to follow each other from `after` on.
pub(crate) fn entries(
    key: &RunKey,
    mut after: u64,
    commits: &[Committed],
) -> Result<Vec<Entry>, RuntimeError> {
    let mut all = Vec::new();
    for commit in commits {
        if commit.after != after {
            return Err(crate::wording::commit_missing(after));
        }
        let what = entries_after(after);
        let json = unpack(key.unseal(&what, &commit.entries)?, after)?;
        all.append(&mut read_json(&what, &json)?);
        after = commit.last;
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
