//! Distance of a reading from its text.

/// Distance of a reading from the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Closeness {
    /// The value itself, in JSON's spelling.
    Plain,
    /// Another notation of the value, with one meaning only: `+5`, `1'000`, `yes`.
    Notation,
    /// A value within other text, or one of several meanings of a notation: `150lbs`, `$5`, `1,000`.
    Found,
}
