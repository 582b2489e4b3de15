/// Rule for keys of a call's arguments that the tool's schema does not know.
///
/// It matters to tools that write. For other tools, such a key is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownKeys {
    /// The key makes the call uncertain, unless its value is `null` or empty: the tool does not run, and the model is
    /// told so. `{"cents": 5, "options": {"dry_run": true}}` is no payment.
    #[default]
    Doubted,
    /// The key is dropped.
    Dropped,
}
