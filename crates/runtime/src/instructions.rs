//! Instructions: people say something to the agent of a run that goes on. They are events of the audit trail.

use crate::{
    Action, Client, Principal, RunRef, RuntimeError,
    audit::{opened_by, reason},
    data::key_of,
    run_key::RunKey,
};
use agents_core::run::Instruction;
use agents_store::{AuditEvent, AuditFilter, AuditKind, Run};

/// Maximum length of an instruction, in bytes.
const LONGEST: usize = 32 * 1024;

/// Instruction to the agent of a stored run, before it is given. [`RunRef::say`] and [`Client::say`] create it;
/// [`by`](Say::by) gives it.
#[must_use = "an instruction is given with `.by(..)`"]
#[derive(Debug)]
pub struct Say {
    client: Client,
    run: String,
    text: String,
}

impl Say {
    /// Gives the instruction in the name of this principal. The agents at work are told it before their next request to
    /// the model, by whichever worker has the run. A run that waits for a decision goes on waiting.
    ///
    /// An agent that has begun its last answer is not told any more: the audit trail then has the instruction, and the
    /// events of the run do not. Except for the operator, whoever gives an instruction may not decide about requests of
    /// the run.
    ///
    /// # Errors
    /// When there is no such run for this principal, or it is over. When the [roles](crate::Roles) forbid it, or the
    /// run is one of a [conversation](crate::ConversationRef::admits) of somebody else. When the text is empty or longer than 32 KiB, the keys of the run are gone, or the store fails.
    pub async fn by(self, by: &Principal) -> Result<(), RuntimeError> {
        let Say { client, run, text } = self;
        if text.trim().is_empty() {
            return Err(crate::wording::says_nothing());
        }
        if text.len() > LONGEST {
            return Err(crate::wording::says_too_much(text.len(), LONGEST));
        }
        let stored = client.steered(Action::Say, &run, by).await?;
        if let Some(conversation) = client.conversation_of(&stored)
            && !conversation.admits(by).await?
        {
            let error = crate::wording::conversation_of_another(conversation.id(), by.id());
            client
                .refused(&stored, Some(by.id()), None, None, &error)
                .await;
            return Err(error);
        }
        let key = key_of(&stored, &*client.keys()?)?;
        let text = reason(&key, &text).ok_or_else(|| crate::wording::cannot_be_sealed(&run))?;
        client.store().await?.instruct(&run, by.id(), &text).await?;
        Ok(())
    }
}

impl<Out> RunRef<Out> {
    /// Prepares an instruction to the agents at work in the run; [`by`](Say::by) gives it. The instruction becomes a message of
    /// the user before their next request to the model. [`Steering`](agents_core::run::Steering) says who is told if the
    /// run has several agents.
    ///
    /// ```
    /// use agents::prelude::*;
    /// use agents_runtime::{Principal, Runtime, SqliteStore};
    /// # use agents::testing::{Script, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, _) = ScriptedModel::new([Script::text("The tests pass.")]);
    /// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
    /// # let mechanic = runtime.agent(AgentBuilder::<String, String>::new("mechanic").build());
    /// let run = mechanic.run("Mend the build.").start().await?;
    /// run.say("Focus on the tests.").by(&Principal::new("ada", "")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn say(&self, text: impl Into<String>) -> Say {
        self.client().say(self.id(), text)
    }
}

impl Client {
    /// Prepares an instruction to the agent of the run with this id: see [`RunRef::say`].
    pub fn say(&self, run: impl Into<String>, text: impl Into<String>) -> Say {
        Say {
            client: self.clone(),
            run: run.into(),
            text: text.into(),
        }
    }

    /// Returns `true` if one of these names has given the agent of this run an instruction.
    pub(crate) async fn has_instructed(
        &self,
        run: &Run,
        names: &[String],
    ) -> Result<bool, RuntimeError> {
        for name in names {
            let filter = AuditFilter {
                actor: Some(name.clone()),
                limit: 1,
                ..given_to(&run.id)
            };
            if !self.bare_store().audit(&filter).await?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn given_to(run: &str) -> AuditFilter {
    AuditFilter {
        run: Some(run.to_owned()),
        kind: Some(AuditKind::Instructed),
        ..AuditFilter::default()
    }
}

/// Reads the instruction that an event stores.
pub(crate) fn instruction_of(
    event: &AuditEvent,
    key: &RunKey,
) -> Result<Instruction, RuntimeError> {
    let text = opened_by(key, event.detail.as_deref().unwrap_or_default())?;
    let instruction = Instruction::new(text).with_id(event.seq.to_string());
    Ok(match &event.actor {
        Some(by) => instruction.by(by),
        None => instruction,
    })
}
