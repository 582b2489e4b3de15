//! Steering of a run that goes on: instructions of people, and pauses.

use serde::{Deserialize, Serialize};
use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;

/// Handle with which people steer a run while the run goes on. [`Run::steering`](crate::agent::Run::steering) takes the
/// handle; clones steer the same run.
///
/// An instruction becomes a message of the user before the next request to the model. It is told to the agent at work
/// that answers for the run: the agent that was run, or the one to which the conversation was handed. In a
/// composition all parts are told: those at work before their next request, and later ones when they
/// begin. Delegates, repair agents and agents that code runs are not told. An agent of your own that calls
/// [`run_in`](crate::Agent::run_in) counts as a composition. Instructions that come after the last answer has begun are not
/// told: they are [left over](Steering::left_over).
///
/// A pause lets what is under way end: the request to a model, or the calls of one reply. No agent that a model drives
/// begins anything else until somebody resumes the run, delegates included. Code and a [run of its
/// own](crate::agent::Run) within the run are not held up. A pause uses up no time of the budget.
///
/// A durable run needs no handle: its steering is in the store, so that any process may steer it.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// use agents::run::{Instruction, Steering};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, handle) = ScriptedModel::new([Script::text("The tests pass.")]);
/// # let mechanic = AgentBuilder::<String, String>::new("mechanic").model(model).build();
/// let steering = Steering::new();
/// let run = mechanic.run("Mend the build.").steering(&steering);
/// steering.say(Instruction::new("Focus on the tests.").by("ada")); // mostly from another task
/// run.await?;
/// assert_eq!(handle.requests()[0].messages.len(), 2); // the task, and the instruction
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Steering {
    waiting: Arc<Mutex<VecDeque<Instruction>>>,
    paused: Arc<watch::Sender<bool>>,
}

/// Instruction of a person to the agents at work in a run that goes on.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{Instruction, Steering};
///
/// let steering = Steering::new();
/// steering.say("Focus on the tests."); // by nobody in particular
/// steering.say(Instruction::new("Leave the lock file.").by("ada").with_id("note-7"));
///
/// let told = steering.left_over();
/// assert_eq!(told[1].by.as_deref(), Some("ada"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Instruction {
    /// Text, in the words of the person.
    pub text: String,
    /// Name of the person, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Id of the instruction, if it is stored somewhere. A run is told an instruction with an id once, also if it goes on in
    /// another process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Arc<str>>,
}

impl Instruction {
    /// Creates an instruction of nobody in particular.
    pub fn new(text: impl Into<String>) -> Self {
        Instruction {
            text: text.into(),
            by: None,
            id: None,
        }
    }

    /// Names the person who gives the instruction.
    #[must_use]
    pub fn by(mut self, name: impl Into<String>) -> Self {
        self.by = Some(name.into());
        self
    }

    /// Sets the id under which the instruction is stored.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.id = Some(id.into());
        self
    }
}

impl From<&str> for Instruction {
    fn from(text: &str) -> Self {
        Instruction::new(text)
    }
}

impl From<String> for Instruction {
    fn from(text: String) -> Self {
        Instruction::new(text)
    }
}

impl Steering {
    /// Creates a handle. The run that it is given to is not paused.
    pub fn new() -> Self {
        Steering::default()
    }

    /// Gives the agent at work an instruction, which it is told before its next request to the model.
    pub fn say(&self, instruction: impl Into<Instruction>) {
        self.waiting().push_back(instruction.into());
    }

    /// Pauses the run until somebody [resumes](Steering::resume) it.
    pub fn pause(&self) {
        self.paused.send_replace(true);
    }

    /// Lets a paused run go on.
    pub fn resume(&self) {
        self.paused.send_replace(false);
    }

    /// Returns `true` if somebody has paused the run and nobody has resumed it: the run is paused, or is about to
    /// pause.
    pub fn is_paused(&self) -> bool {
        *self.paused.borrow()
    }

    /// Takes the instructions that no agent was told, in their order. After the end of the run, these are the ones that
    /// came too late.
    pub fn left_over(&self) -> Vec<Instruction> {
        self.waiting().drain(..).collect()
    }

    /// Waits until the run is not paused.
    pub(crate) async fn going(&self) {
        let mut paused = self.paused.subscribe();
        // The sender lives as long as this handle.
        let _ = paused.wait_for(|paused| !paused).await;
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Instruction>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Steering {
    fn default() -> Self {
        Steering {
            waiting: Arc::default(),
            paused: Arc::new(watch::Sender::new(false)),
        }
    }
}

impl fmt::Debug for Steering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steering")
            .field("waiting", &self.waiting().len())
            .field("paused", &self.is_paused())
            .finish()
    }
}
