use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Reuse of the results of a tool, in place of further executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// The result may not be reused: each call runs the tool. This is the default.
    #[default]
    None,
    /// The result may be reused for this long.
    Ttl(Duration),
    /// The result may be reused for ever, because it depends on the arguments alone.
    Forever,
}
