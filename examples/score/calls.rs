//! Printed calls of a case and the calls that it expects, compared; shared by the examples that score them.

use crate::score::equal;
use agents::reader::{
    self, Changes,
    printed::{Declared, Printed, PrintedCall},
};
use serde_json::Value;

/// Returns the tools of a case; a tool without a schema gets the empty schema `none`.
pub(crate) fn declared<'a>(tools: &'a Value, none: &'a Value) -> Vec<Declared<'a>> {
    let tools = tools.as_array().into_iter().flatten();
    tools
        .filter_map(|tool| {
            let tool = tool.get("function").unwrap_or(tool);
            Some(Declared {
                name: tool["name"].as_str()?,
                schema: tool.get("parameters").unwrap_or(none),
            })
        })
        .collect()
}

/// Returns `true` if these are the expected calls, by name and value, in the same order.
pub(crate) fn are_expected(printed: &Printed, tools: &[Declared<'_>], expected: &[Value]) -> bool {
    printed.calls.len() == expected.len()
        && printed.calls.iter().zip(expected).all(|(call, expected)| {
            let read = arguments(call, tools);
            expected["name"] == call.name.as_str()
                && read.is_some_and(|(value, _)| equal(&value, &expected["arguments"], false))
        })
}

/// Returns the arguments of a call as a value, repaired if they were damaged, and the changes of the repair.
pub(crate) fn arguments(call: &PrintedCall, tools: &[Declared<'_>]) -> Option<(Value, Changes)> {
    if call.is_valid {
        return Some((
            serde_json::from_str(&call.arguments).ok()?,
            Changes::default(),
        ));
    }
    let tool = tools.iter().find(|tool| tool.name == call.name)?;
    let reading = reader::read(&call.arguments, tool.schema).ok()?;
    Some((serde_json::from_str(&reading.json).ok()?, reading.changes))
}
