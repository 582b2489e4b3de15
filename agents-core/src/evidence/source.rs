//! Tools and other sources of values, as types.

use crate::tool::{Tool, ToolName};

/// Tool whose calls an answer may claim: its type implements [`Tool`] and [`ToolName`], as the types do that `tool!`
/// and `#[tool]` make.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tool whose calls can be claimed",
    label = "no `#[tool]` or `tool!` made this",
    note = "a tool is the CamelCase type that `#[tool]` leaves beside the function: for `async fn refund_order(..)` write `Done<RefundOrder>`"
)]
// Public because `Done` is bounded on it.
#[doc(hidden)]
pub trait ClaimedTool: 'static {
    /// Name of the tool whose call is claimed, as models call it.
    const TOOL: &'static str;
    /// Type of the arguments of the tool whose call is claimed.
    type Args;
    /// Type of the tool's output, which the claim gives to the program.
    type Ok: serde::Serialize + Send;
}

#[diagnostic::do_not_recommend]
impl<T: Tool + ToolName> ClaimedTool for T {
    const TOOL: &'static str = T::NAME;
    type Args = <T as Tool>::Args;
    type Ok = <T as Tool>::Ok;
}

/// Source of [`Known`](super::Known) values: the words of the user.
///
/// These are the input of the run, instructions and answers to questions, and, in a conversation, the earlier messages
/// of the user. The task that one agent gives to another is not among them, because a model has written it. The input
/// of a run that the body of a tool starts comes from that code, and counts as the words of the user.
#[derive(Clone, Copy, Debug)]
pub struct User;

/// Sources of [`Known`](super::Known) values: [`User`], a tool, or a tuple of up to six of these.
///
/// A tool is named by the type that `tool!` and `#[tool]` leave beside the function, such as `FindOrder`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no source of known values",
    label = "expected `User`, a tool, or a tuple of these",
    note = "a tool is the CamelCase type that `#[tool]` leaves beside the function: for `async fn find_order(..)` write `FindOrder`"
)]
pub trait Sources: 'static {
    /// Is `true` if the words of the user are a source.
    #[doc(hidden)]
    const USER: bool = false;

    /// Adds the names of the tools among the sources to `names`.
    #[doc(hidden)]
    fn tools(names: &mut Vec<&'static str>);
}

impl Sources for User {
    const USER: bool = true;

    fn tools(_: &mut Vec<&'static str>) {}
}

#[diagnostic::do_not_recommend]
impl<T: ToolName + 'static> Sources for T {
    fn tools(names: &mut Vec<&'static str>) {
        names.push(T::NAME);
    }
}

macro_rules! tuples {
    ($($one:ident)+) => {
        #[diagnostic::do_not_recommend]
        impl<$($one: Sources),+> Sources for ($($one,)+) {
            const USER: bool = $($one::USER)||+;

            fn tools(names: &mut Vec<&'static str>) {
                $($one::tools(names);)+
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);

/// Returns the names of the tools among the sources.
pub(super) fn tools<S: Sources>() -> Vec<&'static str> {
    let mut names = Vec::new();
    S::tools(&mut names);
    names
}
