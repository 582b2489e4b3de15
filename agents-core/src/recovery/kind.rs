/// The kinds of failure an arm can be for. A verb that means nothing for a kind does not
/// type-check there.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// // A helper for arms of every kind; `retry()` would not compile here, since not every kind can.
/// fn to_a_person<K: Kind>(reason: &str) -> Decision<K> {
///     escalate(format!("{}: {reason}", K::NAME)).severity(Severity::Critical)
/// }
/// assert_eq!(to_a_person::<InvalidArgs>("unreadable"), escalate("invalid_args: unreadable").severity(Severity::Critical));
/// ```
pub trait Kind: 'static {
    /// As it is written in `on_error`.
    const NAME: &'static str;
}

/// No JSON object could be read from the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidArgs {}

/// An object was read, but a field is missing, of another type or against a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deserialization {}

/// The tool returned `Err`, panicked or timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {}

/// The final answer of a skill or an agent does not fit its `Out`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidOutput {}

impl Kind for InvalidArgs {
    const NAME: &'static str = "invalid_args";
}
impl Kind for Deserialization {
    const NAME: &'static str = "deserialization_error";
}
impl Kind for Execution {
    const NAME: &'static str = "execution_error";
}
impl Kind for InvalidOutput {
    const NAME: &'static str = "invalid_output";
}

/// The kind for which running the same call again can help.
#[diagnostic::on_unimplemented(
    message = "`retry` means nothing here: the same text would fail the same way",
    label = "only an `execution_error` arm can `retry`",
    note = "write `fix(..)`, `feedback(..)`, `escalate(..)` or `throw(..)`"
)]
pub trait CanRetry: Kind {}
#[diagnostic::do_not_recommend]
impl CanRetry for Execution {}

/// The kind in which a single value is at fault.
#[diagnostic::on_unimplemented(
    message = "`sanitize` means nothing here: no single value is at fault",
    label = "only a `deserialization_error` arm can `sanitize`",
    note = "write `fix(..)` to give the whole text anew, or `feedback(..)`, `escalate(..)`, `throw(..)`"
)]
pub trait CanSanitize: Kind {}
#[diagnostic::do_not_recommend]
impl CanSanitize for Deserialization {}

/// A tool that can run twice without doing anything twice: it does not write, or is `idempotent`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` writes, so `retry` could apply it twice",
    label = "this tool is neither free of writes nor `idempotent`",
    note = "if running it twice is as good as once, say so: `#[tool(writes, idempotent)]`; otherwise `escalate(..)` or `throw(..)`",
    note = "where the `retry` is an agent's default, give the tool arms of its own with `on_error!({Self}, match error {{ .. }})`"
)]
pub trait RetrySafe {
    /// `<ReadFile as RetrySafe>::check()`: refuses, at the caller's span, a tool that may not be retried.
    fn check() {}
}

/// A tool whose function returns a `Result`: of any other nothing is ever `Returned`.
#[diagnostic::on_unimplemented(
    message = "the function of `{Self}` gives no `Result`, so nothing is ever `Returned`",
    label = "this never happens",
    note = "what can happen to it is `TimedOut(_)` and `Panicked(_)`; if it can fail, let it give a `Result<.., ..>`"
)]
pub trait Fallible {
    /// `<ReadFile as Fallible>::check()`: refuses, at the caller's span, a tool that returns no `Err`.
    fn check() {}
}
