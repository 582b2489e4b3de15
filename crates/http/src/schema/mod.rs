//! Dialects of JSON Schema: what a schema may contain so that a server takes it, as data.

mod circles;
mod fit;
mod inline;
#[cfg(test)]
mod tests;

use serde_json::Value;
use std::borrow::Cow;

/// Dialect of JSON Schema: what a schema may contain so that a server takes it. The clients share one function that applies it,
/// [`fit`](Self::fit).
///
/// There is a constant for each provider. A server that speaks a provider's protocol may take less than that provider:
///
/// ```
/// use agents_http::{Dialect, Keywords, References};
/// use serde_json::json;
///
/// // A server that knows neither references nor formats.
/// let dialect = Dialect {
///     keywords: Keywords::Without(&["format", "default"]),
///     references: References::Inlined,
///     ..Dialect::ANY
/// };
/// let schema = json!({
///     "type": "object",
///     "properties": { "to": { "$ref": "#/definitions/Person" } },
///     "definitions": { "Person": { "type": "string", "format": "email" } },
/// });
/// let expected = json!({ "type": "object", "properties": { "to": { "type": "string" } } });
/// assert_eq!(dialect.fit(&schema), Some(expected));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Keywords that the server knows.
    pub keywords: Keywords,
    /// Values of `format` that the server knows, or `None` if it takes all of them. A format that it does not know is
    /// left out.
    pub formats: Option<&'static [&'static str]>,
    /// Form of references (`$ref`) to definitions.
    pub references: References,
    /// Is `true` if a definition may refer to itself.
    pub recursion: bool,
    /// Objects that the server takes.
    pub objects: Objects,
    /// Is `true` if an array may lack `items`. The value matters only if `objects` is not [`Open`](Objects::Open).
    pub any_items: bool,
}

/// Keywords of JSON Schema that a server knows.
///
/// With `Without` and `Only`, a keyword that would be left out is first replaced by one that says the same and that the
/// server knows: `definitions` by `$defs`, `oneOf` by `anyOf`, `const` of a text or a number by `enum`, and an `allOf`
/// of one schema by that schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keywords {
    /// Takes all keywords.
    All,
    /// Takes all keywords but these, which are left out.
    Without(&'static [&'static str]),
    /// Takes these keywords. Others are left out.
    Only(&'static [&'static str]),
    /// Takes these keywords. A schema with others does not fit; only `$schema` is left out.
    Strictly(&'static [&'static str]),
}

/// Form of references (`$ref`) to definitions that a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum References {
    /// References stay as they are.
    Kept,
    /// References stay, without the keywords beside them.
    Alone,
    /// References are replaced by the schemas that they lead to. A reference stays, without the keywords beside it and
    /// with its definition, if the definition refers to itself, once the schema has more than 256 KiB, or once more
    /// than 50 references lie within each other. A reference to a definition that does not exist stays, too.
    ///
    /// Keywords beside a reference join those of the definition. Where both have a title, a description, a default or
    /// examples, that beside the reference stays.
    Inlined,
}

/// Objects that a server takes in a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objects {
    /// Takes all objects, and other values.
    Open,
    /// Takes objects whose fields all have a name, and says so with `"additionalProperties": false`. The whole value is
    /// such an object, and no schema in it permits every value.
    Closed,
    /// Like [`Closed`](Self::Closed), and all fields have to be required.
    Required,
}

impl Dialect {
    /// Dialect that permits everything: Ollama's, and that of tools on OpenAI and Anthropic.
    pub const ANY: Dialect = Dialect {
        keywords: Keywords::All,
        formats: None,
        references: References::Kept,
        recursion: true,
        objects: Objects::Open,
        any_items: true,
    };

    /// Dialect of OpenAI's strict answers.
    pub const OPENAI: Dialect = Dialect {
        keywords: Keywords::Strictly(&[
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "const",
            "anyOf",
            "$ref",
            "$defs",
            "definitions",
            "description",
            "title",
            "pattern",
            "minimum",
            "maximum",
            "minItems",
            "maxItems",
        ]),
        objects: Objects::Required,
        ..Dialect::ANY
    };

    /// Dialect of Anthropic's answers. Limits such as `minimum` are left out, since the server refuses them.
    pub const ANTHROPIC: Dialect = Dialect {
        keywords: Keywords::Only(&[
            "$defs",
            "definitions",
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "const",
            "anyOf",
            "$ref",
            "description",
            "title",
            "default",
            "format",
        ]),
        formats: Some(&[
            "date-time",
            "time",
            "date",
            "duration",
            "email",
            "hostname",
            "uri",
            "ipv4",
            "ipv6",
            "uuid",
        ]),
        references: References::Alone,
        recursion: false,
        objects: Objects::Closed,
        any_items: false,
    };

