//! Types of a client's settings.

use serde_json::Value;
use std::time::Duration;

/// Mode in which a request offers tools to the model.
///
/// ```
/// # mod agents { pub mod ollama { pub use agents_ollama::*; } }
/// use agents::ollama::{ToolMode, ollama};
///
/// // A model of 135 million parameters keeps to no form of its own.
/// let small = ollama("smollm2:135m").tools(ToolMode::Constrained);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolMode {
    /// Offers tools through the server, and by prompt once the server refuses them for this model.
    #[default]
    Auto,
    /// Offers tools through the server, which fills in the model's template and parses the calls.
    Native,
    /// Describes tools in the prompt, with worked examples; calls are read from the text.
    Prompted,
    /// Describes tools in the prompt, with a grammar that permits only a call or an answer. For models too small to
    /// follow a format on their own.
    Constrained,
}

/// Amount of thinking before an answer: `true`, `false`, or a level. The levels `"low"`, `"medium"` and `"high"` are
/// for models that know them.
///
/// ```
/// # mod agents { pub use agents_ollama::ollama; }
/// use agents::ollama;
///
/// let quick = ollama("qwen3:4b").think(false);
/// let careful = ollama("gpt-oss:20b").think("high");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Think(pub(crate) Value);

impl From<bool> for Think {
    fn from(think: bool) -> Self {
        Think(think.into())
    }
}

impl From<&str> for Think {
    fn from(level: &str) -> Self {
        Think(level.into())
    }
}

/// Time for which the server keeps a model in memory after an answer.
///
/// ```
/// # mod agents { pub mod ollama { pub use agents_ollama::*; } }
/// use agents::ollama::KeepAlive;
/// use std::time::Duration;
///
/// let ten_minutes = KeepAlive::from(Duration::from_secs(600));
/// assert_eq!(ten_minutes, KeepAlive::from("600s"));
/// let _for_ever = KeepAlive::from(-1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KeepAlive(pub(crate) Value);

impl From<Duration> for KeepAlive {
    fn from(time: Duration) -> Self {
        let whole = time.subsec_nanos() == 0;
        KeepAlive(
            if whole {
                format!("{}s", time.as_secs())
            } else {
                format!("{}ms", time.as_millis())
            }
            .into(),
        )
    }
}

impl From<&str> for KeepAlive {
    fn from(time: &str) -> Self {
        KeepAlive(time.into())
    }
}

impl From<i64> for KeepAlive {
    /// Converts seconds; a negative number means for ever, and zero unloads the model right after the answer.
    fn from(seconds: i64) -> Self {
        KeepAlive(seconds.into())
    }
}
