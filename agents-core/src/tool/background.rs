/// Behaviour of calls that go on in the background, if their agent answers before they have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Background {
    /// The answer waits for the calls; the agent is told their results, and answers then.
    BeforeAnswer,
    /// The answer does not wait, and the calls are cancelled.
    UntilAnswer,
}
