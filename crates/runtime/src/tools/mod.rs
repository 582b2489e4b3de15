//! Tools with which agents work on dead letters and on clusters of failures (feature `tools`).
//!
//! They act for the tenant of the run, and under the name of whoever has started it; if nobody was named, under that of
//! the run's user or else of the tool. Other tenants do not exist for them. A replay and a triage ask for approval each
//! time, whatever a policy or a mode says.
//!
//! ```
//! use agents::AgentBuilder;
//! use agents_runtime::{Runtime, SqliteStore, tools};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = Runtime::open(SqliteStore::in_memory().await?);
//! let operations = AgentBuilder::<String, String>::new("operations")
//!     .prompt("You look after failures.")
//!     .tools(tools::operations(runtime.as_client()))
//!     .build();
//! let operations = runtime.agent(operations);
//! # let _ = operations;
//! # Ok(())
//! # }
//! ```
//!
//! The tools are types of their own as well, for an agent that has some of them:
//! `#[agent(tools = [ListDlqEvents { client: self.client.clone() }])]`.

mod clusters;
mod letters;

pub use clusters::{
    ClusterSeverity, ClusterVerdict, GetClusterDetail, KnownStatus, ListFailureClusters,
    TriageCluster, get_cluster_detail, list_failure_clusters, triage_cluster,
};
pub use letters::{
    AgeRange, GetDlqEventDetail, ListDlqEvents, ReplayDlqEvent, get_dlq_event_detail,
    list_dlq_events, replay_dlq_event,
};

use crate::{Client, Principal, RuntimeError};
use agents_core::{ToolContext, tool::ToolSet};

/// Returns all tools of this module, for the agents of a client's store.
pub fn operations(client: &Client) -> ToolSet {
    let client = || client.clone();
    ToolSet::new()
        .with(ListDlqEvents { client: client() })
        .with(GetDlqEventDetail { client: client() })
        .with(ReplayDlqEvent { client: client() })
        .with(ListFailureClusters { client: client() })
        .with(GetClusterDetail { client: client() })
        .with(TriageCluster { client: client() })
}

/// Returns the principal for whom a call acts, within the tenant of the run: whoever has started the run, else the
/// run's user, else one with the name of the tool. Roles from another tenant are dropped.
async fn principal(client: &Client, cx: &ToolContext) -> Result<Principal, RuntimeError> {
    let tenant = cx.tenant_id();
    let stored = client.bare_store().run(cx.run_id()).await?;
    let started_by = match stored.filter(|run| run.tenant == tenant) {
        Some(run) => client.data_of(&run)?.by,
        None => None,
    };
    Ok(match started_by {
        Some(by) if by.tenant() == Some(tenant) => by,
        Some(by) => Principal::new(by.id(), tenant),
        None => {
            let user = cx.scope().user_id.as_deref();
            Principal::new(user.unwrap_or(cx.tool()), tenant)
        }
    })
}
