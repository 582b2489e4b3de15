//! Contract of the context `worlds`: what other contexts may know of it.

use agents::agent::AgentRunner;
use agents_runtime::Notification;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// World that a question is about.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct World {
    /// Id of the world.
    pub world_id: String,
}

/// Runner of the agent that knows the worlds.
pub type WorldRunner = dyn AgentRunner<About = World>;

/// Event that is published when a world looks different from before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WorldChanged {
    /// Id of the world.
    pub world_id: String,
}

impl Notification for WorldChanged {
    const NAME: &'static str = "worlds.world_changed";
}
