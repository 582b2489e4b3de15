/// Kind of failure that an arm handles. In an arm for one kind, a verb that makes no sense for that kind does not
/// compile.
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
    /// Name of the kind in `on_error`, such as `invalid_args`.
    const NAME: &'static str;
}

/// Failure kind: no JSON object could be read from the arguments, they are too long, or the tool writes and the reading
/// of the whole text is uncertain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidArgs {}

/// Failure kind: an object was read, but a field is missing, of the wrong type or against a constraint, or the tool
/// writes and the reading of the field is uncertain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deserialization {}

/// Failure kind: the tool returned an `Err`, panicked or timed out, or a rate limiter held the call back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {}

/// Failure kind: the final answer of a skill or an agent does not fit its `Out`, or a validator refuses it.
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

/// Kinds of failure after which [`retry`](super::retry) makes sense: failed executions.
#[diagnostic::on_unimplemented(
    message = "`retry` means nothing here: the same text would fail the same way",
    label = "only an `execution_error` arm can `retry`",
    note = "write `fix(..)`, `feedback(..)`, `escalate(..)` or `throw(..)`"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait CanRetry: Kind {}
#[diagnostic::do_not_recommend]
impl CanRetry for Execution {}

/// Kinds of failure after which [`sanitize`](super::sanitize) makes sense: objects with a value at fault.
#[diagnostic::on_unimplemented(
    message = "`sanitize` means nothing here: no single value is at fault",
    label = "only a `deserialization_error` arm can `sanitize`",
    note = "write `fix(..)` to give the whole text anew, or `feedback(..)`, `escalate(..)`, `throw(..)`"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait CanSanitize: Kind {}
#[diagnostic::do_not_recommend]
impl CanSanitize for Deserialization {}

/// Tools that may be executed again when the effect of an execution is not known. They do not write, or are
/// `idempotent`; macros implement the trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` writes, so running it again could apply it twice",
    label = "this tool is neither free of writes nor `idempotent`",
    note = "if running it twice is as good as once, say so: `#[tool(writes, idempotent)]`; otherwise `feedback(..)`, `escalate(..)` or `throw(..)`",
    note = "where this is an agent's default, give the tool arms of its own with `on_error!({Self}, match error {{ .. }})`"
)]
// Public because generated code names it.
#[doc(hidden)]
pub trait RetrySafe {
    /// Fails to compile, at the caller's span, for a tool that may not be retried:
    /// `<ReadFile as RetrySafe>::check()`.
    fn check() {}
}

/// Tools whose function returns a `Result`. Only these tools fail with `Returned`. Macros implement the trait.
#[diagnostic::on_unimplemented(
    message = "the function of `{Self}` gives no `Result`, so nothing is ever `Returned`",
    label = "this never happens",
    note = "what can happen to it is `TimedOut(_)` and `Panicked(_)`; if it can fail, let it give a `Result<.., ..>`"
)]
// Public because generated code names it.
#[doc(hidden)]
pub trait Fallible {
    /// Fails to compile, at the caller's span, for a tool that returns no `Result`:
    /// `<ReadFile as Fallible>::check()`.
    fn check() {}
}
