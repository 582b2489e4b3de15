//! Typed answer of an agent: the conversion of a model's final text into the agent's output.

use super::{scalar_answer, wording};
use crate::{
    context::Root,
    hex::id,
    json::canonical,
    reader::{self, Change, ChangeKind, Changes, Schema},
    shared::Shared,
    tool::{self, ReadError, constrained, schema_with_claims},
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{
    any::{Any, TypeId, type_name},
    fmt,
    sync::{Arc, LazyLock, OnceLock},
};

type ReadAnswer<O> = fn(&str, bool) -> Result<(O, Changes), ReadError>;

/// JSON Schema of the type of an agent's answer, compiled, with what else is known of the type.
struct AnswerSchema {
    schema: Value,
    compiled: Schema,
    /// Is `true` if the schema has rules that reading into the Rust type does not check, such as bounds.
    constrained: bool,
    /// Is `true` if the answer is a single value, such as a number.
    scalar: bool,
    /// Digest of the schema, by which a stored run notices that the type has changed.
    digest: Arc<str>,
    /// Names of the tools that an answer may claim calls of.
    claims: Arc<[String]>,
}

/// Way in which a model's final text becomes the agent's output of type `O`.
pub(crate) struct Answer<O> {
    schema: Option<Arc<AnswerSchema>>,
    read: ReadAnswer<O>,
}

impl<O: DeserializeOwned + JsonSchema + 'static> Answer<O> {
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
    /// Returns the schema that the model is told of; `None` if any text is an answer.
    pub(crate) fn schema(&self) -> Option<&Value> {
        self.schema.as_deref().map(|schema| &schema.schema)
    }

    /// Returns the identity of the answer's type: a digest of its schema, or `text` for plain text.
    pub(crate) fn digest(&self) -> Arc<str> {
        static TEXT: LazyLock<Arc<str>> = LazyLock::new(|| "text".into());
        match &self.schema {
            Some(schema) => schema.digest.clone(),
            None => TEXT.clone(),
        }
    }

    /// Returns the names of the tools that the answer may claim calls of.
    pub(crate) fn claims(&self) -> Arc<[String]> {
        let schema = self.schema.as_ref();
        schema.map_or_else(Arc::default, |schema| schema.claims.clone())
    }

    /// Returns the name of the answer's type, without modules.
    pub(crate) fn type_name(&self) -> String {
        tool::without_modules(type_name::<O>())
    }

    /// Returns the compiled schema; `None` if any text is an answer.
    pub(crate) fn compiled(&self) -> Option<&Schema> {
        self.schema.as_deref().map(|schema| &schema.compiled)
    }

    /// Reads a model's final text as the agent's output; the receipts of this run support the claims in it. `Err` says
    /// what is wrong with the text, in words for the model.
    pub(crate) fn read(
        &self,
        text: &str,
        strict: bool,
        root: &Shared<Root>,
    ) -> Result<(O, Changes), ReadError> {
        root.reading().read(|| (self.read)(text, strict)).0
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

/// Returns the text as the output, for an agent whose output is a `String`.
fn as_it_is<O: 'static>(text: &str, _: bool) -> Result<(O, Changes), ReadError> {
    let text: Box<dyn Any> = Box::new(text.to_owned());
    let text = text
        .downcast::<O>()
        .map_err(|_| ReadError::new("", wording::NOT_TEXT))?;
    Ok((*text, Changes::default()))
}

/// Reads the text into the agent's output: strictly first, and then, unless `strict`, as leniently as arguments are
/// read, led by the schema. A reading that is uncertain is refused, since the text may not have meant the value; a text
/// that broke off is read as far as it goes.
fn read_as<O: DeserializeOwned + JsonSchema + 'static>(
    text: &str,
    strict: bool,
) -> Result<(O, Changes), ReadError> {
    let known = schema_once::<O>();
    let (schema, compiled) = (&known.schema, &known.compiled);
    let parse = |text: &str| {
        let value =
            tool::read::<O>(text).map_err(|misfit| tool::of_the_field(misfit, schema, text))?;
        match known.constrained {
            true => compiled.fits(text).map(|()| value),
            false => Ok(value),
        }
    };
    let misfit = match parse(text) {
        Ok(value) => return Ok((value, Changes::default())),
        Err(misfit) => misfit,
    };
    if strict {
        let found = compiled.diagnose_strictly(text);
        return Err(tool::as_read(misfit, schema, &found, text));
    }
    let leniently = |text: &str| {
        // The position in the text would tell a model nothing.
        let reading = compiled
            .read(text)
            .map_err(|error| ReadError::new(error.path(), error.message()))?;
        match doubt(&reading.changes, text) {
            Some(change) => Err(ReadError::new(
                &*change.path,
                wording::uncertain(&change.note),
            )),
            None => parse(&reading.json).map(|value| (value, reading.changes)),
        }
    };
    match known.scalar {
        true => scalar(text, parse, leniently),
        false => leniently(text),
    }
}

