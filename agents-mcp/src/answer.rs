use serde_json::Value;

/// Answer of a person to a question of a server (MCP calls that elicitation).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// The person gave these values, by the names of the schema.
    Given(Value),
    /// The person declined to answer.
    Declined,
    /// The person closed the question.
    Cancelled,
}
