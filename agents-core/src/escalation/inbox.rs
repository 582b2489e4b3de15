//! Inboxes: an escalation climbs from the inbox of one agent at work to the inbox of the agent above it.

use super::Escalation;
use crate::model::Model;
use crate::shared::Shared;
use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{Notify, oneshot};

/// Inbox of an agent at work, in which escalations of the agents below arrive while it works.
pub(crate) struct Inbox {
    agent: Arc<str>,
    above: Option<Shared<Inbox>>,
    handles: bool,
    /// Letters in the inbox that the agent has not read; `None` once the agent has ended its work.
    letters: Mutex<Option<VecDeque<Letter>>>,
    arrived: Notify,
}

/// Letter in the inbox of an agent: a question about an escalation, or the order to end with one.
pub(crate) enum Letter {
    /// The agent is asked how to resolve an escalation.
    Asked(Asked),
    /// A critical escalation was not handled: the agent ends with the escalation as its error.
    Leave(u64, Escalation),
}

/// Escalation about which an agent is asked, with the way to answer.
pub(crate) struct Asked {
    pub(crate) escalation: Escalation,
    /// Number of the escalation; `None` if the escalation was decided before the run was stored. In that case, the
    /// agent is asked once more, only for the model that it gave then.
    pub(crate) number: Option<u64>,
    /// Is `true` if the failed agent can go on with another model, so that the resolution `retry_with_model` is
    /// possible.
    pub(crate) continues: bool,
    pub(crate) reply: oneshot::Sender<Reply>,
}

/// Answer of an agent that goes on with its own work after it was asked about an escalation.
pub(crate) struct Reply {
    /// Escalation as it goes on to the next agent above, perhaps with other words.
    pub(crate) escalation: Escalation,
    /// Model with which the failed agent goes on; then no further agent is asked. `None` if the escalation climbs on.
    pub(crate) model: Option<Arc<dyn Model>>,
}

impl From<Escalation> for Reply {
    /// Creates the answer of an agent that passes the escalation on to the next agent above.
    fn from(escalation: Escalation) -> Self {
        let model = None;
        Reply { escalation, model }
    }
}

impl Inbox {
    /// Opens the inbox of an agent that works below the agent with the inbox `above`.
    pub(crate) fn open(agent: &str, handles: bool, above: Option<Shared<Inbox>>) -> Shared<Inbox> {
        Shared::new(Inbox {
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

    pub(crate) fn above(&self) -> Option<&Shared<Inbox>> {
        self.above.as_ref()
    }

    /// Returns `true` if the agent has a handler for escalations.
    pub(crate) fn handles(&self) -> bool {
        self.handles
    }

    /// Asks the agent about an escalation. Returns `None` if the agent has read the letter, and ends its work without
    /// an answer to it.
    ///
    /// If the agent ends before it has read the letter, or has ended already, the escalation climbs on. In the latter
    /// case, the task that asks was spawned, and has outlived the agent.
    pub(crate) async fn ask(
        &self,
        escalation: Escalation,
        number: Option<u64>,
        continues: bool,
    ) -> Option<Reply> {
        let (reply, answer) = oneshot::channel();
        let letter = Letter::Asked(Asked {
            escalation,
            number,
            continues,
            reply,
        });
        match self.put(letter) {
            Some(Letter::Asked(Asked { escalation, .. })) => Some(escalation.into()),
            _ => answer.await.ok(),
        }
    }

    /// Tells the agent to end with this escalation; returns `true` if the agent is still at work.
    pub(crate) fn leave(&self, number: u64, escalation: Escalation) -> bool {
        self.put(Letter::Leave(number, escalation)).is_none()
    }

    /// Waits for the next letter to the agent, and takes it out of the inbox.
    pub(crate) async fn letter(&self) -> Letter {
        loop {
            let next = self.letters().as_mut().and_then(VecDeque::pop_front);
            match next {
                Some(letter) => return letter,
                None => self.arrived.notified().await,
            }
        }
    }

    /// Returns a guard that closes the inbox when the agent ends its work.
    pub(crate) fn attended(&self) -> Attended<'_> {
        Attended(self)
    }

    /// Puts a letter into the inbox, which wakes the agent; returns the letter if the inbox is closed.
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

/// Guard of an inbox while its agent works. When it is dropped, the inbox is closed.
pub(crate) struct Attended<'a>(&'a Inbox);

impl Drop for Attended<'_> {
    /// Closes the inbox: escalations that the agent has not read go on to the next agent above.
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
