//! What can be set about a client, as values.

use serde_json::Value;
use std::{fmt, time::Duration};

/// How tools are offered to the model.
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
    /// Through the server, and by prompt once the server reports that the model does not support
    /// tools.
    #[default]
    Auto,
    /// Through the server, which fills in the model's template and parses the calls.
    Native,
    /// By prompt with worked examples; the calls are read from the text.
    Prompted,
    /// By prompt, with a grammar that only permits a call or an answer, for models too small to
    /// keep to a form.
    Constrained,
}

/// Whether a model thinks before it answers, and how much: `true`, `false`, or one of `"low"`,
/// `"medium"` and `"high"` for models that know such levels.
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

/// How long the server keeps a model in memory after an answer.
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
    /// Seconds; negative is for ever, zero unloads at once.
    fn from(seconds: i64) -> Self {
        KeepAlive(seconds.into())
    }
}

/// A header whose value nobody reads in a log.
#[derive(Clone, PartialEq)]
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ***", self.name)
    }
}
