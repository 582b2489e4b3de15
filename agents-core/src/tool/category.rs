use serde::{Deserialize, Serialize};

/// Category of a tool, for people who choose among many tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// The tool talks to a service.
    Api,
    /// The tool runs or reads code.
    Code,
    /// The tool reads or writes data.
    Data,
    /// The tool searches for things.
    Search,
    /// The tool does anything else. This is the default.
    #[default]
    Utility,
}
