use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};
use std::fmt;

/// JSON text that is known to be valid, kept as it was written: numbers of any size stay exact.
///
/// ```
/// use agents_core::Json;
///
/// let amount = Json::parse("9007199254740993").unwrap();
/// assert_eq!(amount.as_str(), "9007199254740993");
/// assert_eq!(amount.to::<u64>().unwrap(), 9007199254740993);
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Checks `text` and keeps it.
    ///
    /// # Errors
    /// When `text` is not one JSON value.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(Json)
    }

    /// The JSON of `value`.
    ///
    /// # Errors
    /// When `value` refuses to be serialised, or has a map whose keys are not strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Json)
    }

    /// `text` as a JSON string.
    pub fn string(text: &str) -> Self {
        // A string always serialises; `null` is what a reader of the impossible would see.
        Json::of(text).unwrap_or_else(|_| Json(RawValue::NULL.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Reads the text as a `T`.
    ///
    /// # Errors
    /// When the text does not fit `T`.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    /// The text as a tree; integers beyond 64 bits become floats there, which is why this is not
    /// how values are kept.
    pub fn to_value(&self) -> Value {
        self.to().unwrap_or(Value::Null)
    }

    /// The tool's answer as a model reads it: a string bare, anything else as JSON.
    pub(crate) fn to_text(&self) -> String {
        self.to::<String>()
            .unwrap_or_else(|_| self.as_str().to_owned())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}
