/// Use of the server's prompt cache, which makes repeated beginnings of requests cheaper.
///
/// The server keeps what it has read up to marked places, and reads it again at a tenth of the price. Writing into the
/// cache costs a quarter more, or twice as much for an hour. The client marks the system prompt with the tools, and the
/// last message of a conversation that goes on: one with tools, or with an earlier reply. The message of a single
/// question is not marked, since nothing would read it again.
///
/// ```
/// # mod agents { pub use agents_anthropic::*; }
/// use agents::{PromptCache, anthropic};
///
/// // A person who takes more than five minutes to answer.
/// let model = anthropic("claude-sonnet-5").prompt_cache(PromptCache::OneHour);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptCache {
    /// Caches nothing of a request.
    Off,
    /// Keeps what was read for five minutes after its last use.
    #[default]
    FiveMinutes,
    /// Keeps what was read for an hour after its last use.
    OneHour,
}

impl PromptCache {
    /// Returns the JSON field that marks the end of what is cached, with a comma before it; empty for `Off`.
    pub(crate) fn mark(self) -> &'static [u8] {
        match self {
            PromptCache::Off => b"",
            PromptCache::FiveMinutes => b",\"cache_control\":{\"type\":\"ephemeral\"}",
            PromptCache::OneHour => b",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}",
        }
    }
}
