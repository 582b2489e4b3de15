//! A tool whose values are missing.

use super::SharedTool;
use std::marker::PhantomData;

/// What the name of a tool with `#[inject]` parameters is where a value is expected: no tool, until they have
/// their values.
///
/// `#[tool]` leaves it beside the tool's struct, as a constant of the same name, so that a list that names the tool
/// alone is told how the tool is written: `Search { pool: self.pool.clone() }`.
pub struct Uninjected<T>(PhantomData<T>);

impl<T> Uninjected<T> {
    #[doc(hidden)]
    pub const NEW: Self = Uninjected(PhantomData);

    /// Refused, where a list names it.
    #[doc(hidden)]
    pub fn __listed(self) -> SharedTool
    where
        T: WithoutFields,
    {
        unreachable!("what does not compile is in no list")
    }
}

/// A tool that its name alone is the value of; none that has `#[inject]` parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has `#[inject]` parameters, so the tool is written with their values: `{Self} {{ .. }}`",
    label = "expected `{Self} {{ .. }}`, with a value for each `#[inject]` parameter",
    note = "the agent holds the values, as a struct with an `#[agent] impl`: for a parameter `pool` write `tools = [{Self} {{ pool: self.pool.clone() }}]`"
)]
pub trait WithoutFields {}
