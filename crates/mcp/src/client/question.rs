//! Questions of a server to a person.

use super::wording;
use crate::Answer;
use agents_core::{
    Effects,
    tool::{DynTool, FnTool},
};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData};
use serde_json::{Map, Value};
use std::{convert::Infallible, fmt, future::Future, pin::Pin, sync::Arc};

/// Question of a server to a person, which comes up while one of its tools is called (MCP calls that elicitation).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// Name of the server that asks.
    pub server: String,
    /// Text of the question, in the words of the server.
    pub message: String,
    /// Schema of the values that are asked for: an object with flat properties.
    pub schema: Value,
}

impl Question {
    /// Returns the values that the server suggests: the defaults in its schema.
    pub fn defaults(&self) -> Map<String, Value> {
        let properties = self.schema["properties"].as_object();
        let properties = properties.into_iter().flatten();
        let defaults = properties
            .filter_map(|(name, property)| Some((name.clone(), property.get("default")?.clone())));
        defaults.collect()
    }

    /// Returns the values that the person has given, completed by those that the server suggests.
    ///
    /// # Errors
    /// When they do not follow the schema.
    fn complete(&self, given: Value) -> Result<Value, ErrorData> {
        let mut values = self.defaults();
        match given {
            Value::Null => {}
            Value::Object(given) => values.extend(given),
            _ => return Err(wording::answer_unfit(&self.server, wording::NOT_AN_OBJECT)),
        }
        let values = Value::Object(values);
        // A tool reads its arguments by their schema.
        let body = |_, _| async { Ok::<_, Infallible>(()) };
        let reads = FnTool::new("answer", "", Effects::None, self.schema.clone(), body);
        match reads.prepare(&values.to_string()) {
            Ok(_) => Ok(values),
            Err(error) => Err(wording::answer_unfit(&self.server, &error.to_string())),
        }
    }
}

/// Function of the application that answers the questions of a server.
#[derive(Clone)]
pub(super) struct Asks(Arc<Ask>);

type Ask = dyn Fn(Question) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send + Sync;

impl Asks {
    pub(super) fn new<F, Fut>(ask: F) -> Self
    where
        F: Fn(Question) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answer> + Send + 'static,
    {
        Asks(Arc::new(move |question| Box::pin(ask(question))))
    }

    /// Asks the person by the application's function, and checks the answer against the schema.
    pub(super) async fn answer(
        &self,
        server: &str,
        asked: ElicitRequestParams,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } = asked
        else {
            return Ok(declined(server, wording::ASKS_FOR_A_VISIT));
        };
        let question = Question {
            server: server.to_owned(),
            message,
            schema: serde_json::to_value(requested_schema).unwrap_or_default(),
        };
        Ok(match (self.0)(question.clone()).await {
            Answer::Given(values) => {
                let values = question.complete(values)?;
                ElicitResult::new(ElicitationAction::Accept).with_content(values)
            }
            Answer::Declined => ElicitResult::new(ElicitationAction::Decline),
            Answer::Cancelled => ElicitResult::new(ElicitationAction::Cancel),
        })
    }
}

/// Returns the answer that declines a question, since nobody is asked. `why` goes to the log.
pub(super) fn declined(server: &str, why: &str) -> ElicitResult {
    tracing::warn!(server, "a question of the server is declined: {why}");
    ElicitResult::new(ElicitationAction::Decline)
}

impl fmt::Debug for Asks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asks")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_is_completed_with_the_defaults_and_checked() {
        let question = Question {
            server: "x".to_owned(),
            message: "Who?".to_owned(),
            schema: json!({"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "age": {"type": "integer", "default": 30},
            }}),
        };
        assert_eq!(
            question.complete(json!({"name": "Ada"})),
            Ok(json!({"name": "Ada", "age": 30}))
        );
        for wrong in [
            json!({}),
            json!(null),
            json!("Ada"),
            json!({"name": 1}),
            json!({"name": "Ada", "age": "old"}),
        ] {
            assert!(question.complete(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
