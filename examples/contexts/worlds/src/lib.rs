//! Context `worlds`: an agent that knows worlds, and its runner for others.

use agents::{agent::AgentRunner, prelude::*, run::RunContext};
use agents_runtime::AgentRef;
use worlds_contract::World;

/// You know the worlds. Answer in one sentence.
#[agent]
pub async fn geographer(question: String) -> String;

/// Runner of the geographer.
pub struct Geographers {
    /// Agent for questions. It works within the run of the agent that asks.
    pub agent: Geographer,
    /// Agent for conversations, in a runtime that keeps its sessions.
    pub durable: AgentRef<String, String>,
}

#[agents::async_trait]
impl AgentRunner for Geographers {
    type About = World;

    async fn ask(&self, question: &str, about: &World) -> Result<String, Error> {
        self.agent.run(told(question, about)).await
    }

    async fn chat(&self, message: &str, session_id: &str, about: &World) -> Result<String, Error> {
        let scope = RunContext::current().map(|cx| cx.scope().clone());
        let chat = self
            .durable
            .chat(session_id)
            .scope(scope.unwrap_or_default());
        chat.send(told(message, about)).await
    }
}

fn told(words: &str, World { world_id }: &World) -> String {
    format!("World {world_id}: {words}")
}
