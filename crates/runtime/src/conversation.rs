//! Conversations as a store has them: read from any process, kept up to date by workers.

use crate::{
    Action, Client, Principal, RuntimeError, RuntimeErrorKind,
    data::{key_of, opened, sealed},
    run_key::RunKey,
};
use agents_core::{
    agent::{Conversation, Shorten},
    model::Message,
};
use agents_store::{Run, RunFilter, RunStatus};
use std::{fmt, sync::Arc};

/// Number of runs that one request reads from the store.
const PAGE: u32 = 100;

/// Stored conversation, by its tenant and its id: its messages, its runs, and its erasure. [`Client::conversation`] and
/// [`Chat::stored`](crate::Chat::stored) return it. [`Chat`](crate::Chat) has an example.
///
/// ```
/// use agents::prelude::*;
/// use agents_runtime::{Principal, Runtime, SqliteStore};
/// # use agents::testing::{Script, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, _) = ScriptedModel::new([Script::text("A machine tool.")]);
/// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
/// # let support = runtime.agent(AgentBuilder::<String, String>::new("support").build());
/// let ada = Principal::new("ada", "acme");
/// support.chat("case-7").scope("acme").send("What is a lathe?").by(&ada).await?;
///
/// // From any process, without agents:
/// let case = runtime.as_client().conversation("acme", "case-7");
/// assert!(case.was_begun_by(&ada).await?);
/// assert_eq!(case.runs().await?.len(), 1);
///
/// // Ada wants to be forgotten.
/// assert_eq!(case.erase(&Principal::operator()).await?, 1);
/// assert!(case.messages().await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ConversationRef {
    client: Client,
    tenant: String,
    id: String,
}

impl ConversationRef {
    pub(crate) fn new(client: Client, tenant: String, id: String) -> Self {
        ConversationRef { client, tenant, id }
    }

    /// Returns the id of the conversation.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the messages of the conversation, tool calls and their results included; none if there is no such
    /// conversation, or if the run that stored its messages last was erased. A message whose run is not over is left
    /// out, and so is what was left out to [shorten](crate::AgentRef::shorten) the conversation.
    ///
    /// # Errors
    /// When the keys of the last run are gone, the contents were altered, or the store fails.
    pub async fn messages(&self) -> Result<Vec<Message>, RuntimeError> {
        let said = self.snapshot().await?;
        Ok(said.map_or_else(Vec::new, |said| said.messages().to_vec()))
    }

    /// Returns the conversation so far, to go on with it [in another program](agents_core::agent::Chat::resume); `None`
    /// if no message is over, or if the run that stored the messages last was erased.
    ///
    /// # Errors
    /// When the keys of the last run are gone, the contents were altered, or the store fails.
    pub async fn snapshot(&self) -> Result<Option<Conversation>, RuntimeError> {
        let store = self.client.bare_store();
        let Some(stored) = store.conversation(&self.tenant, &self.id).await? else {
            return Ok(None);
        };
        let Some(run) = &stored.run else {
            return Ok(None);
        };
        let run = self.client.known(run).await?;
        let key = key_of(&run, &*self.client.keys()?)?;
        opened(&key, &name_of(&self.id), &stored.contents).map(Some)
    }

