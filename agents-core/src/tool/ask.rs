//! Questions to the user, as a tool.

use super::{Effects, ReadError, Tool, ToolContext, ToolSpec, schema_of, wording};
use crate::{Json, reader::Schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::{fmt, marker::PhantomData, time::Duration};

/// Name by which the model calls the tool.
const NAME: &str = "ask_user";

/// Tool by which an agent asks the user a question. The run waits for the answer, which is a `T`.
///
/// The model writes the question, and the type says what may be answered: people get a form that is made from the
/// schema of `T`. The answer reaches the run as a decision of its approver,
/// [`Approval::answer`](crate::run::Approval::answer). A durable run waits without a process, and everybody who may
/// answer can do so from the terminal, a page or the API.
///
/// Without an answer in time, the tool returns the default, and the model is told that the answer is the default. If
/// there is no default, the call fails. An answer approves no call: people are asked about a call that needs approval
/// all the same.
///
/// The name of the tool is `ask_user`; [`alias`](super::alias) gives another one to a second tool of the same agent.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// use agents::{run::{Approval, ApprovalRequest, hours}, tool::Ask};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, schemars::JsonSchema)]
/// enum Seat { Window, Aisle }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, _) = ScriptedModel::new([
/// #     Script::call("ask_user", r#"{"question": "Where do you want to sit?"}"#), Script::text("You sit at the window."),
/// # ]);
/// let clerk = AgentBuilder::<String, String>::new("clerk")
///     .tool(Ask::<Seat>::to_user().within(hours(1)).default(Seat::Aisle))
///     .model(model)
///     .build();
///
/// let user = |request: ApprovalRequest| async move {
///     let question = request.question.expect("only `ask_user` needs an approver here");
///     assert_eq!(question.text, "Where do you want to sit?");
///     Approval::answer(Seat::Window)
/// };
/// assert_eq!(clerk.run("A flight to Rome, please.").approver(user).await?, "You sit at the window.");
/// # Ok(())
/// # }
/// ```
pub struct Ask<T> {
    spec: ToolSpec,
    answers: PhantomData<fn() -> T>,
}

/// Form of the answers to a question: their schema, the default and the time to answer. [`read`](AnswerForm::read) has
/// an example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AnswerForm {
    /// JSON Schema (draft 7) of the answers.
    pub schema: Value,
    /// Answer that counts if nobody answers in time; `None` if the call fails then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Json>,
    /// Time within which the question has to be answered, counted from the question; `None` for the time that the
    /// runtime gives to every request, or for no limit in a run without a runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Duration>,
}

impl AnswerForm {
    /// Returns the texts of which an answer has to be one; an empty list if the schema also allows other answers.
    pub fn choices(&self) -> Vec<&str> {
        choices_of(&self.schema)
    }

    /// Checks that an answer follows the schema.
    ///
    /// # Errors
    /// With the reason why the answer does not follow the schema.
    pub fn check(&self, answer: &Json) -> Result<(), ReadError> {
        Schema::new(&self.schema).fits(answer.as_str())
    }

    /// Reads an answer as people type it: JSON, or a text without quotes if the schema allows a text. One of the
    /// [`choices`](Self::choices) may be typed in upper or lower case.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Tool, run::Question, tool::Ask};
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}, run::{Approval, ApprovalRequest}};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize, schemars::JsonSchema)]
    /// # enum Seat { Window, Aisle }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::call("ask_user", r#"{"question": "Where?"}"#), Script::text("ok")]);
    /// # let clerk = AgentBuilder::<String, String>::new("clerk").tool(Ask::<Seat>::to_user()).model(model).build();
    /// fn answer(question: &Question, typed: &str) -> Approval {
    ///     match question.form.read(typed) {
    ///         Ok(answer) => Approval::Answer { answer },
    ///         Err(why) => Approval::deny(why.to_string()),
    ///     }
    /// }
    /// # let user = |request: ApprovalRequest| async move {
    /// # let question = request.question.unwrap();
    /// assert_eq!(question.form.choices(), ["Window", "Aisle"]);
    /// assert_eq!(answer(&question, "window"), Approval::answer("Window"));
    /// # answer(&question, "aisle") };
    /// # clerk.run("?").approver(user).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the text does not follow the schema.
    pub fn read(&self, typed: &str) -> Result<Json, ReadError> {
        let typed = typed.trim();
        let choices = self.choices();
        let choice = choices
            .iter()
            .find(|choice| choice.eq_ignore_ascii_case(typed));
        if let Some(choice) = choice {
            return Ok(Json::string(choice));
        }
        let as_text = Json::string(typed);
        let read = match Json::parse(typed) {
            Ok(json) if self.check(&json).is_ok() => return Ok(json),
            Ok(json) => json,
            Err(_) => as_text.clone(),
        };
        match self.check(&as_text) {
            Ok(()) => Ok(as_text),
            Err(_) => self.check(&read).map(|()| read),
        }
    }
}

