//! Distance of a reading from its text.

/// Closeness of a value to the text from which it was read: how certain the reading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Closeness {
    /// The text is the value itself, in JSON's spelling.
    Plain,
    /// The text is another notation of the value, with one meaning only: `+5`, `1'000`, `yes`.
    Notation,
    /// The value was found within other text, or its notation has several meanings: `150lbs`, `$5`, `1,000`.
    Found,
}
