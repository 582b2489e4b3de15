use super::{ClaimedTool, marks, reading::Reading, wording};
use crate::Json;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error as _},
    ser::SerializeStruct,
};
use serde_json::Value;
use std::{borrow::Cow, fmt, marker::PhantomData, ops::Deref, sync::Arc};

/// Claim in an agent's answer: a call of the tool `T` that has succeeded in this run.
///
/// The model claims the call by its arguments, as far as they tell it apart from others: `{"order": "A-17"}`, or `{}`
/// for the last call of the tool. The claim is checked against the receipts of the run, those of delegates included. An
/// answer that claims a call which has not succeeded is refused, as every answer that does not fit: "no `refund_order`
/// has succeeded in this run". Each claim of an answer needs a call of its own.
///
/// In code, the claim dereferences to the output of the call, whose type has to be `Deserialize`. The output is that of
/// the receipt: secrets are masked in it.
///
/// `Done<T>`, `Option<Done<T>>` and `Vec<Done<T>>` can be fields of a struct or the whole answer. An agent does not
/// start if its answer claims calls of a tool that neither the agent nor a delegate has.
///
/// Stored as JSON, a claim holds the name of the tool, the id of the receipt, the arguments and the output. Claims are
/// checked when a run reads what its model wrote. In JSON that is read elsewhere, they have this stored form, and are
/// not checked.
///
/// # Limits
/// A call counts as succeeded if its tool reports success; a call whose effect is in doubt does not. The text of an
/// answer beside its claims may still say anything.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, Effects, Tool, ToolContext, tool::{ToolName, ToolSpec}};
/// # use agents::testing::{Script, ScriptedModel};
/// # use std::{convert::Infallible, sync::LazyLock};
/// use agents::evidence::Done;
/// # #[derive(serde::Deserialize, schemars::JsonSchema)] struct Args { order: String }
/// # struct RefundOrder;
/// # impl ToolName for RefundOrder { const NAME: &'static str = "refund_order"; }
/// # impl Tool for RefundOrder {
/// #     type Args = Args;
/// #     type Ok = u32;
/// #     type Err = Infallible;
/// #     fn spec(&self) -> &ToolSpec {
/// #         static SPEC: LazyLock<ToolSpec> =
/// #             LazyLock::new(|| ToolSpec::of::<Args>("refund_order", "Refunds.", Effects::None));
/// #         &SPEC
/// #     }
/// #     async fn call(&self, _: Args, _: &ToolContext) -> Result<u32, Infallible> { Ok(4200) }
/// # }
///
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct Reply {
///     text: String,
///     refund: Option<Done<RefundOrder>>,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, handle) = ScriptedModel::new([
/// #     Script::text(r#"{"text": "Refunded.", "refund": {}}"#),
/// #     Script::call("refund_order", r#"{"order": "A-17"}"#),
/// #     Script::text(r#"{"text": "Refunded.", "refund": {"order": "A-17"}}"#),
/// # ]);
/// # let clerk = AgentBuilder::<String, Reply>::new("clerk").tool(RefundOrder).model(model).build();
/// // The model first says that it has refunded the order, and has not: it is told so, and then calls the tool.
/// let reply = clerk.run("Refund order A-17.").await?;
/// assert_eq!(*reply.refund.unwrap(), 4200);
/// # assert!(handle.requests()[1].messages.last().unwrap().text().contains("no `refund_order` has succeeded"));
/// # Ok(())
/// # }
/// ```
pub struct Done<T: ClaimedTool> {
    call_id: Arc<str>,
    input: Json,
    output: T::Ok,
    /// Mark that the call is taken: as long as it lives, no other claim of the same answer stands for the call.
    _claim: Arc<()>,
    of: PhantomData<fn() -> T>,
}

impl<T: ClaimedTool> Done<T> {
    /// Returns the id of the call's receipt.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Returns the arguments of the call, as in its receipt.
    pub fn input(&self) -> &Json {
        &self.input
    }

    /// Returns the output of the call that the claim stands for.
    pub fn into_output(self) -> T::Ok {
        self.output
    }
}

impl<T: ClaimedTool> Deref for Done<T> {
    type Target = T::Ok;

    fn deref(&self) -> &T::Ok {
        &self.output
    }
}

impl<T: ClaimedTool<Ok: Clone>> Clone for Done<T> {
    fn clone(&self) -> Self {
        Done {
            call_id: self.call_id.clone(),
            input: self.input.clone(),
            output: self.output.clone(),
            _claim: self._claim.clone(),
            of: PhantomData,
        }
    }
}

impl<T: ClaimedTool<Ok: fmt::Debug>> fmt::Debug for Done<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Done")
            .field("call_id", &self.call_id)
            .field("input", &self.input)
            .field("output", &self.output)
            .finish()
    }
}

/// Claims are equal if they stand for the same call.
impl<T: ClaimedTool> PartialEq for Done<T> {
    fn eq(&self, other: &Self) -> bool {
        self.call_id == other.call_id
    }
}

impl<T: ClaimedTool> Eq for Done<T> {}

impl<T: ClaimedTool> Serialize for Done<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut claim = serializer.serialize_struct("Done", 4)?;
        claim.serialize_field("tool", T::TOOL)?;
        claim.serialize_field("call_id", &self.call_id)?;
        claim.serialize_field("input", &self.input)?;
        claim.serialize_field("output", &self.output)?;
        claim.end()
    }
}

impl<'de, T: ClaimedTool<Ok: DeserializeOwned>> Deserialize<'de> for Done<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(bound(deserialize = "O: DeserializeOwned"))]
        struct Stored<O> {
            call_id: Arc<str>,
            input: Value,
            output: O,
        }
        let written = Value::deserialize(deserializer)?;
        let reading = Reading::now();
        let claimed = reading.and_then(|reading| reading.claim(T::TOOL, &written));
        let Some(found) = claimed else {
            let Stored {
                call_id,
                input,
                output,
            } = Stored::deserialize(written).map_err(D::Error::custom)?;
            return Ok(Done {
                call_id,
                input: Json::of(&input).map_err(D::Error::custom)?,
                output,
                _claim: Arc::default(),
                of: PhantomData,
            });
        };
        let (call, claim) = found.map_err(D::Error::custom)?;
        let output = call.output.to::<T::Ok>();
        Ok(Done {
            call_id: call.call_id.clone(),
            input: call.input.clone(),
            output: output
                .map_err(|error| D::Error::custom(wording::output_unreadable(T::TOOL, &error)))?,
            _claim: claim,
            of: PhantomData,
        })
    }
}

impl<T: ClaimedTool<Args: JsonSchema>> JsonSchema for Done<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Done_{}", T::TOOL).into()
    }

    /// Describes a claim: the arguments of the tool, none of which is required.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let arguments = <T::Args as JsonSchema>::json_schema(generator);
        let properties = arguments.get("properties").cloned();
        let mut schema = schemars::json_schema!({ "type": "object" });
        if let Some(properties) = properties {
            schema.insert("properties".to_owned(), properties);
        }
        schema.insert(marks::DONE.to_owned(), T::TOOL.into());
        schema
    }
}