    /// Dialect of Gemini, for tools and answers.
    pub const GEMINI: Dialect = Dialect {
        keywords: Keywords::Only(&[
            "$ref",
            "$defs",
            "type",
            "format",
            "title",
            "description",
            "enum",
            "items",
            "prefixItems",
            "minItems",
            "maxItems",
            "minimum",
            "maximum",
            "anyOf",
            "oneOf",
            "properties",
            "additionalProperties",
            "required",
        ]),
        formats: Some(&[
            "date-time",
            "date",
            "time",
            "int32",
            "int64",
            "float",
            "double",
        ]),
        references: References::Alone,
        ..Dialect::ANY
    };

    /// Returns the schema in this dialect, or `None` if the dialect cannot say it. Whatever is left out is no loss of
    /// safety: agents check values against the whole schema.
    ///
    /// ```
    /// use agents_http::Dialect;
    /// use serde_json::json;
    ///
    /// let schema = json!({ "type": "object", "properties": { "age": { "type": "integer", "minimum": 0 } } });
    /// let closed = Dialect::ANTHROPIC.fit(&schema);
    /// assert_eq!(closed, Some(json!({
    ///     "type": "object", "properties": { "age": { "type": "integer" } }, "additionalProperties": false,
    /// })));
    /// // A strict schema has no optional fields.
    /// assert_eq!(Dialect::OPENAI.fit(&schema), None);
    /// ```
    pub fn fit(&self, schema: &Value) -> Option<Value> {
        let is_closed = self.objects != Objects::Open;
        if is_closed && schema.get("type").and_then(Value::as_str) != Some("object") {
            return None;
        }
        if !self.recursion && !circles::circles(schema).is_empty() {
            return None;
        }
        if *self == Dialect::ANY {
            return Some(schema.clone());
        }
        let mut fitted = match self.references {
            References::Inlined => inline::inlined(schema),
            References::Kept | References::Alone => schema.clone(),
        };
        self.fit_in_place(&mut fitted).then_some(fitted)
    }

    /// Returns the schema in this dialect, or as it is if the dialect cannot say it.
    pub fn fit_or_keep<'a>(&self, schema: &'a Value) -> Cow<'a, Value> {
        match *self == Dialect::ANY {
            true => Cow::Borrowed(schema),
            false => self.fit(schema).map_or(Cow::Borrowed(schema), Cow::Owned),
        }
    }

    /// Returns the declarations of tools, a JSON array in the form of Chat Completions, with the arguments of each tool
    /// in this dialect. A tool whose arguments the dialect cannot say stays as it is.
    ///
    /// ```
    /// use agents_http::{Dialect, Keywords};
    ///
    /// let dialect = Dialect { keywords: Keywords::Without(&["default"]), ..Dialect::ANY };
    /// let tools = r#"[{"function":{"name":"wait","parameters":{"default":{},"type":"object"}},"type":"function"}]"#;
    /// assert_eq!(dialect.fit_tools(tools), tools.replace(r#""default":{},"#, ""));
    /// ```
    pub fn fit_tools<'a>(&self, tools: &'a str) -> Cow<'a, str> {
        if *self == Dialect::ANY {
            return Cow::Borrowed(tools);
        }
        let Ok(mut declared) = serde_json::from_str::<Vec<Value>>(tools) else {
            return Cow::Borrowed(tools);
        };
        for tool in &mut declared {
            if let Some(parameters) = tool.pointer_mut("/function/parameters")
                && let Some(fitted) = self.fit(parameters)
            {
                *parameters = fitted;
            }
        }
        Cow::Owned(Value::Array(declared).to_string())
    }
}

/// Place of the schemas in the value of a keyword.
enum Place {
    /// Each value of an object is a schema.
    Values,
    /// Each item of an array is a schema.
    Items,
    /// The value is a schema, or an array of schemas.
    Itself,
    Nowhere,
}

fn place(key: &str) -> Place {
    match key {
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => {
            Place::Values
        }
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => Place::Items,
        "items"
        | "additionalItems"
        | "additionalProperties"
        | "contains"
        | "propertyNames"
        | "not"
        | "if"
        | "then"
        | "else" => Place::Itself,
        _ => Place::Nowhere,
    }
}

fn is_definitions(key: &str) -> bool {
    matches!(key, "$defs" | "definitions")
}

#[cfg(test)]
thread_local! {
    /// Number of times that a schema or a reference was looked at in this thread.
    static LOOKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts that a schema or a reference is looked at, for tests: the count grows as the schema does, not as its square.
fn look() {
    #[cfg(test)]
    LOOKS.with(|looks| looks.set(looks.get() + 1));
}
