use std::fmt;

/// Activity of a model-driven agent within which other agents may run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Within {
    /// Call with this number, in this round.
    Call(u32, u32),
    /// Answer of this turn.
    Answer(u32),
}

impl fmt::Display for Within {
    /// Writes the key of the place. Receipts are in the order of keys, so those of answers are behind those of calls.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Within::Call(seq, round) => write!(f, "call{seq:04}.{round:02}"),
            Within::Answer(turn) => write!(f, "turn{turn:04}"),
        }
    }
}
