//! A tool whose values are missing.

use super::SharedTool;
use std::marker::PhantomData;

/// Type of the constant that stands in place of a tool with `#[inject]` parameters, until the tool has their
/// values.
///
/// `#[tool]` declares the constant beside the tool's struct, under the same name. A list that names the tool alone
/// thus gets a compiler error that tells how to write it: `Search { pool: self.pool.clone() }`.
// Public because generated code names it.
#[doc(hidden)]
pub struct Uninjected<T>(PhantomData<T>);

impl<T> Uninjected<T> {
    #[doc(hidden)]
    pub const NEW: Self = Uninjected(PhantomData);

    /// Fails to compile if a list names the tool without its values.
    #[doc(hidden)]
    pub fn __listed(self) -> SharedTool
    where
        T: WithoutFields,
    {
        unreachable!("what does not compile is in no list")
    }
}

/// Marker of a tool whose name alone is its value: a tool without `#[inject]` parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has `#[inject]` parameters, so the tool is written with their values: `{Self} {{ .. }}`",
    label = "expected `{Self} {{ .. }}`, with a value for each `#[inject]` parameter",
    note = "the agent holds the values, as a struct with an `#[agent] impl`: for a parameter `pool` write `tools = [{Self} {{ pool: self.pool.clone() }}]`"
)]
// Public because generated code names it.
#[doc(hidden)]
pub trait WithoutFields {}
