use std::fmt;

/// Part of an agent's work within which other agents may run: a call or an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Within {
    /// Within the agent's work: the call with this number, in this round.
    Call(u32, u32),
    /// Within the agent's work: the answer of the turn with this number.
    Answer(u32),
}

impl fmt::Display for Within {
    /// Writes the key of the place for this part. Receipts are in the order of keys, so receipts of answers come after
    /// receipts of calls.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Within::Call(seq, round) => write!(f, "call{seq:04}.{round:02}"),
            Within::Answer(turn) => write!(f, "turn{turn:04}"),
        }
    }
}

/// Returns `true` if a path leads into a call or into the repair of an answer, and not to the agent's own work.
pub(crate) fn is_aside(path: &str) -> bool {
    let numbered = |key: &str, name| {
        let rest = key.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    // The key of an agent's place has a digest behind `#`.
    let mut keys = path.split('/').filter(|key| !key.contains('#'));
    keys.any(|key| numbered(key, "call") || numbered(key, "turn"))
}
