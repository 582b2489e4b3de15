//! Two tools by which a model-driven repair agent gives up. It has these tools while it repairs, and at no other time.
//!
//! They are a last resort. A model is never made to choose between them and its answer, and no worked example shows how
//! they are called. A model that calls one has to give a reason in its own words.

use super::wording::{ESCALATE, HARM, REPAIR_ENDED, SAYS_NOTHING, SEVERITY, THROW, WHY};
use crate::{
    Json, Severity,
    context::RepairScope,
    journal::CallFact,
    recovery::FixError,
    run::{HANDED_UP, THROWN, WAYS_OUT},
    shared::Shared,
    tool::{Effects, FnTool, ReadError, SharedTool, ToolSpec},
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{future::pending, sync::Arc};

impl Shared<RepairScope> {
    /// Returns the two tools by which a repair agent gives up: one escalates, the other ends the run.
    pub(crate) fn tools(&self) -> [SharedTool; 2] {
        let severity = json!({
            "type": "string",
            "description": SEVERITY,
            "enum": Severity::ALL,
        });
        let escalate = json!({
            "reason": { "type": "string", "description": WHY },
            "severity": severity,
        });
        let throw = json!({ "reason": { "type": "string", "description": HARM } });
        [
            self.way_out(WAYS_OUT[0], ESCALATE, escalate, |args| {
                let end = FixError::Escalated {
                    reason: reason_of(args).to_owned(),
                    severity: Severity::deserialize(&args["severity"]).unwrap_or_default(),
                };
                (end, HANDED_UP)
            }),
            self.way_out(WAYS_OUT[1], THROW, throw, |args| {
                (FixError::Thrown(reason_of(args).to_owned()), THROWN)
            }),
        ]
    }

    fn way_out(
        &self,
        name: &'static str,
        description: &'static str,
        properties: Value,
        end: fn(&Value) -> (FixError, &'static str),
    ) -> SharedTool {
        let schema = json!({ "type": "object", "properties": properties, "required": ["reason"] });
        let spec = ToolSpec::new(name, description, Effects::None, schema).last_resort();
        let scope = self.clone();
        let tool = FnTool::with_spec(spec, move |args, context| {
            let scope = scope.clone();
            async move {
                let (end, deed) = end(&args);
                if !scope.end(end) {
                    return Err::<(), _>(REPAIR_ENDED);
                }
                let deed = Json::string(deed);
                context.cx.add_to_call(CallFact::FinalOutput(deed));
                pending().await
            }
        });
        Arc::new(tool.part_of_the_run().checked(has_a_reason))
    }
}

fn reason_of(args: &Value) -> &str {
    args["reason"].as_str().unwrap_or_default().trim()
}

/// Checks that a repair agent which gives up has given a reason. Small models copy the texts that they are shown, and
/// such a text is no reason.
fn has_a_reason(args: &Value) -> Result<(), ReadError> {
    match is_said(reason_of(args)) {
        true => Ok(()),
        false => Err(ReadError::new("reason", SAYS_NOTHING)),
    }
}

fn is_said(reason: &str) -> bool {
    const NOTHING: [&str; 17] = [
        "reason",
        "the reason",
        "a reason",
        "your reason",
        "no reason",
        "no reason given",
        "why",
        "string",
        "str",
        "text",
        "placeholder",
        "example",
        "none",
        "null",
        "n a",
        "escalate",
        "throw exception",
    ];
    let said = words(reason);
    // Text from the descriptions says nothing of the case at hand, whole or in part.
    let shown = [ESCALATE, THROW, WHY, HARM].into_iter();
    let mut shown = shown.flat_map(|text| text.split([',', ':']).chain([text]));
    !said.is_empty() && !NOTHING.contains(&&*said) && !shown.any(|shown| words(shown) == said)
}

/// Returns the words of a text in lower case, with single spaces between them, to compare texts.
fn words(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{WHY, is_said};

    #[test]
    fn what_is_a_reason() {
        for nothing in [
            "",
            "  ",
            "...",
            "string",
            "<reason>",
            "Reason:",
            "N/A",
            "Why?",
            WHY,
            "what stands in the way of a repair",
            "Only if going on would do harm",
            "throw_exception",
            "\"text\"",
        ] {
            assert!(!is_said(nothing), "{nothing:?}");
        }
        for reason in [
            "this is prose",
            "no",
            "going on would do harm to the database",
            "encrypted",
            "not JSON",
            "a number is missing, not a comma",
            "Es ist verschl\u{fc}sselt",
            "\u{6682}\u{65e0}",
        ] {
            assert!(is_said(reason), "{reason:?}");
        }
    }
}
