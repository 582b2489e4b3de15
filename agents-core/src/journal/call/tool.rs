//! Properties of the tool of a call, as the call's facts describe it.

use super::{Call, Called};
use crate::{
    Json,
    run::Question,
    tool::{AnswerForm, Effects, Risk},
};
use serde_json::Value;

impl Call {
    /// Returns the tool's own name, as receipts have it. The model may know the tool by another name.
    pub(crate) fn tool(&self) -> &str {
        let own_name = self.tool.as_ref().and_then(|tool| tool.own_name.as_deref());
        own_name.unwrap_or(&self.call.name)
    }

    /// Returns the version of the call's tool; `None` if the agent does not have the tool.
    pub(crate) fn version(&self) -> Option<&str> {
        self.tool.as_ref().map(|tool| &*tool.version)
    }

    /// Returns `true` if the tool is a part of the run itself, as a delegate is.
    pub(crate) fn goes_on(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.goes_on)
    }

    pub(super) fn writes(&self) -> bool {
        self.tool.as_ref().is_none_or(|tool| tool.writes)
    }

    pub(super) fn is_repeatable(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.repeatable)
    }

    /// Returns the declared effects of the call's tool.
    pub(crate) fn effects(&self) -> Effects {
        match &self.tool {
            Some(Called { writes: true, .. }) => Effects::Writes,
            Some(Called { reads: true, .. }) => Effects::Reads,
            _ => Effects::None,
        }
    }

    /// Returns the risk of the call with its current arguments.
    pub(crate) fn risk(&self) -> Risk {
        let of_tool = self.tool.as_ref().map_or(Risk::High, |tool| tool.risk);
        self.risk.unwrap_or(of_tool)
    }

    /// Returns `true` if the effects of the tool leave the organisation.
    pub(crate) fn is_external(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.external)
    }

    /// Returns `true` if the tool declares that the effect of a call cannot be undone.
    pub(crate) fn is_irreversible(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.irreversible)
    }

    /// Returns the form of the answers; `None` unless the tool asks people a question.
    pub(super) fn answers(&self) -> Option<&AnswerForm> {
        self.tool.as_ref()?.answers.as_deref()
    }

    /// Returns the question that the call asks with these arguments; `None` unless its tool asks people a question.
    pub(crate) fn question(&self, args: &Json) -> Option<Box<Question>> {
        let form = self.answers()?.clone();
        let args = args.to_value().unwrap_or_default();
        let text = args["question"].as_str().unwrap_or_default().to_owned();
        Some(Box::new(Question { text, form }))
    }

    /// Returns `true` if the tool says how a call is undone.
    #[cfg(feature = "recordings")]
    pub(crate) fn has_undo(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.has_undo)
    }

    /// Returns in words what the call would do with these arguments; `None` if the tool has no such description.
    pub(crate) fn effect_in_words(&self, args: &Json) -> Option<String> {
        let effect = self.tool.as_ref()?.effect.as_ref()?;
        let args = args.to_value().ok()?;
        Some(filled(effect, &args))
    }

    /// Returns `true` if the call's tool is made for polling, so that identical calls are not counted as repeated.
    pub(crate) fn polls(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.polls)
    }

    /// Returns `true` if the call only asks for a text of the agent's knowledge.
    pub(crate) fn is_knowledge(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.knowledge)
    }
}

/// Returns the description of an effect with each placeholder, such as `{amount}`, replaced by the value of that
/// argument.
pub(super) fn filled(text: &str, args: &Value) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(&before.replace("}}", "}"));
        if let Some(after) = after.strip_prefix('{') {
            filled.push('{');
            rest = after;
            continue;
        }
        let value = after.split_once('}').and_then(|(name, after)| {
            let value = match named(name, args)? {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            Some((value, after))
        });
        match value {
            Some((value, after)) => {
                filled.push_str(&value);
                rest = after;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled + &rest.replace("}}", "}")
}

/// Returns the argument of this name, or the field of an argument at this path, such as `to.city`; `None` if there is
/// no such argument.
fn named<'a>(name: &str, args: &'a Value) -> Option<&'a Value> {
    let within = || {
        name.split('.')
            .try_fold(args, |value, field| value.get(field))
    };
    args.get(name).or_else(within)
}
