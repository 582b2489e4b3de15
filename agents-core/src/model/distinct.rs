use super::ToolCall;
use crate::{json::canonical, reader::check_depth};
use serde_json::{Deserializer, value::RawValue};
use std::{
    borrow::Cow,
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// Calls of one reply while a client reads them, each once.
///
/// The id that a server gives a call is the identity of the call. Servers and gateways send a call again, as another
/// item of the list or as a repeated fragment: what has the same id, the same name and the same arguments is the same
/// call. Calls without an id are never the same, and neither are calls with other arguments.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{DistinctCalls, ToolCall};
///
/// let call = |arguments: &str| ToolCall { id: "c9".into(), name: "pay".into(), arguments: arguments.into() };
/// let mut calls = DistinctCalls::default();
/// assert!(calls.add(call(r#"{"cents": 900, "to": "Ada"}"#)));
/// assert!(!calls.add(call(r#"{"to":"Ada","cents":900}"#)), "the same call");
/// assert!(calls.add(call(r#"{"to":"Bob","cents":900}"#)));
/// assert_eq!(calls.into_calls().len(), 2);
/// ```
#[derive(Debug, Default)]
pub struct DistinctCalls {
    calls: Vec<ToolCall>,
    /// Positions of the calls by a hash of what identifies them; made when there is more than one call.
    positions: HashMap<u64, usize>,
}

impl DistinctCalls {
    /// Adds a call. Returns `false` if it is a call that was added before, which then stays the only one.
    ///
    /// Arguments that are one JSON object several times over, as a repeated fragment leaves them, become that object.
    pub fn add(&mut self, mut call: ToolCall) -> bool {
        if let Some(once) = repeated_object(&call.arguments) {
            call.arguments = once.to_owned();
        }
        if let [only] = &self.calls[..] {
            self.positions.insert(hash(only), 0);
        }
        if !call.id.is_empty() && !self.calls.is_empty() {
            let at = *self
                .positions
                .entry(hash(&call))
                .or_insert(self.calls.len());
            if self.calls.get(at).is_some_and(|held| is_same(held, &call)) {
                return false;
            }
        }
        self.calls.push(call);
        true
    }

    /// Returns the calls, in the order in which they were added.
    pub fn into_calls(mut self) -> Vec<ToolCall> {
        // Calls stay in the conversation, so spare capacity would be kept as well.
        self.calls.shrink_to_fit();
        self.calls
    }
}

fn is_same(one: &ToolCall, other: &ToolCall) -> bool {
    one.id == other.id
        && one.name == other.name
        && normal(&one.arguments) == normal(&other.arguments)
}

fn hash(call: &ToolCall) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&call.id, &call.name, normal(&call.arguments)).hash(&mut hasher);
    hasher.finish()
}

/// Returns arguments in a form that does not depend on the order of keys and on white space; no arguments are `{}`.
/// Arguments that nest too deep to be read stay as they are.
pub(crate) fn normal(arguments: &str) -> Cow<'_, str> {
    match arguments.trim() {
        "" | "null" => Cow::Borrowed("{}"),
        arguments if check_depth(arguments).is_err() => Cow::Borrowed(arguments),
        arguments => canonical(arguments),
    }
}

/// Returns the object of which a text consists several times over; `None` if the text is anything else.
fn repeated_object(text: &str) -> Option<&str> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let mut values = Deserializer::from_str(text).into_iter::<&RawValue>();
    let first = values.next()?.ok()?.get();
    let second = values.next()?.ok()?.get();
    let is_first = |value: Result<&RawValue, _>| value.is_ok_and(|value| value.get() == first);
    (first == second && values.all(is_first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::{DistinctCalls, ToolCall};

    fn added(calls: &[[&str; 3]]) -> Vec<String> {
        let mut distinct = DistinctCalls::default();
        for [id, name, arguments] in calls {
            distinct.add(ToolCall {
                id: (*id).to_owned(),
                name: (*name).to_owned(),
                arguments: (*arguments).to_owned(),
            });
        }
        let calls = distinct.into_calls().into_iter();
        calls
            .map(|call| format!("{} {} {}", call.id, call.name, call.arguments))
            .collect()
    }

    #[test]
    fn a_call_that_comes_again_is_one_call() {
        let once = [r#"a pay {"cents":9}"#];
        assert_eq!(
            added(&[
                ["a", "pay", r#"{"cents":9}"#],
                ["a", "pay", r#"{ "cents": 9 }"#],
                ["a", "pay", r#"{"cents":9}"#],
            ]),
            once
        );
        assert_eq!(added(&[["a", "now", ""], ["a", "now", "{}"]]), ["a now "]);
        // Arguments that nobody can read have an identity, too.
        assert_eq!(
            added(&[["a", "pay", r#"{"cents":"#], ["a", "pay", r#"{"cents":"#]]),
            [r#"a pay {"cents":"#]
        );
        let deep = "[".repeat(100_000);
        assert_eq!(added(&[["a", "pay", &deep], ["a", "pay", &deep]]).len(), 1);
    }

    #[test]
    fn calls_that_differ_are_several() {
        for [one, other] in [
            [["a", "pay", "{}"], ["a", "pay", r#"{"cents":9}"#]],
            [["a", "pay", "{}"], ["b", "pay", "{}"]],
            [["a", "pay", "{}"], ["a", "ask", "{}"]],
            [["", "pay", "{}"], ["", "pay", "{}"]],
            [["a", "pay", r#"{"n":1}"#], ["a", "pay", r#"{"n":1.0}"#]],
        ] {
            assert_eq!(added(&[one, other]).len(), 2, "{one:?} {other:?}");
        }
    }

    #[test]
    fn arguments_that_are_one_object_twice() {
        for (text, kept) in [
            (r#"{"a":1}{"a":1}"#, r#"{"a":1}"#),
            ("{\"a\":1}\n{\"a\":1} {\"a\":1}", r#"{"a":1}"#),
            (r#"{"a":1}{"a":2}"#, r#"{"a":1}{"a":2}"#),
            (r#"{"a":1}{"a""#, r#"{"a":1}{"a""#),
            (r#"{"a":1}"#, r#"{"a":1}"#),
            ("1 1", "1 1"),
        ] {
            assert_eq!(added(&[["a", "pay", text]]), [format!("a pay {kept}")]);
        }
    }
}
