use std::fmt;

/// What a model-driven agent does, and agents may run within.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Within {
    /// This call, in this round.
    Call(u32, u32),
    /// The answer of this turn.
    Answer(u32),
}

impl fmt::Display for Within {
    /// The key of the place; receipts are in the order of keys, those of answers behind those of calls.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Within::Call(seq, round) => write!(f, "call{seq:04}.{round:02}"),
            Within::Answer(turn) => write!(f, "turn{turn:04}"),
        }
    }
}
