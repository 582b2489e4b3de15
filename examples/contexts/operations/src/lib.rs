//! Context `operations`: an agent that looks after failures, and a subscriber that draws an atlas.

use agents::{prelude::*, tool::FnTool};
use agents_runtime::{
    Client, DeliveryError, Subscriber, Told,
    tools::{GetDlqEventDetail, ListDlqEvents, ReplayDlqEvent},
};
use std::time::Duration;
use worlds_contract::WorldChanged;

/// Agent that looks after failures.
pub struct Operations {
    /// Client of the store.
    pub client: Client,
    /// Bridge to the agent of another context. Nothing here says which one.
    pub ask_world: FnTool,
}

#[agent(tools = [
    ListDlqEvents { client: self.client.clone() },
    GetDlqEventDetail { client: self.client.clone() },
    ReplayDlqEvent { client: self.client.clone() },
    self.ask_world.clone(),
])]
impl Operations {
    /// You look after events that were not handled. Replay those whose cause is mended.
    async fn operations(&self, question: String) -> String;
}

/// Creates the subscriber that draws worlds with this function.
pub fn atlas(draw: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static) -> Subscriber {
    let take = move |changed: WorldChanged, told: Told| {
        let drawn = draw(&changed.world_id);
        async move {
            println!(
                "atlas: {} of {}: {drawn:?}",
                changed.world_id,
                told.scope().tenant_id()
            );
            drawn.map_err(DeliveryError::new)
        }
    };
    Subscriber::new("atlas", take).retry_after([Duration::from_millis(10); 2])
}
