//! What a tool knows of an execution that was interrupted.

/// Outcome of an execution that was interrupted because its process ended: what a tool's `in_doubt` finds out.
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
    /// The execution took effect, and its output is this.
    Done(T),
    /// The execution had no effect: it may run again.
    NotDone,
    /// It cannot be found out.
    Unknown,
}

/// Says that an interrupted execution took effect, with this output.
pub fn done<T>(output: T) -> InDoubt<T> {
    InDoubt::Done(output)
}

/// Says that an interrupted execution had no effect.
pub fn not_done<T>() -> InDoubt<T> {
    InDoubt::NotDone
}

/// Says that it cannot be found out whether an interrupted execution took effect.
pub fn unknown<T>() -> InDoubt<T> {
    InDoubt::Unknown
}
