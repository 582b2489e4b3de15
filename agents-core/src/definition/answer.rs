//! Typed answer of an agent: the conversion of a model's final text into the agent's output.

use super::wording;
use crate::{
    context::Root,
    hex::id,
    json::canonical,
    reader::{Changes, Schema},
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
/// read, led by the schema.
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
    // The position in the text would tell a model nothing.
    let reading = compiled
        .read(text)
        .map_err(|error| ReadError::new(error.path(), error.message()))?;
    parse(&reading.json).map(|value| (value, reading.changes))
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
                claims: claims.into(),
                schema,
            })
        })
        .clone()
}
