//! Inboxes: an escalation climbs from the inbox of one agent at work to the inbox of the agent above it.

use super::Escalation;
use crate::model::Model;
use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{Notify, oneshot};

/// Inbox of an agent at work, which reads it while it works.
pub(crate) struct Inbox {
    agent: Arc<str>,
    above: Option<Arc<Inbox>>,
    handles: bool,
    /// Unread letters; `None` once the agent has ended its work.
    letters: Mutex<Option<VecDeque<Letter>>>,
    arrived: Notify,
}

/// Letter in the inbox of an agent at work.
pub(crate) enum Letter {
    /// The agent is asked how to resolve an escalation.
    Asked(Asked),
    /// A critical escalation was not handled: the agent ends with the escalation as its error.
    Leave(u64, Escalation),
}

/// Escalation about which an agent is asked.
pub(crate) struct Asked {
    pub(crate) escalation: Escalation,
    /// Number of the escalation; `None` if the escalation was decided before the run was stored. In that case, the
    /// agent is asked once more only for the model that it gave.
    pub(crate) ticket: Option<u64>,
    /// Is `true` if the failed agent may go on with another model.
    pub(crate) continues: bool,
    pub(crate) reply: oneshot::Sender<Reply>,
}

/// Answer of an agent that goes on with its own work.
pub(crate) struct Reply {
    /// Escalation in the form in which it climbs on.
    pub(crate) escalation: Escalation,
    /// Model with which the failed agent goes on; then the escalation climbs no further.
    pub(crate) model: Option<Arc<dyn Model>>,
}

impl From<Escalation> for Reply {
    /// Creates the reply of an agent that lets the escalation climb on.
    fn from(escalation: Escalation) -> Self {
        let model = None;
        Reply { escalation, model }
    }
}

impl Inbox {
    /// Opens the inbox of an agent that works below the agent with the inbox `above`.
    pub(crate) fn open(agent: &str, handles: bool, above: Option<Arc<Inbox>>) -> Arc<Inbox> {
        Arc::new(Inbox {
            agent: agent.into(),
            above,
            handles,
            letters: Mutex::new(Some(VecDeque::new())),
            arrived: Notify::new(),
        })
    }

    pub(crate) fn agent(&self) -> &str {
        &self.agent
    }

    pub(crate) fn above(&self) -> Option<&Arc<Inbox>> {
        self.above.as_ref()
    }

    /// Returns `true` if the agent has `on_escalation`.
    pub(crate) fn handles(&self) -> bool {
        self.handles
    }

    /// Asks the agent about an escalation. Returns `None` if the agent ends its work before it has answered.
    ///
    /// If the agent has ended before, the escalation climbs on: the task that asks was spawned then, and has outlived
    /// the agent.
    pub(crate) async fn ask(
        &self,
        escalation: Escalation,
        ticket: Option<u64>,
        continues: bool,
    ) -> Option<Reply> {
        let (reply, answer) = oneshot::channel();
        let letter = Letter::Asked(Asked {
            escalation,
            ticket,
            continues,
            reply,
        });
        match self.put(letter) {
            Some(Letter::Asked(Asked { escalation, .. })) => Some(escalation.into()),
            _ => answer.await.ok(),
        }
    }

    /// Tells the agent to end with this escalation; returns `true` if the agent is still at work.
    pub(crate) fn leave(&self, ticket: u64, escalation: Escalation) -> bool {
        self.put(Letter::Leave(ticket, escalation)).is_none()
    }

    /// Returns the next letter, as soon as there is one.
    pub(crate) async fn letter(&self) -> Letter {
        loop {
            let next = self.letters().as_mut().and_then(VecDeque::pop_front);
            match next {
                Some(letter) => return letter,
                None => self.arrived.notified().await,
            }
        }
    }

    /// Returns a guard that closes the inbox.
    pub(crate) fn attended(&self) -> Attended<'_> {
        Attended(self)
    }

    /// Adds a letter; returns it if the inbox is closed.
    fn put(&self, letter: Letter) -> Option<Letter> {
        match self.letters().as_mut() {
            Some(letters) => letters.push_back(letter),
            None => return Some(letter),
        }
        self.arrived.notify_one();
        None
    }

    fn letters(&self) -> MutexGuard<'_, Option<VecDeque<Letter>>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard of an inbox that is being read.
pub(crate) struct Attended<'a>(&'a Inbox);

impl Drop for Attended<'_> {
    /// Closes the inbox: unread escalations climb on.
    fn drop(&mut self) {
        let unread = self.0.letters().take();
        for letter in unread.into_iter().flatten() {
            if let Letter::Asked(Asked {
                escalation, reply, ..
            }) = letter
            {
                // The agent that asked may have been dropped together with this one.
                let _ = reply.send(escalation.into());
            }
        }
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox")
            .field("agent", &self.agent)
            .field("handles", &self.handles)
            .finish_non_exhaustive()
    }
}
