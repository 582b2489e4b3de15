use super::Raw;
use serde_json::Value;
use std::borrow::Cow;

/// Conversion into replacement text for [`fix`](super::fix), from a text, `Option<String>` or `Result<String, _>`.
/// `None` and `Err` stand for no text: the next step of the decision is taken.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not text that could replace the arguments",
    label = "expected `String`, `Option<String>` or `Result<String, _>`",
    note = "a repair agent is named: `fix(agent = JsonFixer)`"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait IntoText {
    /// Converts the value into the new text; `None` if the value holds no text.
    fn into_text(self) -> Option<String>;
}

impl IntoText for String {
    fn into_text(self) -> Option<String> {
        Some(self)
    }
}

impl IntoText for &str {
    fn into_text(self) -> Option<String> {
        Some(self.to_owned())
    }
}

impl IntoText for Cow<'_, str> {
    fn into_text(self) -> Option<String> {
        Some(self.into_owned())
    }
}

impl IntoText for &Raw<'_> {
    fn into_text(self) -> Option<String> {
        Some(self.as_str().to_owned())
    }
}

impl IntoText for Option<String> {
    fn into_text(self) -> Option<String> {
        self
    }
}

impl<E> IntoText for Result<String, E> {
    fn into_text(self) -> Option<String> {
        self.ok()
    }
}

/// Conversion into a replacement value for [`sanitize`](super::sanitize). `()` is JSON's `null`. `None` and `Err` stand
/// for no value: the next step of the decision is taken.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a value that could stand in the arguments",
    label = "expected a `serde_json::Value`, a number, a string or a bool, or an `Option` or `Result` of one",
    note = "all else is written as JSON: `serde_json::json!(..)`",
    note = "the value that an arm is handed is the one at fault: give what is to stand in its place"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait IntoValue {
    /// Converts the value into the new JSON value; `None` if there is no new value.
    fn into_value(self) -> Option<Value>;
}

/// Gives JSON's `null`, which is a value and replaces the one at fault.
#[diagnostic::do_not_recommend]
impl IntoValue for () {
    fn into_value(self) -> Option<Value> {
        Some(Value::Null)
    }
}

macro_rules! values {
    ($($type:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl IntoValue for $type {
            fn into_value(self) -> Option<Value> {
                Some(Value::from(self))
            }
        }
    )*};
}

values!(
    Value,
    String,
    &str,
    bool,
    i8,
    i16,
    i32,
    i64,
    isize,
    u8,
    u16,
    u32,
    u64,
    usize,
    f32,
    f64,
    serde_json::Number,
    serde_json::Map<String, Value>,
    Cow<'_, str>
);

#[diagnostic::do_not_recommend]
impl<T: Into<Value>> IntoValue for Vec<T> {
    fn into_value(self) -> Option<Value> {
        Some(Value::from(self))
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoValue> IntoValue for Option<T> {
    fn into_value(self) -> Option<Value> {
        self.and_then(IntoValue::into_value)
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoValue, E> IntoValue for Result<T, E> {
    fn into_value(self) -> Option<Value> {
        self.ok().and_then(IntoValue::into_value)
    }
}

/// Conversion into a text for a model or a person, such as a reason or a hint.
///
/// Implemented for all types that convert into a `String`; error types do not.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not text",
    label = "expected text here",
    note = "an error, and all else that can be displayed, is written out: `format!(\"{{e}}\")`"
)]
#[doc(hidden)] // Public because verbs name it, for the message of a wrong type.
pub trait IntoWords {
    /// Converts the value into the text of a reason or a hint.
    fn into_words(self) -> String;
}

#[diagnostic::do_not_recommend]
impl<T: Into<String>> IntoWords for T {
    fn into_words(self) -> String {
        self.into()
    }
}
