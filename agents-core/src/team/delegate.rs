//! Delegates as tools of their parent's model.

use super::{Placed, wording};
use crate::{
    Agent, Error, Json,
    agent::Data,
    context::RunContext,
    error::{Cause, Code},
    place::{Delegate, Placement, Profile, tool_name},
    shared::Shared,
    tool::{
        DynTool, ErrorType, Prepared, ReadError, ToolContext, ToolSpec, UnknownKeys, read,
        schema_of,
    },
};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use std::{
    any::Any,
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// Timeout of a call of a delegate that has no budget of time: one day.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Helper bound: an agent that can be a delegate, because its input has a schema that tells a model
/// how to ask it.
///
/// The bound holds for every agent whose `In` is `schemars::JsonSchema`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a delegate: it takes `{In}`, which has no schema",
    label = "a model cannot be told how to ask for this agent",
    note = "derive `schemars::JsonSchema` of `schemars = \"1\"` for `{In}`, or put an agent before it that takes something simpler"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait Entrusted<In>: Agent + 'static {
    /// Returns the form in which a model asks the agent: the schema and the reading of its arguments.
    #[doc(hidden)]
    fn form() -> Form<Self::In>;
}

#[diagnostic::do_not_recommend]
impl<A: Agent<In = I> + 'static, I: Data + JsonSchema> Entrusted<I> for A {
    fn form() -> Form<I> {
        Form::new()
    }
}

/// Form in which a model asks a delegate: the schema of the arguments, and the function that reads them.
#[doc(hidden)]
pub struct Form<I> {
    schema: Value,
    read: fn(&str) -> Result<I, ReadError>,
    /// Is `true` if the input is a field of the arguments, with a name of its own.
    is_field: bool,
}

/// Name of the field of the input in [`Wrapped`], and in the arguments unless the agent sets another.
const INPUT: &str = "input";

// Object around an input that is not an object. (A doc comment would be told to the model.)
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "I: Data")]
struct Wrapped<I> {
    /// What the agent is given to work on.
    input: I,
}

impl<I: Data + JsonSchema> Form<I> {
    /// Creates the form in which a model asks a delegate with this input type. The arguments of an object are the object,
    /// those of the unit type are `{}`, and anything else is `{"input": ..}`.
    fn new() -> Self {
        let own = schema_of::<I>();
        match own["type"].as_str() {
            Some("object") => Form {
                schema: own,
                read: read::<I>,
                is_field: false,
            },
            Some("null") => Form {
                schema: json!({ "type": "object", "properties": {} }),
                read: |_| read("null"),
                is_field: false,
            },
            _ => Form {
                schema: schema_of::<Wrapped<I>>(),
                read: |text| read::<Wrapped<I>>(text).map(|wrapped| wrapped.input),
                is_field: true,
            },
        }
    }
}

/// Renames the field of the input in the schema of the arguments to `name`, for the model.
fn named(mut schema: Value, name: &str) -> Value {
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(fields) = fields
        && let Some(input) = fields.remove(INPUT)
    {
        fields.insert(name.to_owned(), input);
    }
    if let Some(required) = schema.get_mut("required") {
        *required = json!([name]);
    }
    schema
}

/// Returns arguments in which the field of the input has the name that the program uses. Returns `None` if there is
/// nothing to rename: the arguments are no object, lack the field `name`, or have a field `input` already.
fn renamed(arguments: &str, name: &str) -> Option<String> {
    let mut fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(arguments).ok()?;
    if fields.contains_key(INPUT) {
        return None;
    }
    let input = fields.remove(name)?;
    fields.insert(INPUT.into(), input);
    serde_json::to_string(&fields).ok()
}

/// Returns an error about the arguments with the field's name that the model knows.
fn by_name(error: &ReadError, name: &str) -> ReadError {
    let path = match error.path().strip_prefix(INPUT) {
        Some(rest) if rest.is_empty() || rest.starts_with(['.', '[']) => format!("{name}{rest}"),
        _ => error.path().to_owned(),
    };
    let message = error.message();
    ReadError::new(path, message.replace("`input`", &format!("`{name}`")))
}

/// Delegate (an agent that another one calls) in the form of a tool.
pub(super) struct DelegateTool<A: Agent> {
    placed: Arc<Placed<A>>,
    spec: ToolSpec,
    read: fn(&str) -> Result<A::In, ReadError>,
    /// Name of the input's field for the model; `None` if it is `input`, as in the program.
    input_name: Option<Cow<'static, str>>,
}

impl<A: Entrusted<<A as Agent>::In>> DelegateTool<A> {
    pub(super) fn new(placed: Placed<A>) -> Self {
        let Form {
            mut schema,
            read,
            is_field,
        } = A::form();
        let placement = &placed.placement;
        let input_name = placement.profile.input_name.clone();
        let input_name = Some(input_name).filter(|name| is_field && name != INPUT);
        if let Some(name) = &input_name {
            schema = named(schema, name);
        }
        let description = match placement.description.as_str() {
            "" => wording::hands_work_to(&placement.name),
            said => said.to_owned(),
        };
        let description = match placement.background {
            None => description,
            Some(_) => wording::in_the_background(&description),
        };
        let name = tool_name(&placement.name);
        let mut spec = ToolSpec::new(name, description, placement.effects(), schema)
            .timeout(placement.bounds().time.unwrap_or(A_DAY))
            // A delegate has no effect of its own: each of its calls is judged for itself.
            .unknown_keys(UnknownKeys::Dropped);
        spec.background = placement.background;
        DelegateTool {
            placed: Arc::new(placed),
            spec,
            read,
            input_name,
        }
    }
}

