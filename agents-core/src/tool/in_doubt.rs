//! Outcomes of executions that were interrupted.

/// Outcome of an execution that was interrupted by the end of its process, as the tool's `in_doubt` finds it out.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Effects, ToolContext, tool::{FnTool, done, not_done}};
/// # use serde_json::{Value, json};
/// # #[derive(Clone)] struct Bank;
/// # impl Bank {
/// #     async fn pay(&self, _: String, _: Value) -> Result<String, std::io::Error> { Ok("paid".into()) }
/// #     async fn find(&self, _: String) -> Result<Option<String>, std::io::Error> { Ok(None) }
/// # }
/// # let schema = json!({"type": "object"});
/// # let (bank, same) = (Bank, Bank);
///
/// let pay = FnTool::new("pay", "Pays.", Effects::Writes, schema, move |args, cx: ToolContext| {
///     let bank = bank.clone();
///     async move { bank.pay(cx.idempotency_key(), args).await }
/// })
/// .in_doubt(move |_, cx: ToolContext| {
///     let bank = same.clone();
///     async move {
///         Ok::<_, std::io::Error>(match bank.find(cx.idempotency_key()).await? {
///             Some(receipt) => done(receipt),
///             None => not_done(),
///         })
///     }
/// });
/// # let _ = pay;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InDoubt<T> {
    /// The interrupted execution took effect; the value is its output.
    Done(T),
    /// The execution had no effect, so that the tool may run again.
    NotDone,
    /// The tool cannot find out whether the execution took effect.
    Unknown,
}

/// Creates the outcome of an interrupted execution that took effect, with this output.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::{InDoubt, done, not_done, unknown};
///
/// /// What the bank knows of a transfer says what became of the call that was cut off.
/// fn found(status: Option<&str>) -> InDoubt<String> {
///     match status {
///         Some("booked") => done("the transfer is booked".to_owned()),
///         Some("rejected") => not_done(),
///         _ => unknown(), // a person is asked
///     }
/// }
/// assert_eq!(found(Some("rejected")), InDoubt::NotDone);
/// assert_eq!(found(None), InDoubt::Unknown);
/// ```
pub fn done<T>(output: T) -> InDoubt<T> {
    InDoubt::Done(output)
}

/// Creates the outcome of an interrupted execution that had no effect.
pub fn not_done<T>() -> InDoubt<T> {
    InDoubt::NotDone
}

/// Creates the outcome of an interrupted execution if the tool cannot find out whether the execution took effect.
pub fn unknown<T>() -> InDoubt<T> {
    InDoubt::Unknown
}