/// Returns the texts that a JSON Schema lists: its `const`, the texts of its `enum`, or those of all alternatives
/// (`oneOf` or `anyOf`). The list is empty if the schema allows any other value, too.
///
/// ```
/// # use agents_core as agents;
/// use serde_json::json;
///
/// let schema = json!({"oneOf": [{"const": "Window"}, {"enum": ["Aisle", "Middle"]}]});
/// assert_eq!(agents::tool::choices_of(&schema), ["Window", "Aisle", "Middle"]);
/// assert!(agents::tool::choices_of(&json!({"type": "string"})).is_empty());
/// ```
pub fn choices_of(schema: &Value) -> Vec<&str> {
    choices(schema).unwrap_or_default()
}

fn choices(schema: &Value) -> Option<Vec<&str>> {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(Value::as_str).collect();
    }
    if let Some(value) = schema.get("const") {
        return value.as_str().map(|value| vec![value]);
    }
    let alternatives = schema.get("oneOf").or_else(|| schema.get("anyOf"))?;
    let each = alternatives.as_array()?.iter().map(choices);
    let each: Option<Vec<_>> = each.collect();
    each.map(|each| each.concat())
}

/// Arguments of a question to the user.
#[derive(Debug, Deserialize)]
pub struct Asking {
    /// Question, in words for the user.
    pub question: String,
}

/// Error of an [`Ask`]: there is no answer, or one of another type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskError(String);

impl<T> Ask<T>
where
    T: JsonSchema + Serialize + DeserializeOwned + Send + 'static,
{
    /// Creates the tool, without a default answer. The time to answer is that of the runtime; without a runtime, there
    /// is no limit.
    pub fn to_user() -> Self {
        let schema = schema_of::<T>();
        let question = json!({ "type": "string", "description": wording::QUESTION });
        let input = json!({
            "type": "object",
            "properties": { "question": question },
            "required": ["question"],
        });
        let mut spec = ToolSpec::new(NAME, wording::ASK_USER, Effects::Reads, input)
            .output_schema(Some(schema.clone()))
            .effect_description(wording::ASKS);
        spec.answers = Some(Box::new(AnswerForm {
            schema,
            default: None,
            within: None,
        }));
        Ask {
            spec,
            answers: PhantomData,
        }
    }

    /// Sets the time within which the question has to be answered.
    #[must_use]
    pub fn within(mut self, time: Duration) -> Self {
        if let Some(form) = &mut self.spec.answers {
            form.within = Some(time);
        }
        self
    }

    /// Sets the answer that counts if nobody answers in time.
    ///
    /// # Panics
    /// If the value cannot be written as JSON, for instance because a key of a map is no text.
    #[must_use]
    pub fn default(mut self, answer: T) -> Self {
        let answer = Json::of(&answer)
            .unwrap_or_else(|error| panic!("{}", wording::default_unwritable(&error)));
        if let Some(form) = &mut self.spec.answers {
            form.default = Some(answer);
        }
        self
    }

    /// Sets what the model reads about the tool, for instance when it is to ask. By default, the description says that
    /// the tool asks the user one question and returns the answer.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.spec.description = description.into().into();
        self
    }
}

impl<T> Tool for Ask<T>
where
    T: JsonSchema + Serialize + DeserializeOwned + Send + 'static,
{
    type Args = Asking;
    type Ok = T;
    type Err = AskError;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _: Asking, cx: &ToolContext) -> Result<T, AskError> {
        let Some(answer) = &cx.answer else {
            return Err(AskError(wording::NO_ANSWER.to_owned()));
        };
        serde_json::from_str(answer.as_str())
            .map_err(|error| AskError(wording::answer_unfit(&error)))
    }
}

impl<T> fmt::Debug for Ask<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ask").field(&self.spec).finish()
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AskError {}