    /// Returns the runs of the conversation, one for each message, the newest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn runs(&self) -> Result<Vec<Run>, RuntimeError> {
        let mut all = self.runs_behind(None).await?;
        all.reverse();
        Ok(all)
    }

    /// Returns the runs of the conversation behind the one with this id, the oldest first: the messages that have come
    /// since. Without an id, these are all runs.
    ///
    /// # Errors
    /// When there is no run with this id, or the store fails.
    pub(crate) async fn runs_behind(&self, run: Option<&str>) -> Result<Vec<Run>, RuntimeError> {
        let mut filter = RunFilter {
            after: run.map(str::to_owned),
            oldest_first: true,
            limit: PAGE,
            ..self.filter()
        };
        let mut all = Vec::new();
        loop {
            let page = self.client.runs(&filter).await?;
            let is_full = page.len() >= PAGE as usize;
            all.extend(page);
            match all.last() {
                Some(last) if is_full => filter.after = Some(last.id.clone()),
                _ => return Ok(all),
            }
        }
    }

    /// Returns the run of the first message; `None` if there is no such conversation.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn first_run(&self) -> Result<Option<Run>, RuntimeError> {
        let oldest = RunFilter {
            oldest_first: true,
            limit: 1,
            ..self.filter()
        };
        Ok(self.client.runs(&oldest).await?.pop())
    }

    /// Returns the run of the last message that is over; `None` if none is. The messages before it are over as well.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn last_done(&self) -> Result<Option<Run>, RuntimeError> {
        let newest = RunFilter {
            status: Some(RunStatus::Done),
            limit: 1,
            ..self.filter()
        };
        Ok(self.client.runs(&newest).await?.pop())
    }

    /// Returns `true` if the principal began the conversation, that is, started the first of its runs; `false` if there is
    /// no such conversation. This also holds after that run was erased, when a pseudonym is in place of the name.
    ///
    /// # Errors
    /// When the store fails, or the keys cannot be read.
    pub async fn was_begun_by(&self, by: &Principal) -> Result<bool, RuntimeError> {
        let is_of_tenant = by.tenant().is_none_or(|own| own == self.tenant);
        if !is_of_tenant || by.has_name_of_its_own().is_err() {
            return Ok(false);
        }
        let Some(first) = &self.first_run().await? else {
            return Ok(false);
        };
        let Some(name) = &first.started_by else {
            return Ok(false);
        };
        Ok(self.client.names_of(by, &self.tenant)?.contains(name))
    }

    /// Returns `true` if the principal may read the conversation and write in it: a conversation is its author's, that
    /// is, whoever began it or is the user whom it works for. The operator may read and write everywhere. Others of the
    /// tenant may if the [roles](crate::Roles::share_conversations) say so, or if they have a role to see contents. A conversation that a program began, for no
    /// user, is open to whoever may [see contents](Client::may_see_contents), and one that has not begun to everybody of
    /// the tenant.
    ///
    /// # Errors
    /// When the store fails, or the keys cannot be read.
    pub async fn admits(&self, by: &Principal) -> Result<bool, RuntimeError> {
        if by.tenant().is_some_and(|own| own != self.tenant) {
            return Ok(false);
        }
        let Some(first) = self.first_run().await? else {
            return Ok(true);
        };
        if by.is_operator() || self.client.shares_conversations(by) || self.was_begun_by(by).await?
        {
            return Ok(true);
        }
        let user = match self.client.data_of(&first) {
            Ok(data) => data.scope.user_id,
            Err(error) if error.kind() == RuntimeErrorKind::Sealed => None,
            Err(error) => return Err(error),
        };
        Ok(match (user, &first.started_by) {
            (Some(user), _) => user == by.id(),
            (None, Some(_)) => false,
            (None, None) => self.client.may_see_contents(by),
        })
    }

    /// Erases the contents of the conversation and of all of its runs, as [`Client::erase`] does for one run. Returns the
    /// number of runs. A later message begins the conversation anew. A refusal is in the audit trail of the conversation's
    /// newest run.
    ///
    /// # Errors
    /// When the conversation does not exist for this principal, the [roles](crate::Roles) forbid it, a run of the
    /// conversation is not over, or the store fails. Calling it again goes on.
    pub async fn erase(&self, by: &Principal) -> Result<u64, RuntimeError> {
        // With another keyring nothing can be erased, and no refusal can be told.
        self.client.store().await?;
        let runs = self.runs().await?;
        let no_conversation = || crate::wording::no_conversation(&self.id);
        let newest = runs.first().ok_or_else(no_conversation)?;
        let allowed = match by.tenant().is_none_or(|own| own == self.tenant) {
            true => self.client.allow(Action::Erase, by),
            false => Err(no_conversation()),
        };
        if let Err(error) = &allowed {
            let refused = self
                .client
                .refused(newest, Some(by.id()), None, None, error);
            refused.await;
        }
        allowed?;
        if let Some(open) = runs.iter().find(|run| run.status != RunStatus::Done) {
            return Err(crate::wording::conversation_at_work(
                &self.id,
                &open.id,
                open.status,
            ));
        }
        self.client.erase_all(runs, by).await
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the filter that chooses the conversation's runs.
    fn filter(&self) -> RunFilter {
        RunFilter {
            tenant: Some(self.tenant.clone()),
            conversation: Some(self.id.clone()),
            ..RunFilter::default()
        }
    }
}

