//! Call that was read, before it is reported.

/// Call of a declared tool; its arguments are JSON unless they came damaged.
pub(super) struct Call {
    pub(super) name: String,
    pub(super) arguments: String,
    /// `true` if the arguments are the text of the whole call, since it holds more than arguments of the tool.
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

    /// Creates a call that keeps its whole text, since it holds more than arguments and nothing may be dropped here.
    pub(super) fn in_full(name: &str, text: &str) -> Self {
        Self {
            in_full: true,
            ..Self::new(name, text.to_owned())
        }
    }
}