/// Returns the change for which a reading is no answer: the text could have meant something else. Text that broke off
/// could have gone on, which the run says of the result. Arguments beside the name of a tool are a call, and no answer.
fn doubt<'c>(changes: &'c Changes, text: &str) -> Option<&'c Change> {
    let uncertain = |change: &&Change| change.uncertain && change.kind != ChangeKind::CutOff;
    let unwrapped = |change: &&Change| change.kind == ChangeKind::Unwrapped && is_call(text);
    let mut all = changes.iter();
    all.find(|change| uncertain(change) || unwrapped(change))
}

/// Returns `true` for a call that a model has written: an object with the name of a tool and an object of arguments.
fn is_call(text: &str) -> bool {
    const NAMES: [&str; 4] = ["name", "tool", "tool_name", "function"];
    const ARGUMENTS: [&str; 5] = ["arguments", "args", "parameters", "params", "input"];
    let Ok(reading) = reader::lenient(text) else {
        return false;
    };
    let object = serde_json::from_str::<Value>(&reading.json);
    object.is_ok_and(|object| {
        let has = |keys: &[&str], fits: fn(&Value) -> bool| {
            keys.iter().any(|key| object.get(key).is_some_and(fits))
        };
        has(&NAMES, Value::is_string) && has(&ARGUMENTS, Value::is_object)
    })
}

/// Reads a single value: as the whole text, out of its dressing, or in a last line that says that it is the answer.
fn scalar<O>(
    text: &str,
    parse: impl Fn(&str) -> Result<O, ReadError>,
    leniently: impl Fn(&str) -> Result<(O, Changes), ReadError>,
) -> Result<(O, Changes), ReadError> {
    let is_whole = |changes: &Changes| {
        let kinds = [
            ChangeKind::Located,
            ChangeKind::Unwrapped,
            ChangeKind::Nested,
        ];
        !kinds.into_iter().any(|kind| changes.any(kind))
    };
    for candidate in scalar_answer::candidates(text) {
        let read = parse(&candidate).map(|value| (value, Changes::default()));
        // A bare word is a text.
        let read = read.or_else(|_| {
            let text = Value::from(&*candidate).to_string();
            parse(&text).map(|value| (value, Changes::default()))
        });
        let read = read.or_else(|_| leniently(&candidate));
        if let Ok((value, mut changes)) = read
            && is_whole(&changes)
        {
            if candidate != text.trim() {
                let change = Change::new(ChangeKind::Located, "", wording::TAKEN_OUT);
                changes.0.insert(0, change);
            }
            return Ok((value, changes));
        }
    }
    let fault = match leniently(text) {
        Ok(_) => ReadError::new("", wording::VALUE_ALONE),
        Err(fault) => fault,
    };
    Err(fault)
}

/// Returns the schema of `T`, which is made once for each type.
fn schema_once<T: JsonSchema + 'static>() -> Arc<AnswerSchema> {
    use std::{collections::HashMap, sync::Mutex};
    static SCHEMAS: OnceLock<Mutex<HashMap<TypeId, Arc<AnswerSchema>>>> = OnceLock::new();
    let mut schemas = SCHEMAS
        .get_or_init(Mutex::default)
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    schemas
        .entry(TypeId::of::<T>())
        .or_insert_with(|| {
            let (schema, claims) = schema_with_claims::<T>();
            let written = schema.to_string();
            Arc::new(AnswerSchema {
                digest: id(&hmac_sha256::Hash::hash(canonical(&written).as_bytes())),
                compiled: Schema::new(&schema),
                constrained: constrained(&schema),
                scalar: scalar_answer::is_scalar(&schema),
                claims: claims.into(),
                schema,
            })
        })
        .clone()
}