impl<A: Agent> DelegateTool<A> {
    /// Returns the delegate for the code of the agent above, which runs it. If that agent may use it only with
    /// confirmation, each run of it asks for approval first.
    fn for_code_of(&self, above: &Placement) -> Arc<Placed<A>> {
        match above.confirms(&self.spec.name) {
            true => Arc::new(self.placed.confirmed_for(&above.name)),
            false => self.placed.clone(),
        }
    }
}

#[async_trait]
impl<A: Agent + 'static> DynTool for DelegateTool<A> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, arguments: &str) -> Result<Prepared, ReadError> {
        let input = match &self.input_name {
            None => (self.read)(arguments)?,
            Some(name) => {
                let renamed = renamed(arguments, name);
                let read = (self.read)(renamed.as_deref().unwrap_or(arguments));
                read.map_err(|error| by_name(&error, name))?
            }
        };
        // A value that can be sent to another thread can be shared by threads behind a lock.
        Ok(Prepared(Box::new(Mutex::new(input))))
    }

    fn error_type(&self) -> Option<ErrorType> {
        Some(ErrorType::of::<Error>())
    }

    fn needs_approval(&self, _: &Prepared, _: &ToolContext) -> bool {
        false
    }

    fn is_part_of_the_run(&self) -> bool {
        true
    }

    async fn execute(&self, prepared: Prepared, cx: &ToolContext) -> Result<Json, Cause> {
        let Ok(input) = prepared.0.downcast::<Mutex<A::In>>() else {
            return Err(Cause::text(Code::Unknown, wording::PREPARED_FOR_ANOTHER));
        };
        let input = input.into_inner().unwrap_or_else(PoisonError::into_inner);
        let allowed = self.spec.timeout.unwrap_or(A_DAY);
        let called = Called(&self.placed, allowed);
        match called.run_in(&cx.cx, input).await {
            Ok(output) => cx
                .output_of(&output)
                .map_err(|error| Cause::text(Code::Unknown, wording::answer_not_json(&error))),
            Err(error) => Err(Cause::of_agent(self.placed.name(), error)),
        }
    }
}

impl<A: Agent + 'static> Delegate for DelegateTool<A> {
    fn placement(&self) -> &Shared<Placement> {
        &self.placed.placement
    }

    fn by_type(&self, above: &Placement) -> Arc<dyn Any + Send + Sync> {
        self.for_code_of(above)
    }

    fn by_signature(&self, above: &Placement) -> Box<dyn Any> {
        let agent: Arc<dyn Agent<In = A::In, Out = A::Out>> = self.for_code_of(above);
        Box::new(agent)
    }
}

/// Delegate that is run by a call, with the time that the call may take.
struct Called<'a, A>(&'a Placed<A>, Duration);

#[async_trait]
impl<A: Agent> Agent for Called<'_, A> {
    type In = A::In;
    type Out = A::Out;

    fn name(&self) -> &str {
        self.0.name()
    }

    fn profile(&self) -> Profile {
        self.0.profile()
    }

    async fn work(&self, cx: &RunContext, input: A::In) -> Result<A::Out, Error> {
        self.0.work_within(cx, input, Some(self.1)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize, serde::Serialize, JsonSchema, Debug, PartialEq)]
    struct Order {
        what: String,
    }

    #[derive(Deserialize, serde::Serialize, JsonSchema, Debug, PartialEq)]
    enum Tree {
        Leaf,
        Node(Vec<Tree>),
    }

    #[test]
    fn what_a_delegate_takes_is_sent_as_an_object() {
        let order = Form::<Order>::new();
        assert_eq!(order.schema["required"], json!(["what"]));
        assert_eq!((order.read)(r#"{"what":"x"}"#).unwrap().what, "x");

        let text = Form::<String>::new();
        assert_eq!(text.schema["properties"]["input"]["type"], "string");
        assert_eq!((text.read)(r#"{"input":"x"}"#).unwrap(), "x");
        assert_eq!((text.read)(r#"{"input":3}"#).unwrap_err().path(), "input");

        let nothing = Form::<()>::new();
        assert_eq!(nothing.schema["properties"], json!({}));
        assert_eq!((nothing.read)("{}"), Ok(()));
    }

    #[test]
    fn a_schema_that_refers_to_itself_still_does() {
        let tree = Form::<Tree>::new();
        assert_eq!(tree.schema["required"], json!(["input"]));
        let text = tree.schema.to_string();
        assert!(
            text.contains("#/definitions/Tree") && !text.contains("\"#\""),
            "{text}"
        );
        let read = (tree.read)(r#"{"input":{"Node":["Leaf"]}}"#).unwrap();
        assert_eq!(read, Tree::Node(vec![Tree::Leaf]));
    }
}
