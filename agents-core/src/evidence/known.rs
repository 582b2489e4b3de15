use super::{Sources, reading::Reading, source::tools, wording};
use crate::evidence::marks;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error as _},
};
use serde_json::Value;
use std::{borrow::Cow, fmt, hash, marker::PhantomData, ops::Deref};

/// Argument of a tool that takes only values which one of the [sources](Sources) `S` has given: the user or a tool, in
/// this run or in earlier messages of its conversation.
///
/// `Known<OrderId, (User, FindOrder)>` takes an order that the user named, or that `find_order` has returned. Any other
/// value is an argument that does not fit: the model is told where to look, and arms of `on_error` may decide about it
/// as about every misfit. [Receipts](crate::run::ToolEnvelope::known) and [requests for
/// approval](crate::run::ApprovalRequest::known) show where each value came from.
///
/// A value is looked for as follows.
///
/// - In JSON, such as the output of a tool: as a value, but not among the keys. Numbers are compared by their value,
///   texts without regard to case. Texts in the JSON are also searched as below.
/// - In a text: as a whole token, or as several with single spaces between them, without regard to case. `A-17` is in
///   "refund A-17, please" and not in "A-171". What stands apart is not joined: "Anna Bella" does not vouch for
///   `annabella`. Two things are one value although spaces are in it: an IBAN in groups of four whose check digits are
///   right, and a number in groups of three, as "4 200". Their parts are no values. Where such groups may also be several
///   numbers, neither counts.
/// - A number in a text is a whole number: no part of a date, a time, a range, an exponent or a version, and none with a
///   factor behind it, as in "5k".
///
/// The tool gets the value in the spelling of whoever gave it. If the model writes it in another way, such as in upper
/// case, it is replaced before the arguments are accepted: whoever approves the call sees the replacement, and the
/// receipt [tells](crate::run::ToolEnvelope::repairs) of it. Where reading is strict, such a value does not fit. A type
/// with spellings of its own, such as an enum, keeps them. If there are several spellings, the model has to write one of
/// them.
///
/// The type is for single values: ids, addresses, amounts. In the body of the tool it dereferences to its value.
///
/// # Limits
/// The type says who gave a value, not that the value is meant. A mail that a tool returns may name any account: a
/// value that is a part of a longer text is [marked](super::Origin::in_text), and whoever approves the call sees the
/// mark. A model may take the wrong one of several orders that the user named. Values that code within a tool gives to
/// a nested run count as the user's.
///
/// ```
/// # use agents_core as agents;
/// use agents::evidence::{Known, User};
///
/// // In a test of a tool's function: the test vouches for the value.
/// let order: Known<String, User> = Known::vouch("A-17".to_owned());
/// assert_eq!(order.len(), 4);
/// assert_eq!(order.into_inner(), "A-17");
/// ```
pub struct Known<T, S: Sources> {
    value: T,
    from: PhantomData<fn() -> S>,
}

impl<T, S: Sources> Known<T, S> {
    /// Creates a value that the caller vouches for, as in tests of a tool's function.
    pub fn vouch(value: T) -> Self {
        Known {
            value,
            from: PhantomData,
        }
    }

    /// Returns the value without the proof of its origin.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T, S: Sources> Deref for Known<T, S> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Clone, S: Sources> Clone for Known<T, S> {
    fn clone(&self) -> Self {
        Known::vouch(self.value.clone())
    }
}

impl<T: Copy, S: Sources> Copy for Known<T, S> {}

impl<T: fmt::Debug, S: Sources> fmt::Debug for Known<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: fmt::Display, S: Sources> fmt::Display for Known<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: PartialEq, S: Sources> PartialEq for Known<T, S> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq, S: Sources> Eq for Known<T, S> {}

impl<T: hash::Hash, S: Sources> hash::Hash for Known<T, S> {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl<T: Serialize, S: Sources> Serialize for Known<T, S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        self.value.serialize(serializer)
    }
}

/// Reads the value, and checks that it is known. Where the run does not read arguments or an answer, no value is known,
/// and reading fails.
impl<'de, T: DeserializeOwned, S: Sources> Deserialize<'de> for Known<T, S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Value::deserialize(deserializer)?;
        let value = T::deserialize(&written).map_err(D::Error::custom)?;
        let reading = Reading::now().ok_or_else(|| D::Error::custom(wording::NO_EVIDENCE))?;
        let given = reading.find(&written, S::USER, &tools::<S>());
        let given = given.map_err(D::Error::custom)?;
        // A type that has spellings of its own, as an enum has, may not know that of the evidence.
        let respelled = given
            .spelling()
            .map(|spelling| T::deserialize(Value::from(spelling)));
        let (value, given) = match respelled {
            Some(Ok(value)) => (value, given),
            Some(Err(_)) => (value, given.into_written()),
            None => (value, given),
        };
        reading.record(given);
        Ok(Known::vouch(value))
    }
}

impl<T: JsonSchema, S: Sources> JsonSchema for Known<T, S> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Known_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        schema.insert(
            marks::KNOWN.to_owned(),
            wording::sources(S::USER, &tools::<S>()).into(),
        );
        schema
    }
}
