//! Call that was read, before it is reported.

/// Call of a declared tool that was found in a text; its arguments are JSON unless the model damaged them.
pub(super) struct Call {
    pub(super) name: String,
    pub(super) arguments: String,
    /// `true` if `arguments` is the text of the whole call. This is so if the call holds more than the tool's
    /// arguments, which must not be lost.
    pub(super) in_full: bool,
}

impl Call {
    pub(super) fn new(name: &str, arguments: String) -> Self {
        Self {
            name: name.to_owned(),
            arguments,
            in_full: false,
        }
    }

    /// Creates a call whose `arguments` are its whole text, since it holds more than the tool's arguments and nothing
    /// may be lost.
    pub(super) fn in_full(name: &str, text: &str) -> Self {
        Self {
            in_full: true,
            ..Self::new(name, text.to_owned())
        }
    }
}
