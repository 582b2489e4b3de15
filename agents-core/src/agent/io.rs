//! The typed edges of an agent: what goes in becomes text for the model, what the model says
//! becomes what comes out.

use crate::{
    reader::{self, Repairs},
    tool::{Misfit, constrained, schema_of, without_position},
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    any::{Any, TypeId, type_name},
    fmt,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

/// What can go into an agent and come out of it: data that can be stored.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot go into an agent or come out of one",
    label = "not data that can be stored",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it, and own what it holds: a run that is put down has to be picked up again"
)]
pub trait Data: Serialize + DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> Data for T {}

/// What may be handed to [`Agent::run`](super::Agent::run) where a `T` is wanted: a `T`, and a
/// `&str` for a `String` or a `PathBuf`.
#[diagnostic::on_unimplemented(
    message = "an agent that takes `{T}` cannot be given `{Self}`",
    label = "this is `{Self}`, and the agent takes `{T}`",
    note = "give it a `{T}`; of itself only `&str` becomes a `String` or a `PathBuf`"
)]
pub trait IntoInput<T> {
    /// The input.
    fn into_input(self) -> T;
}

impl<T> IntoInput<T> for T {
    fn into_input(self) -> T {
        self
    }
}

#[diagnostic::do_not_recommend]
impl IntoInput<String> for &str {
    fn into_input(self) -> String {
        self.to_owned()
    }
}

#[diagnostic::do_not_recommend]
impl IntoInput<PathBuf> for &str {
    fn into_input(self) -> PathBuf {
        self.into()
    }
}

/// The input as the model's first user message: a string bare, anything else as JSON.
pub(crate) fn prompt_of<I: Data>(input: &I) -> String {
    match (input as &dyn Any).downcast_ref::<String>() {
        Some(text) => text.clone(),
        None => serde_json::to_string(input).unwrap_or_default(),
    }
}

type ReadAnswer<O> = fn(&str, bool) -> Result<(O, Repairs), Misfit>;

/// How a model's final text becomes an `O`.
pub(crate) struct Answer<O> {
    schema: Option<Arc<Value>>,
    read: ReadAnswer<O>,
}

impl<O: Data + JsonSchema> Answer<O> {
    pub(crate) fn new() -> Self {
        if TypeId::of::<O>() == TypeId::of::<String>() {
            return Answer {
                schema: None,
                read: as_it_is,
            };
        }
        Answer {
            schema: Some(schema_once::<O>()),
            read: read_as,
        }
    }
}

impl<O> Answer<O> {
    /// The schema the model is told of; `None` when any text will do.
    pub(crate) fn schema(&self) -> Option<&Value> {
        self.schema.as_deref()
    }

    /// Reads the final text; `Err` says what is wrong with it, for the model to read.
    pub(crate) fn read(&self, text: &str, strict: bool) -> Result<(O, Repairs), Misfit> {
        (self.read)(text, strict)
    }
}

impl<O> Clone for Answer<O> {
    fn clone(&self) -> Self {
        Answer {
            schema: self.schema.clone(),
            read: self.read,
        }
    }
}

impl<O> fmt::Debug for Answer<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answer<{}>", type_name::<O>())
    }
}

/// `String` takes whatever the model says.
fn as_it_is<O: Data>(text: &str, _: bool) -> Result<(O, Repairs), Misfit> {
    let text: Box<dyn Any> = Box::new(text.to_owned());
    let text = text
        .downcast::<O>()
        .map_err(|_| Misfit::new("", "the answer is not text"))?;
    Ok((*text, Repairs::default()))
}

/// Strictly first; then as leniently as arguments are read, led by the schema.
fn read_as<O: Data + JsonSchema>(text: &str, strict: bool) -> Result<(O, Repairs), Misfit> {
    let parse = |text: &str| {
        let value = parse::<O>(text)?;
        let schema = schema_once::<O>();
        match constrained(&schema) {
            true => reader::fits(text, &schema)
                .map(|()| value)
                .map_err(Misfit::from),
            false => Ok(value),
        }
    };
    let misfit = match parse(text) {
        Ok(value) => return Ok((value, Repairs::default())),
        Err(misfit) => misfit,
    };
    if strict {
        return Err(misfit);
    }
    let schema = schema_once::<O>();
    let reading = reader::read(text, &schema)?;
    parse(&reading.json).map(|value| (value, reading.repairs))
}

fn parse<O: Data>(text: &str) -> Result<O, Misfit> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = match error.path().to_string() {
            whole if whole == "." => String::new(),
            path => path,
        };
        Misfit::new(path, without_position(error.inner()))
    })?;
    json.end()
        .map_err(|error| Misfit::new("", error.to_string()))?;
    Ok(value)
}

/// The schema of `T`, made once for each type.
fn schema_once<T: JsonSchema + 'static>() -> Arc<Value> {
    use std::{collections::HashMap, sync::Mutex};
    static SCHEMAS: OnceLock<Mutex<HashMap<TypeId, Arc<Value>>>> = OnceLock::new();
    let mut schemas = SCHEMAS
        .get_or_init(Mutex::default)
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    schemas
        .entry(TypeId::of::<T>())
        .or_insert_with(|| Arc::new(schema_of::<T>()))
        .clone()
}
