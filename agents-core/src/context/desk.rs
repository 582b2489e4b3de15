//! The line of agents along which escalations climb: a desk for each agent at work.

use super::{RunContext, Ticket};
use crate::{error::escalation::Escalation, model::Model};
use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{Notify, oneshot};

/// Where escalations come to an agent. The agent looks at what is there while it works.
pub(crate) struct Desk {
    agent: Arc<str>,
    above: Option<Arc<Desk>>,
    handles: bool,
    /// `None` once the agent has left.
    letters: Mutex<Option<VecDeque<Letter>>>,
    arrived: Notify,
}

/// What comes to a desk.
pub(crate) enum Letter {
    /// Somebody below could not settle something.
    Question(Question),
    /// Nobody could, and the agent has to leave with it.
    Leave(Ticket, Escalation),
}

/// An escalation that waits for this agent's word.
pub(crate) struct Question {
    pub(crate) escalation: Escalation,
    /// `None` if this was settled before the run was stored, and the model is asked for that was given then.
    pub(crate) ticket: Option<Ticket>,
    /// The failed agent could go on with another model.
    pub(crate) continues: bool,
    pub(crate) reply: oneshot::Sender<Reply>,
}

/// The word, where the agent itself goes on.
pub(crate) enum Reply {
    /// It climbs on.
    Up(Escalation),
    /// The failed agent goes on with this model.
    Model(Arc<dyn Model>, Escalation),
}

impl Desk {
    /// A desk for an agent that works at `cx`.
    pub(crate) fn open(cx: &RunContext, agent: &str, handles: bool) -> Arc<Desk> {
        Arc::new(Desk {
            agent: agent.into(),
            above: cx.desk().cloned(),
            handles,
            letters: Mutex::new(Some(VecDeque::new())),
            arrived: Notify::new(),
        })
    }

    pub(crate) fn agent(&self) -> &str {
        &self.agent
    }

    pub(crate) fn above(&self) -> Option<&Arc<Desk>> {
        self.above.as_ref()
    }

    /// Whether the agent has `on_escalation`.
    pub(crate) fn handles(&self) -> bool {
        self.handles
    }

    /// Asks the agent; `None` if it leaves while it looks at this. One that has left before lets it
    /// climb on: whoever asks then was spawned, and has outlived the agent.
    pub(crate) async fn ask(
        &self,
        escalation: Escalation,
        ticket: Option<Ticket>,
        continues: bool,
    ) -> Option<Reply> {
        let (reply, answer) = oneshot::channel();
        let letter = Letter::Question(Question {
            escalation,
            ticket,
            continues,
            reply,
        });
        match self.put(letter) {
            Some(Letter::Question(Question { escalation, .. })) => Some(Reply::Up(escalation)),
            _ => answer.await.ok(),
        }
    }

    /// Tells the agent to leave with this; says whether it is there to be told.
    pub(crate) fn leave(&self, ticket: Ticket, escalation: Escalation) -> bool {
        self.put(Letter::Leave(ticket, escalation)).is_none()
    }

    /// The next letter, as soon as there is one.
    pub(crate) async fn letter(&self) -> Letter {
        loop {
            let next = self.letters().as_mut().and_then(VecDeque::pop_front);
            match next {
                Some(letter) => return letter,
                None => self.arrived.notified().await,
            }
        }
    }

    /// The agent is at its desk until this is dropped.
    pub(crate) fn attended(&self) -> Attended<'_> {
        Attended(self)
    }

    /// Gives the letter back if nobody is there to read it.
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

/// An agent at its desk.
pub(crate) struct Attended<'a>(&'a Desk);

impl Drop for Attended<'_> {
    /// The agent leaves: what lies there unread climbs on.
    fn drop(&mut self) {
        let unread = self.0.letters().take();
        for letter in unread.into_iter().flatten() {
            if let Letter::Question(Question {
                escalation, reply, ..
            }) = letter
            {
                // Whoever asked may have been dropped with the agent.
                let _ = reply.send(Reply::Up(escalation));
            }
        }
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk")
            .field("agent", &self.agent)
            .field("handles", &self.handles)
            .finish_non_exhaustive()
    }
}
