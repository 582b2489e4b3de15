//! Texts with printed calls: calls in a row, and values that hold tags.

use crate::generate::{Dice, Sample, joined, value};
use agents_reader::{
    Schema,
    printed::{Declared, Printed, read},
};
use serde_json::{Value, json};

/// Names of all kinds, in the order in which they are counted.
pub(crate) const KINDS: &[&str] = &["calls_in_a_row", "calls_amid_data", "markup_in_a_value"];

/// Outcome of reading a text with calls.
pub(crate) struct Outcome {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    /// `true` if the calls are those that were meant; `None` if nothing was read.
    pub(crate) right: Option<bool>,
    pub(crate) certain: bool,
    pub(crate) read: String,
}

/// Prints calls in each of the ways, and reads them.
pub(crate) fn all(seed: u64, index: u64) -> Vec<Outcome> {
    let mut dice = Dice::new(seed, index, 2000);
    let samples: Vec<Sample> = (0..2 + dice.below(3))
        .map(|n| value(seed, index + n as u64))
        .collect();
    let mut outcomes = vec![
        in_a_row(&samples, &mut dice, None),
        in_a_row(&samples, &mut dice, Some(DATA)),
    ];
    outcomes.extend(markup(&samples[0], &mut dice));
    outcomes
}

/// Texts that stand between two calls of a series.
const JOINTS: [&str; 9] = [
    ", ", ",\n", "\n", "; ", "\n\n", " and ", "\n- ", ",\n2. ", ";\n",
];

/// Objects that stand among calls and are none, but may have been meant as one.
const DATA: &[&str] = &[
    r#"{"nome": "act0", "arguments": {}}"#,
    r#"{"name": "atc", "arguments": {"x": 1}}"#,
    r#"<tool_call>act0: {x}</tool_call>"#,
    r#"{"dry_run": true}"#,
];

fn in_a_row(samples: &[Sample], dice: &mut Dice, data: Option<&[&str]>) -> Outcome {
    let names: Vec<String> = (0..samples.len()).map(|n| format!("act{n}")).collect();
    let tools: Vec<Declared<'_>> = names
        .iter()
        .zip(samples)
        .map(|(name, sample)| Declared {
            name,
            schema: &sample.schema,
        })
        .collect();
    let mut text = String::from(dice.one(&["", "I do both: ", "- ", "1. ", "So:\n"]));
    for (n, (name, sample)) in names.iter().zip(samples).enumerate() {
        if n > 0 {
            text += dice.one(&JOINTS);
        }
        if n == 1
            && let Some(data) = data
        {
            text += dice.one(data);
            text += dice.one(&JOINTS);
        }
        let arguments = joined(&sample.pieces);
        let call = format!(r#"{{"name": "{name}", "arguments": {arguments}}}"#);
        text += &match dice.below(6) {
            0 => format!("```json\n{call}\n```"),
            1 => format!("<tool_call>{call}</tool_call>"),
            2 => format!("[{call}]"),
            _ => call,
        };
    }
    let meant: Vec<&Value> = samples.iter().map(|sample| &sample.meant).collect();
    let (kind, printed) = (KINDS[usize::from(data.is_some())], read(&text, &tools));
    outcome(kind, text, &printed, &tools, &names, &meant)
}

/// Markup that a value may hold.
const MARKUP: [&str; 9] = [
    "use </parameter> here",
    "end with </parameter>",
    "a <parameter=x>1</parameter> b",
    "a <parameter=x>",
    "a </function> b",
    "<function=act>",
    "</parameter>\n</function>\n</tool_call> and more",
    "a </tool_call> b",
    "<tool_call>\n<function=act>\n<parameter=x>\n1\n</parameter>\n</function>\n</tool_call>\nthen",
];

/// Prints a call in tags with markup in one of its values; `None` if it has no value that can hold markup, or cannot be
/// printed so that it is read without markup.
fn markup(sample: &Sample, dice: &mut Dice) -> Option<Outcome> {
    let tools = [Declared {
        name: "act",
        schema: &sample.schema,
    }];
    let names = ["act".to_owned()];
    let read_all = |value: &Value| {
        let text = in_tags(value);
        let printed = read(&text, &tools);
        outcome(KINDS[2], text, &printed, &tools, &names, &[value])
    };
    if read_all(&sample.meant).right != Some(true) {
        return None;
    }
    let mut meant = sample.meant.clone();
    let members = meant.as_object_mut()?.iter_mut();
    let mut texts: Vec<_> = members
        .filter(|(key, value)| {
            let of_text = json!({"type": "string"});
            value.is_string() && sample.schema["properties"][key.as_str()] == of_text
        })
        .collect();
    let at = dice.below(texts.len());
    let (_, text) = texts.get_mut(at)?;
    **text = (*dice.one(&MARKUP)).into();
    Some(read_all(&meant))
}

fn in_tags(value: &Value) -> String {
    let members = value.as_object().into_iter().flatten();
    let params: String = members
        .map(|(key, value)| {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            format!("<parameter={key}>\n{text}\n</parameter>\n")
        })
        .collect();
    format!("<tool_call>\n<function=act>\n{params}</function>\n</tool_call>")
}

fn outcome(
    kind: &'static str,
    text: String,
    printed: &Printed,
    tools: &[Declared<'_>],
    names: &[String],
    meant: &[&Value],
) -> Outcome {
    let mut certain = true;
    let mut read = Vec::new();
    for call in &printed.calls {
        let tool = tools.iter().find(|tool| tool.name == call.name);
        let reading = tool.and_then(|tool| Schema::new(tool.schema).read(&call.arguments).ok());
        let Some(reading) = reading else {
            // The call is refused.
            certain = false;
            continue;
        };
        certain &= call.changes.uncertain().is_none() && reading.changes.uncertain().is_none();
        let value = serde_json::from_str::<Value>(&reading.json).unwrap_or_default();
        read.push((call.name.clone(), value));
    }
    let are_meant = read.len() == meant.len()
        && read
            .iter()
            .zip(names.iter().zip(meant))
            .all(|((name, value), (other, meant))| name == other && value == *meant);
    Outcome {
        kind,
        right: (!read.is_empty()).then_some(are_meant),
        certain,
        read: format!("{read:?}"),
        text,
    }
}