impl fmt::Debug for ConversationRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConversationRef")
            .field("tenant", &self.tenant)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Conversation of the run that a worker goes on with.
pub(crate) struct Talk {
    /// Conversation as the previous run has stored it; `None` for the first run of the conversation.
    pub(crate) before: Option<Conversation>,
    pub(crate) shorten: Option<Arc<dyn Shorten>>,
}

impl Client {
    /// Returns the conversation of a tenant, which need not be there yet. A tenant is named by the scope of its runs; `""`
    /// if there are no tenants.
    pub fn conversation(
        &self,
        tenant: impl Into<String>,
        id: impl Into<String>,
    ) -> ConversationRef {
        ConversationRef::new(self.clone(), tenant.into(), id.into())
    }

    /// Returns the conversation that a run belongs to; `None` if it belongs to none.
    pub(crate) fn conversation_of(&self, run: &Run) -> Option<ConversationRef> {
        let id = run.conversation.as_ref()?;
        Some(self.conversation(&run.tenant, id))
    }

    /// Returns `true` if a principal may see the contents of this run: whoever may [see contents](Self::may_see_contents)
    /// may, and of a conversation only if the [conversation](ConversationRef::admits) is for the principal.
    ///
    /// # Errors
    /// When the store fails, or the keys cannot be read.
    pub async fn may_see_contents_of(
        &self,
        run: &Run,
        by: &Principal,
    ) -> Result<bool, RuntimeError> {
        match self.conversation_of(run) {
            Some(conversation) if self.may_see_contents(by) => conversation.admits(by).await,
            _ => Ok(self.may_see_contents(by)),
        }
    }

    /// Returns the first run of the same conversation that comes before this one and is not over; `None` if there is
    /// none. This run goes on when there is none.
    pub(crate) async fn before_in_conversation(
        &self,
        run: &Run,
    ) -> Result<Option<Run>, RuntimeError> {
        let Some(conversation) = self.conversation_of(run) else {
            return Ok(None);
        };
        let runs = conversation.runs().await?;
        let earlier = runs.into_iter().rev().take_while(|one| one.id != run.id);
        let mut open = earlier.filter(|one| one.status != RunStatus::Done);
        Ok(open.next())
    }

    /// Returns `true` if the principal wrote to the agent of this run: in its conversation, or with an instruction.
    pub(crate) async fn wrote_to_the_agent(
        &self,
        run: &Run,
        by: &Principal,
    ) -> Result<bool, RuntimeError> {
        let names = self.names_of(by, &run.tenant)?;
        if self.has_instructed(run, &names).await? {
            return Ok(true);
        }
        let Some(conversation) = self.conversation_of(run) else {
            return Ok(false);
        };
        for name in names {
            let written = RunFilter {
                started_by: Some(name),
                limit: 1,
                ..conversation.filter()
            };
            if !self.runs(&written).await?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the two names that runs of a tenant may have for a principal who started them: the id and, after they
    /// were erased, its pseudonym.
    fn names_of(&self, by: &Principal, tenant: &str) -> Result<[String; 2], RuntimeError> {
        let audit_key = self.keys()?.audit_key().map_err(RuntimeError::sealed)?;
        let id = by.id().to_owned();
        Ok([audit_key.pseudonym(tenant, &id), id])
    }
}

/// Encrypts the conversation, which a run stores at its end for the next one.
pub(crate) fn seal_conversation(
    conversation: &Conversation,
    run: &Run,
    key: &RunKey,
) -> Result<Vec<u8>, RuntimeError> {
    let id = run.conversation.as_deref().unwrap_or_default();
    sealed(key, &name_of(id), conversation)
}

fn name_of(id: &str) -> String {
    format!("conversation {id}")
}
