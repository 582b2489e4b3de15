//! The control room, as an application sets it up.

use agents_control::ControlPlane;
use agents_core::secret::Secrets;
use agents_runtime::Client;
use std::{collections::BTreeSet, fmt, sync::Arc};

/// Settings of a control room, which [`serve`](crate::serve) or [`router`](crate::router) opens. For a control room
/// that only shows the runs of a store, the client of the store is enough.
///
/// ```no_run
/// use agents_control::ControlPlane;
/// use agents_runtime::{Runtime, SqliteStore};
/// use agents_server::ControlRoom;
///
/// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
/// let store = SqliteStore::open("agents.db").await?;
/// let control = ControlPlane::open(&store);
/// let client = Runtime::client(store);
/// agents_server::serve(ControlRoom::of(&client).control(&control), "127.0.0.1:7878").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ControlRoom {
    pub(crate) client: Client,
    pub(crate) control: Option<ControlPlane>,
    pub(crate) secrets: Option<Arc<dyn Secrets>>,
    pub(crate) agents: BTreeSet<String>,
}

impl ControlRoom {
    /// Creates a control room that shows the runs that the client sees.
    pub fn of(client: &Client) -> Self {
        ControlRoom {
            client: client.clone(),
            control: None,
            secrets: None,
            agents: BTreeSet::new(),
        }
    }

    /// Sets where secrets are looked up, so that the page of the tools says which ones are missing for whoever looks at
    /// it. An operator, who belongs to no tenant, is not told. No page shows a secret.
    #[must_use]
    pub fn secrets(mut self, secrets: impl Secrets) -> Self {
        self.secrets = Some(Arc::new(secrets));
        self
    }

    /// Adds a control plane, whose models and costs the control room shows.
    #[must_use]
    pub fn control(mut self, control: &ControlPlane) -> Self {
        self.control = Some(control.clone());
        self
    }

    /// Adds an agent, by its name, that everybody who is signed in may send messages to: see [JSON](crate#json). The
    /// workers that have the agent may be other processes. Without such an agent, nobody can send a message, neither
    /// over the API nor on the page of the chat.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.agents.insert(name.into());
        self
    }
}

impl fmt::Debug for ControlRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControlRoom")
            .field("client", &self.client)
            .field("control", &self.control)
            .field("agents", &self.agents)
            .field("looks_secrets_up", &self.secrets.is_some())
            .finish()
    }
}

impl From<&Client> for ControlRoom {
    fn from(client: &Client) -> Self {
        ControlRoom::of(client)
    }
}
