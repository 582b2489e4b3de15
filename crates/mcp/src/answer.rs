use serde_json::Value;

/// Answer of a person to a question of a server (MCP calls that elicitation).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// The person gave these values: an object with the names of the question's schema, or `null` for no values.
    Given(Value),
    /// The person declined to give the values.
    Declined,
    /// The person closed the question without an answer.
    Cancelled,
}
