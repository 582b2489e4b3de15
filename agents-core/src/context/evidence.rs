//! Evidence of a run, collected from its receipts and its conversation.

use super::Root;
use crate::{
    evidence::{Evidence, Reading, Success},
    model::Message,
    shared::Shared,
};
use serde_json::Value;
use std::sync::Arc;

impl Shared<Root> {
    /// Prepares the reading of a text by a model of this run: values that have to be known are checked against the
    /// run's evidence.
    pub(crate) fn reading(&self) -> Reading {
        let root = self.clone();
        Reading::of_model(move || root.evidence())
    }
}

impl Root {
    /// Collects the evidence of the run: the words of the user, with instructions and answers to questions, the results
    /// in the conversation before the run, and the receipts of its calls that succeeded.
    fn evidence(&self) -> Evidence {
        let exchange = self.settings.exchange.as_ref();
        let before = exchange.map(|exchange| exchange.earlier().history);
        let before = before.iter().flat_map(|history| history.messages());
        let (mut said, mut earlier) = (Vec::new(), Vec::new());
        for message in before {
            match message {
                Message::User { content } if !content.is_told() => {
                    said.push(Value::String(content.text.clone()));
                }
                Message::Tool { name, content, .. } if !content.is_told() => {
                    earlier.push((name.clone(), value_of(&content.text)));
                }
                _ => {}
            }
        }
        said.push(value_of(&self.said));
        let (receipts, instructions) = self
            .node
            .machine()
            .look(|state| (state.receipts(0), state.instructions.clone()));
        said.extend(instructions.into_iter().map(|one| Value::String(one.text)));
        let answers = receipts.iter().filter(|receipt| receipt.is_answer);
        let answers = answers.filter_map(|receipt| receipt.output.as_ref()?.to_value().ok());
        said.extend(answers);
        let calls = receipts.iter().filter_map(|receipt| {
            Some(Arc::new(Success {
                call_id: receipt.call_id.clone(),
                tool: receipt.name.clone(),
                input: receipt.input.clone(),
                output: receipt.output.clone()?,
            }))
        });
        Evidence {
            said,
            earlier,
            calls: calls.collect(),
        }
    }
}

/// Returns the value for which the text of a message stands: its JSON, or the text itself.
fn value_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
